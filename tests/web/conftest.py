"""A page that runs, and the browser of the system to look at it with."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserType, Page, sync_playwright

from pi_sessions.web import Site, create_app

ROOT = Path(__file__).parent.parent.parent
DEMO = ROOT / "examples" / "demo" / "session.jsonl"
DEMO_ID = "01a20cb7-44b8-754a-b9e8-5db6ebe4c056"
REQUIRED = os.environ.get("PI_SESSIONS_REQUIRE") == "1"
TOKEN = "a-key-for-tests"


class Served(msgspec.Struct):
    """A page that runs."""

    address: str
    site: Site

    def __call__(self, path: str) -> str:
        return self.address + path


class _Server(uvicorn.Server):
    """Runs in a thread: signals are left to the main one."""

    def install_signal_handlers(self) -> None:
        pass


def serve(**words: Any) -> Iterator[Served]:
    """Run a page at a free port until the test is over."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    site = Site(token=TOKEN, port=port, **words)
    server = _Server(
        uvicorn.Config(create_app(site), log_level="warning", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield Served(f"http://127.0.0.1:{port}", site)
    server.should_exit = True
    thread.join(10)
    listener.close()


@pytest.fixture(scope="module")
def demo() -> Iterator[Served]:
    """The bundled session, alone."""
    yield from serve(session=DEMO)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Serve the bytes of a session, or what else is named."""
    running: list[Iterator[Served]] = []

    def start(data: bytes | None = None, **words: Any) -> Served:
        if data is not None:
            path = tmp_path / "session.jsonl"
            path.write_bytes(data)
            words = {"session": path, **words}
        running.append(serve(**words))
        return next(running[-1])

    yield start
    for each in running:
        next(each, None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's browser; needed where nothing may be missing."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
    if path is None:
        if REQUIRED:
            pytest.fail("there is no chromium, and nothing may be missing here")
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        kind: BrowserType = playwright.chromium
        browser = kind.launch(executable_path=path)
        yield browser
        browser.close()


class Look:
    """Opens pages, and keeps what went wrong on them."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.faults: list[str] = []
        self.outside: list[str] = []

    def at(
        self,
        served: Served,
        path: str = "/",
        *,
        width: int = 1400,
        theme: Any = "light",
        javascript: bool = True,
    ) -> Page:
        """Open a page with the key, at a path."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,
            java_script_enabled=javascript,
        )
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda told: self._told(told.type, told.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("dialog", lambda dialog: (self.faults.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: self._asked(served, request.url))
        page.goto(served(f"/?token={TOKEN}"))
        if path != "/":
            page.goto(served(path))
        return page

    def _told(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.faults.append(text)

    def _asked(self, served: Served, url: str) -> None:
        if not url.startswith((served.address, "data:")):
            self.outside.append(url)


@pytest.fixture
def look(chromium: Browser) -> Iterator[Look]:
    """Open pages; nothing may go wrong on them, and nothing outside be asked for."""
    looking = Look(chromium)
    yield looking
    for context in chromium.contexts:
        context.close()
    assert looking.faults == []
    assert looking.outside == []
