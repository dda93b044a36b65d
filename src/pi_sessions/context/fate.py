"""What becomes of one entry in the requests of one model, whatever else is in them.

Whether a message of the conversation is told hangs on the message and the model alone: the stages
leave out failed replies and hidden shell runs, and an API what is empty in its form. So the answer
of a request with this one message holds for all requests. System messages are another matter: what
one says, later ones take back; they are judged as a chain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pi_sessions._javascript import trim, without_lone_surrogates
from pi_sessions.context import llm, projection, replay
from pi_sessions.context.glimpse import Message, glimpse
from pi_sessions.context.message import ContextMessage, Reason, Staged, Verdict
from pi_sessions.context.outcome import outcomes_of
from pi_sessions.context.passage import Passage, Where, strings
from pi_sessions.context.payload import Options, build
from pi_sessions.context.prompt import Prompt, replay_prompt
from pi_sessions.context.rules import CURRENT, Rules
from pi_sessions.errors import UnsupportedApiError
from pi_sessions.table import Kind, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import tzinfo

    from pi_sessions.context.model import Model
    from pi_sessions.context.target import Target

_FILLER = "."
_ALWAYS_TOLD = frozenset({Kind.TOOL_RESULT, Kind.COMPACTION, Kind.COMPACTION_SUMMARY_ROLE})
_GLIMPSED = frozenset({Kind.USER, Kind.ASSISTANT})


class Link(msgspec.Struct, frozen=True):
    """A system message of a chain, and what of the conversation stands between it and the last."""

    line: int
    speaker: int = 0
    """Line of a message that is left after the replay; 0 if there is none."""
    failed: int = 0
    """Line of a failed reply, where there is no speaker."""


class Fates:
    """Answers for the entries of one file, each found once.

    Args:
        table: the lines.
        zone: zone of times without one.
        model_of: gives the model, with its configuration, that a reply's names mean.
        options: what a request hangs on besides.
    """

    def __init__(
        self,
        table: Table,
        zone: tzinfo,
        model_of: Callable[[Target], Model],
        options: Options,
    ) -> None:
        self.table = table
        self.zone = zone
        self.model_of = model_of
        self.options = options
        self._plain: dict[int, Reason | bool | None] = {}
        self._fates: dict[tuple[int, int, Target], Reason | None] = {}
        self._chains: dict[tuple[tuple[Link, ...], Target], Mapping[int, Reason]] = {}

    def messages(self, line: int, edit: int = 0) -> Staged:
        """Give the LLM messages an entry adds, before the replay.

        Args:
            line: the entry.
            edit: the context edit that is in force for it, 0 for none.
        """
        told = projection.messages_of(self.table, line, self.zone)
        if edit:
            replacement = self.table.raw(edit).get("replacement", {})
            told = [projection.edited(message, edit, replacement) for message in told]
        return llm.convert(told, self.options.rules)

    def under(self, rules: Rules) -> Fates:
        """Give what answers by other rules."""
        options = msgspec.structs.replace(self.options, rules=rules)
        return Fates(self.table, self.zone, self.model_of, options)

    def plain(self, line: int) -> Reason | bool | None:
        """Say what becomes of an entry without any edit, where it hangs on no model.

        None: it is told; a reason: it is not; True: that hangs on the model.
        """
        if line not in self._plain:
            self._plain[line] = self._judge(line)
        return self._plain[line]

    def learn(self, known: Mapping[int, Reason | bool | None]) -> None:
        """Take over what `plain` says of some entries, where that was found on the way."""
        self._plain.update(known)

    def _judge(self, line: int) -> Reason | bool | None:
        kind = self.table.kinds[line]
        if kind in _ALWAYS_TOLD:
            return None
        if kind in _GLIMPSED:
            message = glimpse(self.table, line).message
            assert message is not None, "entries of this kind hold a message"
            if kind != Kind.ASSISTANT:
                return _judge_content(message)
            return judge_reply(message, self.options.rules)
        staged = self.messages(line)
        if staged.dropped:
            return staged.dropped[0].reason
        return True if staged.messages else Reason.EMPTY

    def reason(self, line: int, edit: int, target: Target) -> Reason | None:
        """Say why a request that has an entry in its context does not tell it; None if it does.

        Args:
            line: the entry, not a system message.
            edit: the context edit that is in force for it, 0 for none.
            target: the model that is asked.
        """
        if not edit and (plain := self.plain(line)) is not True:
            return plain if isinstance(plain, Reason) else None
        key = (line, edit, target)
        if key not in self._fates:
            self._fates[key] = self._ask(line, edit, target)
        return self._fates[key]

    def _ask(self, line: int, edit: int, target: Target) -> Reason | None:
        staged = self.messages(line, edit)
        if not staged.messages:
            return staged.dropped[0].reason if staged.dropped else Reason.EMPTY
        found = self._outcomes(staged.messages, target).get(line)
        return None if found is None else _unless_told(found)

    def is_left(self, line: int) -> bool | None:
        """Say whether an entry without an edit leaves a message after the replay.

        None: a failed reply, which is there before the replay only.
        """
        plain = self.plain(line)
        if plain is Reason.FAILED_REPLY:
            return None
        return not isinstance(plain, Reason)

    def chain(self, links: tuple[Link, ...], target: Target) -> Mapping[int, Reason]:
        """Say of each system message of a context why it is not told; told ones are left out."""
        key = (links, target)
        if key not in self._chains:
            outcomes = self._outcomes(self._linked(links), target)
            self._chains[key] = {
                line: reason for line, reason in outcomes.items() if _unless_told(reason)
            }
        return self._chains[key]

    def _linked(self, links: Sequence[Link]) -> list[ContextMessage]:
        """Give the system messages of a chain, with something said where something was said."""
        told: list[ContextMessage] = []
        for link in links:
            if link.speaker:
                told.append(_said("user", link.speaker))
            elif link.failed:
                told.append(_said("assistant", link.failed, stopReason="error"))
            system = projection.messages_of(self.table, link.line, self.zone)
            told += [message for message in system if message.role == "system"]
        return told

    def tells(self, links: Sequence[Link], target: Target, passage: Passage) -> bool:
        """Say whether a request tells a text of a system message.

        Args:
            links: the chain of the request's context.
            target: the model that is asked.
            passage: a text of a system message, or of a compaction's checkpoint.
        """
        messages = self._linked(links)
        try:
            payload = build(messages, self.model_of(target), self.options)
        except UnsupportedApiError:
            return _stands_in(replay_prompt(messages), passage)
        leading: dict[str, set[str]] = {}
        for pointer in payload.provenance:
            place, mark, name = pointer.partition("#")
            if mark:
                leading.setdefault(place, set()).add(name)
        for pointer, lines in payload.provenance.items():
            if passage.line not in lines:
                continue
            place, mark, name = pointer.partition("#")
            if mark:
                if passage.where is not Where.TOOL and name == passage.name:
                    return True
            elif any(pointer.startswith(p) and passage.name in leading[p] for p in leading):
                continue  # the leading prompt tells section by section which lines it is from
            elif any(passage.text in text for text in strings(payload.at(pointer))):
                return True
        return False

    def told_texts(self, line: int, target: Target) -> list[str]:
        """Give the texts of an entry that a later request has, thinking as its API takes it."""
        messages = self.messages(line).messages
        model = self.model_of(target)
        try:
            payload = build(messages, model, self.options)
        except UnsupportedApiError:
            replayed = replay.replay(messages, model.target, self.options.rules).messages
            return list(strings([message.value.get("content") for message in replayed]))
        pointers = [pointer for pointer, lines in payload.provenance.items() if line in lines]
        return list(strings([payload.at(pointer) for pointer in pointers]))

    def _outcomes(self, messages: Sequence[ContextMessage], target: Target) -> Mapping[int, Reason]:
        model = self.model_of(target)
        try:
            outcomes = build(messages, model, self.options).outcomes
        except UnsupportedApiError:
            replayed = replay.replay(messages, model.target, self.options.rules)
            outcomes = outcomes_of(replayed, replay_prompt(replayed.messages))
        return {line: outcome.leading for line, outcome in outcomes.items()}


def judge_reply(message: Message, rules: Rules = CURRENT) -> Reason | bool | None:
    """Say what becomes of a reply in later requests, as `Fates.plain` does."""
    if message.failed:
        if rules.drops_aborted if message.stopReason == "aborted" else rules.drops_failed:
            return Reason.FAILED_REPLY
        # What of it is told hangs on the API.
        return True
    return _judge_content(message, "toolCall")


def _judge_content(message: Message, telling: str = "") -> Literal[True] | None:
    """Say whether a content is told: it has a text that says something, or a block of a kind."""
    content = message.content
    if isinstance(content, str):
        return None if says(content) else True
    for block in content or ():
        kind = block.type
        if kind == telling or (kind == "text" and says(block.text)):
            return None
    return True


def _stands_in(prompt: Prompt, passage: Passage) -> bool:
    """Say whether a text is in the prompt that system messages add up to."""
    if passage.where is Where.SECTION:
        return prompt.section_lines.get(passage.name) == passage.line
    if passage.where is Where.TOOL:
        return prompt.tool_lines.get(passage.name) == passage.line
    return any(line == passage.line for _, line in prompt.content)


def says(text: Any) -> bool:
    """Say whether a text is told by every API: there is more to it than space and half signs."""
    if not isinstance(text, str):
        return False
    return text[:1].isalnum() or bool(trim(without_lone_surrogates(text)))


def _unless_told(reason: Reason) -> Reason | None:
    return reason if reason.verdict is Verdict.NOT_SENT else None


def _said(role: str, line: int, **more: Any) -> ContextMessage:
    content: Any = _FILLER if role == "user" else []
    return ContextMessage({"role": role, "content": content, "timestamp": 0, **more}, line)
