"""Everything a session holds as one JSON document, each line with its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions import _json, tree
from pi_sessions.export.options import explanation_of
from pi_sessions.table import id_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_sessions.context.explain import Explanation
    from pi_sessions.export.options import Options
    from pi_sessions.session import Session


def chunks(session: Session, options: Options) -> Iterator[bytes]:
    """Give the document: what holds for the session, then a row for each line, then the rest."""
    explanation = explanation_of(session, options)
    point = explanation.point
    ids = session.table.ids
    head = {
        "header": session.table.header,
        "name": session.name,
        "leaf": ids[point.leaf] if point.leaf else None,
        "response": ids[point.response] if point.response else None,
        "counts": {str(verdict): count for verdict, count in explanation.counts.items()},
    }
    yield _json.encode(head)[:-1] + b',"lines":['
    comma = b"\n"
    for row in _rows(session, options, explanation):
        yield comma + _json.encode(row)
        comma = b",\n"
    yield b"\n]," + _json.encode(_tail(session, explanation))[1:] + b"\n"


def _rows(session: Session, options: Options, explanation: Explanation) -> Iterator[dict[str, Any]]:
    table = session.table
    on_path = frozenset(explanation.point.path)
    labels = tree.labels(table)
    for line in range(1, len(table) + 1):
        if not options.has(line) or (options.is_part and line not in on_path):
            continue
        row: dict[str, Any] = {
            "line": line,
            "id": table.ids[line],
            "parentLine": max(table.parents[line], 0) or None,
            "type": table.type_of(line),
            "role": table.role_of(line),
            "onBranch": line in on_path,
            "verdict": str(explanation.verdict(line)),
            "reason": str(explanation.reason(line)),
            "because": list(explanation.because(line)),
        }
        if (label := labels.get(id_key(table.ids[line]))) and table.ids[line] is not None:
            row["label"] = label.text
        if table.is_entry(line):
            row["entry"] = table.raw(line)
        else:
            row["text"] = table.bytes(line).decode("utf-8", "replace")
        yield row


def _tail(session: Session, explanation: Explanation) -> dict[str, Any]:
    return {
        "synthetic": [
            {"kind": part.kind, "text": part.text, "because": list(part.because)}
            for part in explanation.synthetic
        ],
        "unknown": [{"what": item.what, "why": item.why} for item in explanation.unknown],
        "diagnostics": [
            {
                "code": str(item.code),
                "line": item.line,
                "offset": item.offset,
                "message": item.message,
            }
            for item in session.diagnostics
        ],
    }
