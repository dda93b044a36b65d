"""Which sessions of a store were made from which: their headers name the file of the parent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from pi_sessions.store import Found

if TYPE_CHECKING:
    from collections.abc import Iterable


class Kin:
    """The sessions of a store by the file they were forked from; who moves one tells it here."""

    def __init__(self, sessions: Iterable[Found]) -> None:
        self._children: dict[str, list[Found]] = {}
        self._parents: dict[str, str] = {}
        for found in sessions:
            parent = found.header.get("parentSession", found.header.get("branchedFrom"))
            if isinstance(parent, str):
                real = _real(parent)
                self._children.setdefault(real, []).append(found)
                self._parents[os.fspath(found.path)] = real

    def children(self, path: str) -> list[Found]:
        """Give the sessions that were forked from a file, in the order of the store."""
        return list(self._children.get(_real(path), ()))

    def moved(self, old: str, new: str) -> None:
        """Take note that a session has another file, and that its children know it."""
        if old == new:
            return
        children = self._children.pop(_real(old), None)
        if children:
            self._children[_real(new)] = children
            for child in children:
                self._parents[os.fspath(child.path)] = _real(new)
        parent = self._parents.pop(old, None)
        if parent is not None:
            self._parents[new] = parent
            mine = self._children[parent]
            mine[:] = [
                Found(Path(new), each.header) if os.fspath(each.path) == old else each
                for each in mine
            ]


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a name no file has
        return path
