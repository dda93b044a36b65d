"""The same operations by two writers, ours and the reference, leave the same bytes."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from conftest import REQUIRED
from pi_sessions import SessionError, SessionWriter, fork, fork_branch, load
from pi_sessions.writer.shapes import MISSING
from writer.conftest import NOW, ReferenceWriter, Refused, renamed, start_reference

EXAMPLES = int(os.environ.get("PI_SESSIONS_WRITER_EXAMPLES", "40"))
"""Scripts of operations in one run."""

texts = st.text(st.characters(exclude_categories=()), max_size=12) | st.sampled_from(
    ["", "1.50", "1e3", "a\r\n\nb ", "\u2028", "\ud83d", "é", '"1":2', "\ufeff x\u00a0"]
)
numbers = (
    st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([1.0, -0.0, 1e21, 1e-7, 0.1, 5e-324, 1.5e300])
)
keys = st.sampled_from(["a", "b", "10", "2", "01", "__proto__x", "é", "k1"])
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)
blocks = st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": texts})
    | st.fixed_dictionaries(
        {
            "type": st.just("toolCall"),
            "id": st.just("call-1"),
            "name": st.just("read"),
            "arguments": st.dictionaries(keys, values, max_size=3),
        }
    ),
    max_size=3,
)
names = st.sampled_from(["style", "rules", "7", "tree"])
tools = st.lists(
    st.fixed_dictionaries({"name": names, "description": texts, "parameters": values}), max_size=2
)
times = st.integers(0, 2_000_000_000_000)
messages = st.one_of(
    st.fixed_dictionaries({"role": st.just("user"), "content": texts | blocks, "timestamp": times}),
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": blocks, "usage": values, "timestamp": times}
    ),
    st.fixed_dictionaries(
        {"role": st.just("toolResult"), "toolCallId": texts, "content": blocks, "timestamp": times}
    ),
    st.fixed_dictionaries(
        {"role": st.just("system"), "content": texts, "timestamp": times},
        optional={
            "sections": st.dictionaries(names, texts | st.none(), max_size=3),
            "toolsAdded": tools,
            "toolsRemoved": st.lists(st.fixed_dictionaries({"name": names}), max_size=2),
        },
    ),
    st.fixed_dictionaries({"role": st.just("bashExecution"), "command": texts, "output": texts}),
    st.fixed_dictionaries({"role": st.just("custom"), "content": texts, "display": st.booleans()}),
    st.fixed_dictionaries({"role": st.just("weather"), "content": values}),
)
optional = st.just(MISSING) | values
hooks = st.none() | st.booleans()


def told(details: Any, usage: Any, hook: Any) -> Any:
    """Give what is told of a summary, without what is not."""
    keys = {"details": details, "usage": usage, "from_hook": MISSING if hook is None else hook}
    return {key: value for key, value in keys.items() if value is not MISSING}


class TwoWriters(RuleBasedStateMachine):
    """Does each operation twice."""

    reference: ReferenceWriter
    in_memory = False
    ids = Bundle("ids")

    @initialize()
    def begin(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="two-writers-"))
        self.folder = None if self.in_memory else self.home / "ours"
        theirs = None if self.in_memory else os.fspath(self.home / "theirs")
        self.named: dict[str, str] = {}
        self.reference("begin", folder=theirs, cwd="/work/orchard")
        clock = {"clock": lambda: NOW}
        if self.folder is None:
            self.ours = SessionWriter.in_memory("/work/orchard", **clock)
        else:
            self.ours = SessionWriter.create(self.folder, "/work/orchard", **clock)

    def teardown(self) -> None:
        if not hasattr(self, "home"):
            return
        self.compare()
        self.ours.close()
        shutil.rmtree(self.home)

    def compare(self) -> None:
        """Compare all files, or all lines in memory, and the leaves."""
        if self.folder is None:
            ours, theirs = [self.ours.data.decode()], [self.reference("lines")]
        else:
            files = self.reference("files")
            ours = self.in_order(
                {p.name: p.read_bytes().decode() for p in self.folder.glob("*.jsonl")}
            )
            theirs = self.in_order(files)
        assert renamed([self.in_their_words(text) for text in ours]) == renamed(theirs)

    def in_their_words(self, text: str) -> str:
        """Give a text of ours with the ids that the reference gave to the same entries."""
        return re.sub(r'"([0-9a-f]{8})"', lambda m: f'"{self.named.get(m[1], m[1])}"', text)

    def in_order(self, files: dict[str, str]) -> list[str]:
        """Give the texts in the order in which the files were made; check their names."""
        texts = []
        for name, text in files.items():
            session = re.fullmatch(r"2026-09-21T14-13-20-123Z_([0-9a-f-]{36})\.jsonl", name)
            assert session, name
            assert f'"id":"{session[1]}"' in text
            texts.append(re.sub(r'/(ours|theirs)/[^"]*', "/PATH", text))
        return sorted(texts, key=lambda text: (text.count('"parentSession"'), len(text), text))

    def both(self, ours: Any, op: str, **fields: Any) -> Any:
        """Do an operation twice and give our id, if it made an entry and nobody refused."""
        told = {key: value for key, value in fields.items() if value is not MISSING}
        for key in ("target", "kept"):
            if key in told:
                told[key] = self.named.get(told[key], told[key])
        refused = False
        try:
            theirs = self.reference(op, **told)
        except Refused:
            refused = True
        try:
            made = ours()
        except (SessionError, ValueError):
            assert refused, (op, fields)
            return multiple()
        assert not refused, (op, fields)
        if isinstance(made, str):
            self.named[made] = theirs
            return made
        return multiple()

    @invariant()
    def leaves_are_the_same(self) -> None:
        if hasattr(self, "ours"):
            leaf = self.ours.leaf
            assert self.reference("leaf") == self.named.get(leaf, leaf)

    @rule(target=ids, message=messages)
    def say(self, message: Any) -> Any:
        return self.both(lambda: self.ours.append_message(message), "message", message=message)

    @rule(target=ids, kind=texts, content=texts | blocks, display=st.booleans(), details=optional)
    def custom_message(self, kind: str, content: Any, display: bool, details: Any) -> Any:
        return self.both(
            lambda: self.ours.append_custom_message(
                kind, content, display=display, details=details
            ),
            "customMessage", kind=kind, content=content, display=display, details=details,
        )  # fmt: skip

    @rule(target=ids, kind=texts, data=optional)
    def custom(self, kind: str, data: Any) -> Any:
        return self.both(
            lambda: self.ours.append_custom(kind, data), "custom", kind=kind, data=data
        )

    @rule(target=ids, provider=texts, model=texts)
    def model(self, provider: str, model: str) -> Any:
        return self.both(
            lambda: self.ours.append_model_change(provider, model),
            "model", provider=provider, model=model,
        )  # fmt: skip

    @rule(target=ids, level=texts)
    def thinking(self, level: str) -> Any:
        return self.both(lambda: self.ours.append_thinking_level(level), "thinking", level=level)

    @rule(target=ids, kind=texts, usage=st.dictionaries(keys, values, max_size=3), note=texts)
    def usage(self, kind: str, usage: Any, note: str) -> Any:
        return self.both(
            lambda: self.ours.append_usage(kind, "birch", "birch-1", usage, note),
            "usage", kind=kind, provider="birch", model="birch-1", usage=usage, note=note,
        )  # fmt: skip

    @rule(target=ids, name=texts)
    def name(self, name: str) -> Any:
        return self.both(lambda: self.ours.append_name(name), "name", name=name)

    @rule(target=ids, entry=ids | st.just("nobody"), label=texts | st.none())
    def label(self, entry: str, label: str | None) -> Any:
        return self.both(
            lambda: self.ours.append_label(entry, label), "label", target=entry, label=label
        )

    @rule(
        target=ids,
        summary=texts,
        data=st.data(),
        tokens=st.integers(0, 10**6),
        details=optional,
        usage=optional,
        hook=hooks,
    )
    def compaction(
        self, summary: str, data: Any, tokens: int, details: Any, usage: Any, hook: Any
    ) -> Any:
        session = self.ours.session
        branch = [e.id for e in session.branch(self.ours.leaf)] if self.ours.leaf else []
        kept = data.draw(st.none() | st.sampled_from(branch)) if branch else None
        return self.both(
            lambda: self.ours.append_compaction(
                summary, kept, tokens, **told(details, usage, hook)
            ),
            "compaction", summary=summary, tokens=tokens, details=details, usage=usage,
            kept=MISSING if kept is None else kept, hook=MISSING if hook is None else hook,
        )  # fmt: skip

    @rule(
        target=ids,
        entry=ids | st.just("nobody"),
        replacement=st.none()
        | st.fixed_dictionaries({"content": texts | blocks})
        | st.sampled_from([{}, {"content": None}, {"content": "x", "more": 1.5}, "text"]),
    )
    def edit(self, entry: str, replacement: Any) -> Any:
        return self.both(
            lambda: self.ours.append_context_edit(entry, replacement),
            "edit", target=entry, replacement=replacement,
        )  # fmt: skip

    @rule(entry=ids | st.just("nobody"))
    def branch(self, entry: str) -> None:
        self.both(lambda: self.ours.branch_from(entry), "branch", target=entry)

    @rule()
    def reset(self) -> None:
        self.both(self.ours.reset_leaf, "reset")

    @rule(
        target=ids,
        entry=ids | st.none() | st.just("nobody"),
        summary=texts,
        details=optional,
        usage=optional,
        hook=hooks,
    )
    def summary(self, entry: Any, summary: str, details: Any, usage: Any, hook: Any) -> Any:
        return self.both(
            lambda: self.ours.branch_with_summary(entry, summary, **told(details, usage, hook)),
            "summary", target=entry, summary=summary, details=details, usage=usage,
            hook=MISSING if hook is None else hook,
        )  # fmt: skip

    @rule()
    def reopen(self) -> None:
        def again() -> None:
            assert self.ours.path is not None
            opened = SessionWriter.open(self.ours.path, clock=lambda: NOW)
            self.ours.close()
            self.ours = opened

        if not self.in_memory:
            self.both(again, "reopen")

    @rule(entry=ids | st.just("nobody"))
    def fork_branch(self, entry: str) -> None:
        def forked() -> None:
            if entry not in self.ours.session.table.lines_by_id:
                raise ValueError(entry)
            made = fork_branch(self.ours.session, self.folder, entry, clock=lambda: NOW)
            self.switch(made)

        self.both(forked, "fork", target=entry)

    @rule()
    def fork_all(self) -> None:
        def forked() -> None:
            assert self.ours.path is not None
            made = fork(load(self.ours.path), self.folder, cwd="/work/orchard", clock=lambda: NOW)
            self.switch(made)

        if not self.in_memory:
            self.both(forked, "forkAll")

    def switch(self, made: SessionWriter) -> None:
        """Go on with another session; labels that were attached anew have new ids on both sides."""
        self.ours.close()
        self.ours = made
        if made.leaf and made.leaf not in self.named:
            self.named[made.leaf] = self.reference("leaf")


class InMemory(TwoWriters):
    """The same without files."""

    in_memory = True


@pytest.mark.parametrize("machine", [TwoWriters, InMemory])
def test_two_writers_write_the_same(machine: type[TwoWriters]) -> None:
    """Whatever is appended, branched, labelled, compacted, edited and forked."""
    machine.reference = start_reference()
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=25,
                report_multiple_bugs=False,
                deadline=None,
                derandomize=REQUIRED,
                suppress_health_check=settings.default.suppress_health_check,
            ),
        )
    finally:
        machine.reference.close()
