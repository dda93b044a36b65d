"""Writes what a scenario left: session files, exact bodies, what each request belongs to.

A summarisation's body is written as null: its instructions are Pi's own text, and no rule of the
format depends on them.
"""

from __future__ import annotations

import getpass
import json
import re
import shutil
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import config
from .pi import PiError

if TYPE_CHECKING:
    from .server import Received
    from .stage import Stage


def write(stage: Stage, folder: Path, about: str) -> None:
    """Write the recording of a played scenario into its folder, replacing an older one."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = _copy_sessions(stage, folder)
    rows = [
        _row(index, received, stage, names) for index, received in enumerate(stage.script.received)
    ]
    (folder / "requests.jsonl").write_bytes(b"".join(map(_body_line, stage.script.received)))
    _write_lines(folder / "requests.meta.jsonl", rows)
    used = frozenset(received.model for received in stage.script.received)
    _write_json(folder / "models.json", config.models(config.FIXED_PORT, used))
    _write_json(folder / "settings.json", stage.settings)
    (folder / "scenario.md").write_text(_page(stage.name, about, rows))
    _check_neutral(folder)


def _copy_sessions(stage: Stage, folder: Path) -> dict[str, str]:
    """Copy the files in the order of their making; the first is session.jsonl."""
    found = sorted(stage.sessions.rglob("*.jsonl"), key=lambda path: path.name)
    names = {}
    for number, path in enumerate(found, start=1):
        name = "session.jsonl" if number == 1 else f"session-{number}.jsonl"
        names[path.name] = name
        shutil.copyfile(path, folder / name)
    return names


def _body_line(received: Received) -> bytes:
    head = json.dumps({"api": received.api, "model": received.model}, separators=(",", ":"))
    body = received.body if received.kind == "turn" else b"null"
    return head[:-1].encode() + b',"body":' + body + b"}\n"


def _row(index: int, received: Received, stage: Stage, names: dict[str, str]) -> dict[str, Any]:
    # The first request of older releases comes before there is a file; it becomes the first one.
    session_file = received.session_file or next(iter(names))
    path = next(stage.sessions.rglob(session_file))
    entries = [json.loads(line) for line in path.read_bytes().splitlines()]
    answer = next((e for e in entries[received.lines :] if _answers(received, e)), None)
    row: dict[str, Any] = {
        "index": index,
        "kind": received.kind,
        "api": received.api,
        "model": received.model,
        "session_file": names[session_file],
        "lines_at_request": received.lines,
        "leaf": received.leaf,
        "answered": answer["id"] if answer else None,
    }
    if answer:
        row["answer_kind"] = answer.get("message", {}).get("stopReason", answer["type"])
    return row


def _answers(received: Received, entry: dict[str, Any]) -> bool:
    if received.kind == "summarization":
        return entry["type"] in ("compaction", "branch_summary")
    return bool(entry.get("message", {}).get("role") == "assistant")


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n")


def _page(name: str, about: str, rows: list[dict[str, Any]]) -> str:
    lines = [f"# {name}", "", about, "", "| # | kind | api | model | file | leaf | answered |"]
    lines.append("|---|---|---|---|---|---|---|")
    for row in rows:
        answer = f"{row['answered']} ({row['answer_kind']})" if row["answered"] else "-"
        cells = (row["kind"], row["api"], row["model"], row["session_file"], row["leaf"], answer)
        lines.append(f"| {row['index'] + 1} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _check_neutral(folder: Path) -> None:
    """Refuse a recording that tells where it was made."""
    secrets = {socket.gethostname(), getpass.getuser(), str(Path(__file__).parent.parent)}
    secrets.add(tempfile.gettempdir())
    words = "|".join(re.escape(word) for word in secrets if len(word) > 1)
    pattern = re.compile(rf"(?<![\w.])(?:{words})(?![\w.])".encode())
    for path in folder.iterdir():
        content = path.read_bytes()
        if path.name != "models.json" and (found := pattern.search(content)):
            start = max(0, found.start() - 40)
            raise PiError(f"{path.name} names this machine: {content[start : found.end() + 40]!r}")
