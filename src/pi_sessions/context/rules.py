"""The rules that ever changed between releases, as one value; no stage asks for a release number.

What each release had is told by one table, `rules.toml`; the defaults here are those of the newest
release, so that reading a session of today opens no table.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import msgspec

from pi_sessions.context import releases


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """One field for each rule that ever changed; the defaults are those of release 1.6.0."""

    release: str = "1.6.0"
    foreign_thinking: Literal["tagged", "text", "dropped"] = "dropped"
    """What becomes of thinking of another model."""
    model_id_counts: bool = True
    """Whether only the very same model is the same; before, provider and API decided."""
    drops_aborted: bool = True
    """Whether aborted replies are left out."""
    drops_failed: bool = True
    """Whether failed replies are left out."""
    answers_failed_calls: bool = False
    """Whether calls of a failed reply that is sent get stand-in results."""
    unanswered: Literal["removed", "stand-in"] = "stand-in"
    """What becomes of a call without a result."""
    unsigned_thinking: Literal["signed", "tagged", "text"] = "text"
    """What Anthropic gets of thinking without a signature."""
    keeps_empty_signed_thinking: bool = True
    """Whether Anthropic gets signed thinking back that has no text."""
    image_placeholders: bool = True
    """Whether a text stands for pictures the model does not take; before, they were left out."""
    attachments_again: bool = False
    """Whether pictures of a user's attachments are sent beside the same ones in the content."""
    empty_result: str = "(no tool output)"
    """What a result without text and pictures is told as, in chat and Responses bodies."""
    keeps_all_without_boundary: bool = False
    """Whether a compaction that names no first kept entry keeps all before it."""
    drops_cut_replies: bool = False
    """Whether a reply cut at the output limit and asked for again is left out without a trace."""
    strict_by_default: bool = False
    """Whether chat hosts that are not known get strict tool schemas."""
    records_prompt: bool = True
    """Whether the prompt and the tools are in the file."""
    chat_call_ids: Literal["kept", "call", "joined"] = "joined"
    """How chat takes ids of another API's calls."""
    anthropic_call_ids: Literal["replaced", "removed", "cut"] = "cut"
    """How Anthropic takes ids of another model's calls."""
    responses_call_ids: Literal["kept", "dropped", "whole"] = "whole"
    """How Responses takes ids of another model's calls."""
    message_ids: Literal["random", "numbered", "own"] = "own"
    """What the ids of texts without one are like in a Responses body."""
    responses_images_in_result: bool = True
    """Whether pictures of Responses results are in the result; before, a user message had them."""
    chat_images_after_each_result: bool = False
    """Whether pictures of chat results follow their own result; later they follow the run."""
    chat_replies_as_blocks: bool = False
    """Whether the texts of a reply stay blocks in a chat body; later they are joined."""
    summary_as_text: bool = False
    """Whether the summary of a compaction is a text and no block."""
    developer_by_default: bool = False
    """Whether chat hosts that are not known get the prompt of a reasoning model as developer."""

    tells_thinking_off: bool = True
    """Whether Anthropic and Responses are told that there is to be no thinking."""
    tells_thinking_display: bool = True
    """Whether Anthropic is told to sum up its thinking."""
    budgets_within_limit: bool = True
    """Whether the tokens for thinking leave room in the output limit (Anthropic)."""
    tells_output_limit: bool = True
    """Whether chat and Responses are told the output limit."""
    responses_store: bool = True
    """Whether Responses is told not to store."""
    responses_cache_key: bool = True
    """Whether Responses gets the key of the prompt cache."""

    loads_named_session: bool = True
    """Whether a session named on the command line was loaded before it was continued."""
    forks_have_their_turns: bool = True
    """Whether what is said after a fork is written into the new file."""
    counts_attempts: bool = True
    """Whether each attempt at a request has an entry; before, provider libraries tried unseen."""
    level_in_header: bool = False
    """Whether the header tells the thinking level until it is changed."""

    @staticmethod
    def of(release: str) -> Rules:
        """Give the rules of a release, such as "0.49.3".

        Raises:
            UnknownReleaseError: there is no such release in the table of releases.
        """
        return _rules_of(releases.place(release))

    @property
    def told(self) -> Rules:
        """The same rules as far as they decide what is told at all; the rest is as today."""
        return _told(self)

    @property
    def goes_on(self) -> bool:
        """Whether what was told of a message holds whatever comes behind it."""
        return (
            self.unanswered == "stand-in"
            and not self.attachments_again
            and not self.drops_cut_replies
        )


CURRENT = Rules()
_DECIDING = (
    "foreign_thinking",
    "model_id_counts",
    "drops_aborted",
    "drops_failed",
    "unsigned_thinking",
    "keeps_empty_signed_thinking",
    "image_placeholders",
    "attachments_again",
    "keeps_all_without_boundary",
    "drops_cut_replies",
    "chat_images_after_each_result",
    "responses_images_in_result",
)


@cache
def _told(rules: Rules) -> Rules:
    values = {name: getattr(rules, name) for name in _DECIDING}
    return CURRENT if rules == CURRENT else msgspec.structs.replace(CURRENT, **values)


class Change(msgspec.Struct, frozen=True):
    """A rule that one release changed."""

    rule: str
    """Field of `Rules`."""
    what: str
    kind: str
    """`saw`, `ids`, `form` or `param`."""
    release: str
    """The first release that does it the new way, as far as that is known."""
    after: str
    """The last release that is known to do it the old way."""
    old: tuple[Any, str]
    """Value, and how it is told."""
    new: tuple[Any, str]
    seen: str
    """How it is known."""


@cache
def changes() -> tuple[Change, ...]:
    """Give the table: every change of every rule, in the order of the fields."""
    import tomllib  # noqa: PLC0415 - start-up
    from pathlib import Path  # noqa: PLC0415

    text = Path(__file__).with_name("rules.toml").read_text("utf-8")
    found: list[Change] = []
    for rule in tomllib.loads(text)["rule"]:
        old = (rule["first"][0], rule["first"][1])
        for change in rule["change"]:
            new = (change["value"], change["told"])
            release = change["release"]
            after = change.get("after") or releases.before(release)
            names = (rule["name"], rule["what"], rule["class"], release, after)
            found.append(Change(*names, old, new, change["seen"]))
            old = new
    return tuple(found)


@cache
def _rules_of(place: int) -> Rules:
    if place == len(releases.names()) - 1:
        return CURRENT
    values: dict[str, Any] = {}
    for change in changes():
        is_new = releases.version(releases.names()[place]) >= releases.version(change.release)
        if is_new or change.rule not in values:
            values[change.rule] = (change.new if is_new else change.old)[0]
    return Rules(release=releases.names()[place], **values)


def telling(rule: str, value: object) -> str:
    """Say in words what a value of a rule means."""
    told = (
        side for change in changes() if change.rule == rule for side in (change.new, change.old)
    )
    return next(words for known, words in told if known == value)


def possible(rule: str, oldest: str, newest: str) -> set[object]:
    """Give the values a rule may have had within a range of releases, both ends included."""
    within = {side[0] for c in between(oldest, newest) if c.rule == rule for side in (c.old, c.new)}
    return within | {getattr(Rules.of(oldest), rule)}


def between(lowest: str, highest: str) -> tuple[Change, ...]:
    """Give the changes that may lie within a range of releases, both ends included.

    A change whose release is only known to lie between two others counts if any of them is in it.
    """
    low, high = releases.version(lowest), releases.version(highest)
    return tuple(
        change
        for change in changes()
        if releases.version(change.release) > low and releases.version(change.after) < high
    )
