"""What a scenario works with: a scripted server, a running Pi and the project they work on.

The methods read like the user's side of a conversation. Entries are named by what they say, since
their ids are only known while recording.
"""

from __future__ import annotations

import json
import shutil
import zlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from . import config
from .pi import Launch, Pi, PiError
from .server import Script, ScriptedServer

if TYPE_CHECKING:
    from pathlib import Path

    from .steps import Step

MARKER = ".pi-sessions-recorder"
DEFAULT_PROMPT = "You help with a small Python program that keeps the books of an orchard."


@dataclass(frozen=True)
class Setting:
    """How one scenario begins."""

    model: str = "birch/birch-1"
    thinking: str = "off"
    prompt: str = DEFAULT_PROMPT
    sections: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    toolset: str = "usual"
    files: dict[str, str | bytes] = field(default_factory=dict)
    start: str = "2026-11-17T09:12:04Z"


def prepare_home(home: Path) -> None:
    """Make an empty home directory; never touch one that the recorder did not make."""
    if home.exists():
        if not (home / MARKER).is_file():
            raise PiError(f"{home} exists and is not the recorder's: choose another with --home")
        shutil.rmtree(home)
    for folder in ("orchard", "sessions", "tmp", ".pi/agent"):
        (home / folder).mkdir(parents=True)
    (home / MARKER).write_text("Made by the recorder, which empties it on each run.\n")


def remove_home(home: Path) -> None:
    """Take the recorder's own home away again."""
    if (home / MARKER).is_file():
        shutil.rmtree(home)


class Stage:
    """One scenario while it is played; use as a context manager."""

    def __init__(self, name: str, setting: Setting, home: Path) -> None:
        self.name, self.setting, self.home = name, setting, home
        self.project, self.sessions = home / "orchard", home / "sessions"
        self.settings = config.settings(**setting.settings)
        self.script = Script(setting.prompt, self._position)
        self._starts = 0
        prepare_home(home)
        for path, content in setting.files.items():
            target = self.project / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def __enter__(self) -> Self:
        self._server = ScriptedServer(self.script).__enter__()
        agent = self.home / ".pi" / "agent"
        (agent / "models.json").write_text(json.dumps(config.models(self._server.port)))
        (agent / "settings.json").write_text(json.dumps(self.settings))
        try:
            self.pi = self._start(None)
        except BaseException:
            self._server.__exit__()
            raise
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        self.pi.__exit__(kind, *rest)
        self._server.__exit__()
        if kind is None:
            left = len(self.script.turns) + len(self.script.summaries)
            problems = self.script.problems + ([f"{left} steps left"] if left else [])
            if problems:
                raise PiError(f"{self.name}: {'; '.join(problems)}")

    # -- the process ------------------------------------------------------------------------

    def _start(self, session: Path | None) -> Pi:
        setting = self.setting
        clock = int(datetime.fromisoformat(setting.start).timestamp() * 1000)
        pi = Pi(
            Launch(
                home=self.home,
                project=self.project,
                sessions=self.sessions,
                prompt=setting.prompt,
                model=setting.model,
                thinking=setting.thinking,
                sections=setting.sections,
                toolset=setting.toolset,
                clock=clock + self._starts * 3_600_000,
                seed=zlib.crc32(f"{self.name} {self._starts}".encode()),
                session=session,
            )
        )
        self._starts += 1
        try:
            pi.ask("get_state")
        except BaseException:
            pi.kill()
            raise
        return pi

    def restart(self, *, kill: bool = False) -> None:
        """End Pi, orderly or at once, and open the same session an hour later."""
        session = self.current_file
        if kill:
            self.pi.kill()
        else:
            self.pi.close()
        self.pi = self._start(session)

    # -- the conversation -------------------------------------------------------------------

    def say(self, message: str, *steps: Step, think: int = 40, **fields: Any) -> None:
        """The user writes, the model answers with these steps, all is settled."""
        self.pause(think)
        self.script.turns.extend(steps)
        self.pi.ask("prompt", message=message, **fields)
        self.pi.wait_until_settled()
        if self.script.problems:
            raise PiError("; ".join(self.script.problems))

    def begin(self, message: str, *steps: Step, think: int = 40) -> None:
        """Like ``say``, without waiting for the end of the run."""
        self.pause(think)
        self.script.turns.extend(steps)
        self.pi.ask("prompt", message=message)

    def pause(self, seconds: int) -> None:
        """Let time pass on the session's clock."""
        self.pi.drive("wait", milliseconds=seconds * 1000)

    def shell(self, command: str, *, hidden: bool = False) -> None:
        """The user's own run: ``!command``, or ``!!command`` when it is hidden from the model."""
        self.pause(12)
        self.pi.ask("bash", command=command, excludeFromContext=hidden)

    def model(self, name: str) -> None:
        """Switch to ``provider/model``."""
        self.pause(8)
        provider, model = name.split("/")
        self.pi.ask("set_model", provider=provider, modelId=model)

    def thinking(self, level: str) -> None:
        """Switch the thinking level."""
        self.pi.ask("set_thinking_level", level=level)

    def compact(self, *summaries: Step, **fields: Any) -> None:
        """Manual compaction."""
        self.pause(20)
        self.script.summaries.extend(summaries)
        self.pi.ask("compact", **fields)

    def navigate(self, text: str, *summaries: Step, **options: Any) -> None:
        """Go back to the entry that says this, with a summary if steps for one are given."""
        self.pause(25)
        self.script.summaries.extend(summaries)
        self.pi.drive("navigate", target=self.find(text), summarize=bool(summaries), **options)

    # -- the file ---------------------------------------------------------------------------

    @property
    def current_file(self) -> Path:
        """The session file written last."""
        files = list(self.sessions.rglob("*.jsonl"))
        if not files:
            raise PiError("no session file yet")
        return max(files, key=lambda path: path.stat().st_mtime_ns)

    def entries(self) -> list[dict[str, Any]]:
        """All entries of the current file, header first."""
        return [json.loads(line) for line in self.current_file.read_bytes().splitlines()]

    def find(self, text: str, role: str = "") -> str:
        """Id of the last entry that contains a text, of one role if given."""
        quoted = json.dumps(text, ensure_ascii=False)[1:-1]
        for entry in reversed(self.entries()):
            message = entry.get("message", {})
            if entry["type"] in ("session", "context_edit", "compaction", "branch_summary"):
                continue
            if role and message.get("role") != role:
                continue
            if quoted in json.dumps(entry, ensure_ascii=False):
                return str(entry["id"])
        raise PiError(f"no entry says {text!r}")

    def _position(self) -> tuple[str, int, str]:
        if not any(self.sessions.rglob("*.jsonl")):
            # Older releases make the file with the first reply, which is yet to come.
            return "", 0, ""
        entries = self.entries()
        return self.current_file.name, len(entries), str(entries[-1].get("id", ""))
