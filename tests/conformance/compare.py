"""Puts what we make of a session beside what the reference makes of it.

Both sides are laid out in the shape of `oracle/describe.mjs`: entries in file order, all else by
their index. A difference names its aspect, so that `divergences.toml` can allow it by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from pi_sessions import _json, loads
from pi_sessions.context import llm, point, projection, replay, selection
from pi_sessions.context.prompt import replay_prompt
from pi_sessions.context.settings import settings_of
from pi_sessions.context.target import Target, target_of
from pi_sessions.errors import NotASessionError
from pi_sessions.session import Session
from pi_sessions.table import Kind, id_key

INVENTED = re.compile(r'"(#\d+|[0-9a-f]{8}|[0-9a-f-]{36})"')
"""Ids as the reference invents them, and as the vectors rename them."""
BOTH = ("text", "image")
TARGETS = {
    "chat": Target("openai-completions", "mockchat", "chat-1", BOTH),
    "chat-openai": Target("openai-completions", "openai", "gpt-x", ("text",)),
    "anthropic": Target("anthropic-messages", "mockanth", "anth-1", BOTH),
    "responses": Target("openai-responses", "mockresp", "resp-1", BOTH),
    "responses-openai": Target("openai-responses", "openai", "gpt-y", BOTH),
}


@dataclass(frozen=True)
class Difference:
    """One aspect in which the two sides differ."""

    aspect: str
    ours: str
    reference: str

    def __str__(self) -> str:
        return f"{self.aspect}:\n  ours      {self.ours[:600]}\n  reference {self.reference[:600]}"


class Comparison:
    """Collects the differences of one session."""

    def __init__(self, session: Session, reference: dict[str, Any]) -> None:
        self.session = session
        self.reference = reference
        self.table = session.table
        self.lines = [
            line
            for line in range(1, len(self.table) + 1)
            if self.table.counts(line) and self.table.kinds[line] < Kind.SECOND_HEADER
        ]
        self.index = {line: number for number, line in enumerate(self.lines)}
        self.found: list[Difference] = []
        self.compared = 0
        self.ids = self._rename()

    def _rename(self) -> dict[str, str]:
        """Our derived ids and the reference's invented ones, as the id of the same entry."""
        if self.table.stored_version >= 2:
            return {}
        theirs = [entry.get("id") for entry in self.reference.get("entries", [])]
        ours = [self.table.ids[line] for line in self.lines]
        return dict(zip(theirs, ours, strict=False))

    def renamed(self, text: str) -> str:
        if not self.ids:
            return text
        return INVENTED.sub(lambda m: f'"{self.ids.get(m[1], m[1])}"', text)

    def check(self, aspect: str, ours: Any, reference: Any) -> None:
        self.compared += 1
        left, right = _json.dumps(ours), self.renamed(_json.dumps(reference))
        if left != right:
            self.found.append(Difference(aspect, left, right))

    def run(self) -> list[Difference]:
        self._file()
        self._tree()
        for leaf in self.reference["leaves"]:
            self._leaf(leaf)
        for response in self.reference["responses"]:
            self._response(response)
        return self.found

    def _file(self) -> None:
        session, reference = self.session, self.reference
        self.check("sessionId", session.id, reference["sessionId"])
        self.check("header", session.header.raw, reference["header"])
        ours = [
            _json.loads(self.table.bytes(line))
            if self.table.kinds[line] == Kind.FOREIGN and self.table.stored_version >= 3
            else self.table.raw(line)
            for line in self.lines
        ]
        self.check("entries", ours, reference["entries"])
        self.check("leaf", self.table.ids[self.table.leaf], reference["leafId"])
        if not isinstance(reference["name"], dict):
            self.check("name", session.name, reference["name"])
        labels = {self.renamed(f'"{key}"')[1:-1]: v for key, v in reference["labels"].items()}
        known = {str(self.table.ids[line]) for line in self.lines}
        ours_labels = {key: text for key, text in session.labels.items() if key in known}
        self.check("labels", sorted(ours_labels.items()), sorted(labels.items()))

    def _tree(self) -> None:
        theirs = self.reference["tree"]
        if theirs is None or "error" in theirs:
            return
        tree = self.session.tree
        shadows = {self.index[line] for line in self.lines if line in self.table.shadowed}

        def own(numbers: list[int], parent: int | None) -> list[int]:
            """Leave out what the reference lists twice: the later entry at the earlier's place."""
            if not shadows:
                return numbers
            kept = []
            for number in dict.fromkeys(numbers):
                line = self.lines[number]
                at = self.table.parents[line]
                if (
                    number not in shadows
                    and (self.index[at] if at > 0 and at != line else None) == parent
                ):
                    kept.append(number)
            return kept

        ours_roots, roots = [self.index[r] for r in tree.roots], own(theirs["roots"], None)
        if shadows:  # the reference puts a doubled root where its first copy stood
            ours_roots, roots = sorted(ours_roots), sorted(roots)
        self.check("roots", ours_roots, roots)
        reachable = {line for line, _ in tree.walk()}
        ours = {
            str(self.index[line]): [self.index[child] for child in children]
            for line, children in tree.children_of.items()
            if line in reachable
        }
        reference = {key: own(value, int(key)) for key, value in theirs["children"].items()}
        reference = {key: value for key, value in reference.items() if value}
        self.check("children", sorted(ours.items()), sorted(reference.items()))

    def _leaf(self, reference: dict[str, Any]) -> None:
        if reference.get("cycle"):
            return
        if not reference["leaf"]:
            return  # to the reference an empty id is no id: it takes the last entry instead
        name = self.ids.get(reference["leaf"], reference["leaf"])
        line = self.table.lines_by_id[id_key(name)]
        where = point.at_leaf(self.table, line)
        error = reference.get("error")
        failed = error["stage"] if error else ""
        tag = f"leaf {self.index[line]}"
        self.check(f"{tag} branch", [self.index[n] for n in where.path], reference["branch"])
        if failed == "contextEntries":
            return
        chosen = selection.select(self.table, where.path)
        entries = [self.index[n] for n in chosen.entries]
        self.check(f"{tag} contextEntries", entries, reference["contextEntries"])
        if failed == "projection":
            return
        projected = projection.project(self.table, chosen, UTC)
        self._messages(f"{tag} messages", projected.messages, reference["messages"])
        sources = [number for number, messages in reference["projection"] for _ in messages]
        self.check(f"{tag} sources", [self.index[m.line or 0] for m in projected.messages], sources)
        settings = settings_of(self.table, where.path)
        self.check(f"{tag} model", settings.named_model, reference["model"])
        self.check(f"{tag} thinkingLevel", settings.thinking_level, reference["thinkingLevel"])
        if failed == "prompt":
            return
        prompt = reference["prompt"]
        theirs = None if prompt is None else self.reference["pool"][prompt]
        self.check(f"{tag} prompt", replay_prompt(projected.messages).message, theirs)
        converted = llm.convert(projected.messages)
        if failed == "llm":
            return
        self._messages(f"{tag} llm", converted.messages, reference["llm"])
        for target, numbers in reference.get("replay", {}).items():
            replayed = replay.replay(converted.messages, TARGETS[target])
            self._messages(f"{tag} replay {target}", replayed.messages, numbers)

    def _messages(self, aspect: str, ours: Any, numbers: list[int]) -> None:
        theirs = [self.reference["pool"][number] for number in numbers]
        self.check(aspect, [message.value for message in ours], theirs)

    def _response(self, reference: dict[str, Any]) -> None:
        if "replay" not in reference:
            return
        line = self.lines[reference["entry"]]
        parent = self.table.parents[line]
        where = point.at_leaf(self.table, max(parent, 0))
        chosen = selection.select(self.table, where.path)
        converted = llm.convert(projection.project(self.table, chosen, UTC).messages)
        target = target_of(self.table.raw(line)["message"])
        replayed = replay.replay(converted.messages, target)
        self._messages(
            f"response {reference['entry']} replay", replayed.messages, reference["replay"]
        )


def compare(data: bytes, reference: dict[str, Any]) -> tuple[list[Difference], int]:
    """Compare our reading of a file with the reference's; gives differences and the checks made."""
    try:
        session = loads(data)
    except NotASessionError as error:
        if reference["error"]:
            return [], 1
        return [Difference("error", error.why, "opened")], 1
    if reference["error"] or reference.get("invented"):
        return [Difference("error", "opened", str(reference["error"]))], 1
    comparison = Comparison(session, reference)
    return comparison.run(), comparison.compared
