"""The rules that ever changed between releases, as one value; no stage asks for a release number.

Only the rules of release 1.6.0 are here yet; older profiles will be read from one table.
"""

from __future__ import annotations

import msgspec


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """One field for each rule that ever changed; the defaults are those of release 1.6.0."""

    release: str = "1.6.0"


CURRENT = Rules()
