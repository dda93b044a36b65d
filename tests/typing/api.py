"""The public API as a program: checked by the type checker, never run."""

from __future__ import annotations

import pi_sessions
from pi_sessions import (
    Context,
    Entry,
    Explanation,
    Reason,
    Session,
    SessionChangedError,
    SessionWriter,
    Sightings,
    Span,
    Target,
    Verdict,
    Visibility,
)


def use(path: str) -> None:
    """Touch every public name in the way a caller would."""
    session: Session = pi_sessions.load(path)
    again: Session = pi_sessions.loads(b"", name="x", strict=True)
    entry: Entry | None = session.leaf
    if entry is not None:
        kind: str = entry.type
        parent: Entry | None = entry.parent
        line: int = entry.line
        print(kind, parent, line, entry.raw["type"], entry.value)
    context: Context = session.context(leaf="abc", stage="replay")
    for message, source in zip(context.messages, context.sources, strict=True):
        print(message["role"], source.line if source else None)
    explanation: Explanation = session.explain(
        response=session.responses[0], target=Target("openai-completions", "acme", "m-1", ("text",))
    )
    verdict: Verdict = explanation.verdict(1)
    reason: Reason = explanation.reason(1)
    lines: tuple[int, ...] = explanation.because(1)
    print(verdict, reason, lines, session.prompt().text, session.labels, session.name)
    for diagnostic in again.diagnostics:
        print(diagnostic.code, diagnostic.line, diagnostic.offset, diagnostic.message)
    visibility: Visibility = session.visibility()
    spans: list[Span] = visibility.spans(2)
    replies: list[int] = visibility.of(2)
    why_not: Reason | None = visibility.reason(replies[0], 2)
    sightings: Sightings = session.look_for("text", visibility=visibility)
    print(spans, why_not, sightings.matches[0].standing, sightings.replies())


def write(session: Session, folder: str) -> None:
    """Touch what writes."""
    writer: SessionWriter = SessionWriter.create(folder, "/work", session_id="a", durable=True)
    made: str = writer.append_message({"role": "user", "content": "x", "timestamp": 1})
    with writer.held(), writer.batch():
        several: list[str] = writer.append_messages([{"role": "user", "content": "x"}])
        writer.append_compaction("x", made, 10, details={"a": 1}, from_hook=True)
        writer.append_context_edit(made, {"content": "y"})
        writer.branch_with_summary(None, "x", usage={})
    leaf: str | None = writer.leaf
    try:
        writer.append_label(made, None)
    except SessionChangedError as error:
        print(error.path, error.why, several, leaf)
        writer.refresh()
    copies: list[SessionWriter] = [
        pi_sessions.fork(session, folder, cwd="/x", clock=lambda: 0),
        pi_sessions.fork_branch(session, None, made, random=bytes),
    ]
    for copy in copies:
        data: bytes = copy.data
        now: Session = copy.session
        print(data, now.leaf, copy.path)
        copy.close()
