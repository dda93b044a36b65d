"""The rules that ever changed between releases, as one value; no stage asks for a release number.

Only the rules of release 1.6.0 are here yet; older profiles will be read from one table.
"""

from __future__ import annotations

import msgspec


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """One field for each rule that ever changed; the defaults are those of release 1.6.0."""

    release: str = "1.6.0"
    empty_result: str = "(no tool output)"
    """What a result without text and pictures is told as, in chat and responses bodies."""
    chat_replies_as_blocks: bool = False
    """Whether the texts of a reply stay blocks in a chat body; later they are joined."""
    chat_images_after_each_result: bool = False
    """Whether pictures of chat results follow their own result; later they follow the run."""
    responses_images_in_result: bool = True
    """Whether pictures of responses results are in the result; before, a user message had them."""
    keeps_empty_signed_thinking: bool = True
    """Whether Anthropic gets signed thinking back that has no text."""
    own_message_ids: bool = True
    """Whether texts without an id are `msg_pi_N` in a responses body; before, `msg_N`."""


CURRENT = Rules()
