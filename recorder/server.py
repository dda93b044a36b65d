"""The scripted server: answers model requests from a list of steps and keeps every body.

It knows nothing about Pi. A request that carries the scenario's own system prompt is a turn and
takes the next turn step; any other is a summarisation and takes the next summary step.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Literal, Self

from .replies import Event, Reply, dialect_for
from .steps import Step, Thinking, Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOST = "127.0.0.1"
HOLD_SECONDS = 20.0
CHARS_PER_TOKEN = 4
Kind = Literal["turn", "summarization"]


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    kind: Kind
    api: str
    model: str
    body: bytes
    session_file: str
    lines: int
    leaf: str


@dataclass
class Script:
    """What is still to be answered, and what was asked so far."""

    own_prompt: str
    """Text of the scenario's system prompt, which marks a request as a turn."""
    position: Callable[[], tuple[str, int, str]]
    """Current session file name, number of lines in it, id of its last entry."""
    turns: deque[Step] = field(default_factory=deque)
    summaries: deque[Step] = field(default_factory=deque)
    received: list[Received] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _last_body: dict[tuple[str, str], bytes] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, api: str, body: bytes) -> tuple[Step, Reply]:
        """Note the request and choose the answer."""
        with self._lock:
            model = str(json.loads(body)["model"])
            marker = json.dumps(self.own_prompt)[1:-1].encode()
            kind: Kind = "turn" if marker in body else "summarization"
            self.received.append(Received(kind, api, model, body, *self.position()))
            queue = self.turns if kind == "turn" else self.summaries
            if not queue:
                self.problems.append(f"request {len(self.received)} ({kind}) has no step")
                return Step(status=400, error="the script has no step left"), self._reply(
                    Step(), kind, api, model, body
                )
            step = queue.popleft()
            return step, self._reply(step, kind, api, model, body)

    def _reply(self, step: Step, kind: Kind, api: str, model: str, body: bytes) -> Reply:
        tokens = step.tokens or self._tokens(step, kind, api, model, body)
        return Reply(len(self.received), model, tokens)

    def _tokens(self, step: Step, kind: Kind, api: str, model: str, body: bytes) -> Tokens:
        """Usage from the bytes really sent: the part shared with the request before is cached."""
        total = math.ceil(len(body) / CHARS_PER_TOKEN)
        cached = 0
        if kind == "turn":
            before = self._last_body.get((api, model), b"")
            shared = _shared(before, body)
            cached = shared // CHARS_PER_TOKEN if shared >= 1024 else 0
            if step.status == 200:
                self._last_body[api, model] = body
        thought = sum(len(part.text) for part in step.parts if isinstance(part, Thinking))
        output = math.ceil(step.output_chars / CHARS_PER_TOKEN) + 4
        return Tokens(total - cached, cached, output, math.ceil(thought / CHARS_PER_TOKEN))


def _shared(before: bytes, after: bytes) -> int:
    """Length of the common start."""
    pairs = enumerate(zip(before, after, strict=False))
    return next((place for place, (old, new) in pairs if old != new), min(len(before), len(after)))


class ScriptedServer:
    """Runs the script on a free loopback port as a context manager."""

    def __init__(self, script: Script) -> None:
        self.script = script
        handler = type("ScriptedHandler", (_Handler,), {"script": script})
        self._http = ThreadingHTTPServer((HOST, 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        """The port the system chose."""
        return int(self._http.server_address[1])

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    """One request: read it whole, then stream the answer."""

    script: Script
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Keep stderr for problems."""

    def do_POST(self) -> None:
        """Answer a model request."""
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        try:
            api, dialect = dialect_for(self.path)
        except LookupError as error:
            self.script.problems.append(str(error))
            self.send_error(404)
            return
        step, reply = self.script.take(api, body)
        if step.delay:
            time.sleep(step.delay)
        if step.status != 200:
            self._send_failure(step)
            return
        self._send_stream(step, reply, dialect(step, reply))

    def do_GET(self) -> None:
        """Nothing is to be fetched: say so and remember it."""
        self.script.problems.append(f"unexpected GET {self.path}")
        self.send_error(404)

    def _send_failure(self, step: Step) -> None:
        body = json.dumps({"error": {"type": "api_error", "message": step.error}}).encode()
        self.send_response(step.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("x-reply-took", str(step.took or 400))
        self.end_headers()
        self.wfile.write(body)

    def _send_stream(self, step: Step, reply: Reply, events: Iterator[Event]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.send_header("x-reply-took", str(step.took or 600 + reply.tokens.output * 17))
        self.end_headers()
        self.close_connection = True
        written = list(events)
        if step.cut or step.hold:
            written = written[: len(written) // 2]
        for event in written:
            self._send_event(event)
        if step.hold:
            self._wait_for_leave()

    def _send_event(self, event: Event) -> None:
        text = event.data if isinstance(event.data, str) else json.dumps(event.data)
        head = f"event: {event.name}\n" if event.name else ""
        self.wfile.write(f"{head}data: {text}\n\n".encode())
        self.wfile.flush()

    def _wait_for_leave(self) -> None:
        self.connection.settimeout(HOLD_SECONDS)
        try:
            self.connection.recv(1)
        except OSError:
            return
