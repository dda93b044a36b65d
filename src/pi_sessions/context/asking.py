"""The stages put together at one point of one file: messages, request, verdicts, weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from pi_sessions.context import llm, projection, replay, selection
from pi_sessions.context.message import Staged
from pi_sessions.context.prompt import replay_prompt
from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.context.settings import current_target, has_level, settings_of
from pi_sessions.context.target import Target, target_of
from pi_sessions.errors import UnsupportedApiError
from pi_sessions.table import Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from pi_sessions.context.difference import Asked
    from pi_sessions.context.explain import Explanation, Placing
    from pi_sessions.context.explain import Unknown as UnknownVerdict
    from pi_sessions.context.model import Model
    from pi_sessions.context.models import Preferences
    from pi_sessions.context.payload import Options, Payload, Unknown
    from pi_sessions.context.payload.draft import Retention
    from pi_sessions.context.payload.telling import Course
    from pi_sessions.context.point import Point
    from pi_sessions.context.tokens import Weight


def assumed(target: Target) -> Model:
    """Give a model of which only the target is known: the rest are defaults."""
    from pi_sessions.context.model import Model  # noqa: PLC0415 - start-up

    return Model(api=target.api, provider=target.provider, id=target.model, input=target.input)


class Weighed(msgspec.Struct, frozen=True):
    """What the blocks of a request weigh, in tokens."""

    weights: tuple[Weight, ...]
    """Its blocks, the prompt first."""
    estimated: float
    """Pi's own estimate, which starts from what the last reply reported."""
    reported: float | None
    """What the provider reported for the reply: input, cache read and cache written."""
    ids: Sequence[Any]
    """Id of each line."""

    @property
    def counted(self) -> int:
        """All blocks together."""
        return round(sum(weight.tokens for weight in self.weights))


class Asking:
    """What was asked at the points of one file.

    Args:
        table: the lines.
        zone: zone of times without one.
        session_id: the header's id.
    """

    def __init__(self, table: Table, zone: tzinfo, session_id: str) -> None:
        self.table = table
        self.zone = zone
        self.session_id = session_id
        self._before: tuple[tuple[int, ...], Rules, Staged] = ((), CURRENT, Staged(()))
        """Context entries and LLM messages of the point before; none if an edit is among them."""
        self._last_placed: tuple[tuple[int, int, tuple[int, ...]], Placing] | None = None

    def target(self, where: Point) -> Target:
        """Give the model of a point: that of the response, or the current one of a leaf."""
        if where.response:
            return target_of(self.table.raw(where.response)["message"])
        return current_target(self.table, where.path)

    def level(self, where: Point) -> str:
        """Give the level a request was asked with: the reply's own, else that of the path."""
        level = None
        if where.response:
            level = self.table.raw(where.response)["message"].get("thinkingLevel")
        if not isinstance(level, str):
            level = settings_of(self.table, where.path).thinking_level
            if where.rules.level_in_header and not has_level(self.table, where.path):
                level = self.table.header.get("thinkingLevel")
        return level if isinstance(level, str) else "off"

    def has_level(self, where: Point) -> bool:
        """Say whether the file names the thinking level a reply was asked with."""
        if where.response and "thinkingLevel" in self.table.raw(where.response)["message"]:
            return True
        if where.rules.level_in_header and "thinkingLevel" in self.table.header:
            return True
        return has_level(self.table, where.path)

    def chosen(self, where: Point) -> selection.Selection:
        """Give the context entries of a point."""
        return selection.select(self.table, where.path, where.rules)

    def staged(
        self,
        chosen: selection.Selection,
        stage: str,
        target: Target | None = None,
        rules: Rules = CURRENT,
    ) -> Staged:
        """Give the messages of context entries at a stage; the replay needs its target."""
        projected = projection.project(self.table, chosen, self.zone, rules)
        if stage == "projection":
            return projected
        converted = llm.convert(projected.messages, rules)
        dropped = projected.dropped + converted.dropped
        if target is None:
            return Staged(converted.messages, dropped)
        replayed = replay.replay(converted.messages, target, rules)
        return Staged(replayed.messages, dropped + replayed.dropped, replayed.synthetic)

    def messages(self, where: Point) -> Staged:
        """Give the LLM messages of a point.

        Replies of one branch are mostly asked for one after the other, and the context of one goes
        on where that of the last ended: then only what is new goes through the stages.
        """
        chosen, rules = self.chosen(where), where.rules
        before, known_by, known = self._before
        new = chosen.entries[len(before) :]
        # By some rules of old an entry hangs on what comes behind it.
        is_more = bool(before) and rules == known_by and rules.goes_on
        is_more = is_more and chosen.entries[: len(before)] == before
        if is_more and not any(self.table.kinds[line] == Kind.CONTEXT_EDIT for line in new):
            more = self.staged(msgspec.structs.replace(chosen, entries=new), "llm", rules=rules)
            found = Staged(known.messages + more.messages, known.dropped + more.dropped)
        else:
            found = self.staged(chosen, "llm", rules=rules)
        # An edit may be of what is still to come.
        has_edits = any(self.table.kinds[line] == Kind.CONTEXT_EDIT for line in chosen.entries)
        self._before = (() if has_edits else chosen.entries, rules, found)
        return found

    def options(
        self,
        level: str,
        preferences: Preferences | None,
        retention: Retention | None = None,
        rules: Rules = CURRENT,
    ) -> Options:
        """Put together what a request hangs on besides; what is None there is not known."""
        from pi_sessions.context.payload import Options  # noqa: PLC0415 - start-up

        return Options(
            thinking_level=level,
            thinking_budgets=preferences.thinking_budgets if preferences else None,
            block_images=preferences.block_images if preferences else None,
            codemode_only=preferences.codemode_only if preferences else None,
            cache_retention=retention,
            session_id=self.session_id,
            rules=rules,
        )

    def payload(
        self,
        where: Point,
        staged: Staged,
        model: Model,
        preferences: Preferences | None,
        retention: Retention | None = None,
        course: Course | None = None,
    ) -> Payload:
        """Build the request of a point from its LLM messages, on from a `course` if there is one.

        Raises:
            UnsupportedApiError: bodies of the model's API are not built here.
        """
        from pi_sessions.context.payload import build  # noqa: PLC0415 - start-up

        options = self.options(self.level(where), preferences, retention, where.rules)
        built = build(staged.messages, model, options, course)
        if where.writer is None:
            return built
        return built.doubted(lambda built: self._doubts(where, staged, model, options, built))

    def _doubts(
        self, where: Point, staged: Staged, model: Model, options: Options, built: Payload
    ) -> Iterator[Unknown]:
        """Tell where a request would differ under rules that may have been in force as well."""
        from pi_sessions.context import doubt  # noqa: PLC0415 - start-up
        from pi_sessions.context.payload import Unknown, build  # noqa: PLC0415

        messages, target = staged.messages, model.target
        has_level = self.has_level(where)
        yield from doubt.unrecorded(built.body, messages, where.rules, has_level=has_level)
        if where.writer is None:
            return
        for other in doubt.alternatives(where.writer, where.rules, messages, target):
            point = msgspec.structs.replace(where, rules=other.rules)
            told = self.staged(self.chosen(point), "llm", rules=other.rules).messages
            varied = msgspec.structs.replace(options, rules=other.rules)
            if places := doubt.differing(built.body, build(told, model, varied).body):
                why = f"{other.why}; would differ: {doubt.listed(places)}"
                yield Unknown(doubt.common(places), why)

    def explanation(
        self,
        where: Point,
        stage: str,
        goal: Target | Model | None,
        preferences: Preferences | None,
    ) -> Explanation:
        """Give every line its verdict at a point; `stage` is `projection` or `replay`."""
        explained = self._explained(where, stage, goal, preferences)
        doubts = tuple(self._open_verdicts(explained, stage, goal, preferences))
        return explained.completed(explained.synthetic, explained.unknown + doubts)

    def _open_verdicts(
        self,
        explained: Explanation,
        stage: str,
        goal: Target | Model | None,
        preferences: Preferences | None,
    ) -> Iterator[UnknownVerdict]:
        """Tell which verdicts hang on rules that may have been in force as well."""
        where = explained.point
        if where.writer is None:
            return
        from pi_sessions.context import doubt  # noqa: PLC0415 - start-up
        from pi_sessions.context.explain import Unknown  # noqa: PLC0415

        messages = self.staged(self.chosen(where), "llm", rules=where.rules).messages
        named = self.target(where) if goal is None else goal
        target = named if isinstance(named, Target) else named.target
        if not where.rules.records_prompt and all(told.role != "system" for told in messages):
            yield Unknown("prompt", doubt.PROMPT)
        for other in doubt.alternatives(where.writer, where.rules, messages, target):
            point = msgspec.structs.replace(where, rules=other.rules)
            varied = self._explained(point, stage, goal, preferences).reasons
            places = [n for n, reason in enumerate(explained.reasons) if varied[n] != reason]
            if places:
                yield Unknown(f"line {doubt.listed(places)}", other.why)

    def _explained(
        self,
        where: Point,
        stage: str,
        goal: Target | Model | None,
        preferences: Preferences | None,
    ) -> Explanation:
        from pi_sessions.context import explain, outcome  # noqa: PLC0415 - start-up

        chosen = self.chosen(where)
        if stage == "projection":
            staged = self.staged(chosen, stage, rules=where.rules)
            outcomes = outcome.projected_outcomes(staged.messages)
            return explain.explain(self.table, where, chosen, staged.dropped, outcomes)
        staged = self.staged(chosen, "llm", rules=where.rules)
        named = self.target(where) if goal is None else goal
        model = assumed(named) if isinstance(named, Target) else named
        unknown = explain.undecided(staged, model, assumed=goal is None)
        try:
            request = self.payload(where, staged, model, preferences)
        except UnsupportedApiError:
            replayed = replay.replay(staged.messages, model.target, where.rules)
            outcomes = outcome.outcomes_of(replayed, replay_prompt(replayed.messages))
            synthetic = replayed.synthetic
        else:
            outcomes, synthetic = request.outcomes, request.synthetic
        placed = self._placed(where)
        explained = explain.explain(self.table, where, chosen, staged.dropped, outcomes, placed)
        return explained.completed(synthetic, unknown)

    def _placed(self, where: Point) -> Placing:
        """Give what is not on the path, which is the same by all rules; the last is kept."""
        from pi_sessions.context import explain  # noqa: PLC0415 - start-up

        key = len(self.table), where.leaf, where.path
        if self._last_placed is None or self._last_placed[0] != key:
            self._last_placed = key, explain.Placing.of(self.table, where)
        return self._last_placed[1]

    def asked(self, where: Point, model: Model, preferences: Preferences | None) -> Asked:
        """Rebuild all there is about the request of a point, to compare it with another one.

        Raises:
            UnsupportedApiError: bodies of the model's API are not built here.
        """
        from pi_sessions.context.difference import Asked  # noqa: PLC0415 - start-up

        with self.table.remembering():
            staged = self.messages(where)
            request = self.payload(where, staged, model, preferences)
            return Asked(
                self.explanation(where, "replay", model, preferences),
                replay.replay(staged.messages, model.target, where.rules).messages,
                replay_prompt(staged.messages),
                request.estimated_tokens,
                request.synthetic,
            )

    def weighed(self, where: Point, target: Target) -> Weighed:
        """Weigh the blocks of the request at a point."""
        from pi_sessions.context.payload.limits import estimate_context  # noqa: PLC0415 - start-up
        from pi_sessions.context.remarks import reported_tokens  # noqa: PLC0415 - start-up
        from pi_sessions.context.tokens import weigh  # noqa: PLC0415 - start-up

        staged = self.messages(where)
        told = replay.replay(staged.messages, target, where.rules).messages
        return Weighed(
            tuple(weigh(self.table, told, replay_prompt(told))),
            estimate_context(staged.messages),
            reported_tokens(self.table, where.response),
            self.table.ids,
        )
