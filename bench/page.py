"""Measures the local page in a real browser: `python bench/page.py FILE... [--json]`.

For each session: seconds to the first byte and until the page can be used, elements on it, seconds
for the picture of all replies, and seconds from the key to the next reply. Each is the best of
some, since what disturbs can only slow down; every first byte is that of a server started anew.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from pi_sessions import load
from pi_sessions._lines import open_source
from pi_sessions.meter import spent
from pi_sessions.render.strip import strip

NEXT = """() => new Promise((done) => {
  const start = performance.now();
  const from = location.href;
  const key = { key: "ArrowRight", bubbles: true };
  document.body.dispatchEvent(new KeyboardEvent("keydown", key));
  const look = () => location.href === from
    ? setTimeout(look, 1)
    : requestAnimationFrame(() => setTimeout(() => done((performance.now() - start) / 1000)));
  look();
})"""
"""Presses a key, and gives the seconds until the next reply is drawn."""


@contextmanager
def server(path: Path) -> Iterator[str]:
    """Run the page of one session; gives its address, with the key."""
    command = [sys.executable, "-m", "pi_sessions", "serve", str(path), "--port", "0"]
    running = subprocess.Popen(
        [*command, "--models", "/dev/null"], stdout=subprocess.PIPE, text=True
    )
    assert running.stdout
    try:
        yield running.stdout.readline().strip()
    finally:
        running.terminate()
        running.wait()


def first_byte(path: Path) -> float:
    """Give the seconds to the first byte of a session nobody has looked at yet."""
    with server(path) as address, httpx.Client(timeout=120) as client:
        client.get(address)
        start = time.perf_counter()
        with client.stream("GET", _root(address), follow_redirects=True) as answer:
            next(answer.iter_raw())
            return time.perf_counter() - start


def usable(browser: Browser, address: str) -> tuple[float, Page]:
    """Give the seconds until rows are there and keys work."""
    page = browser.new_context(viewport={"width": 1400, "height": 900}, bypass_csp=True).new_page()
    page.set_default_timeout(120_000)
    start = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_function("window.page && document.querySelector('.row')")
    return time.perf_counter() - start, page


def steps(page: Page, address: str, *, rest: float) -> float:
    """Give the seconds from a key to the next reply, the best of some in the middle."""
    replies = int(page.locator("#slider").get_attribute("max") or 0)
    page.goto(f"{address}/reply?n={max(1, replies // 2)}")
    times = []
    for _ in range(8):
        page.wait_for_timeout(1000 * rest)
        times.append(float(page.evaluate(NEXT)))
    return min(times)


def picture(path: Path) -> float:
    """Give the processor seconds for the picture of all replies."""
    session = load(path)
    replies = [entry.line for entry in session.responses]
    told = list(spent(open_source(path), UTC))
    times = []
    for _ in range(3):
        start = time.process_time()
        strip(session.table, replies, told)
        times.append(time.process_time() - start)
    return min(times)


def measured(browser: Browser, path: Path, runs: int) -> dict[str, Any]:
    """Measure one session."""
    found: dict[str, Any] = {"file": path.name, "megabytes": path.stat().st_size / 1e6}
    found["first byte"] = min(first_byte(path) for _ in range(runs))
    times = []
    for _ in range(runs):
        with server(path) as address:
            took, page = usable(browser, address)
            times.append(took)
            page.locator("#slider").wait_for()
            base = page.url.split("?")[0]
            found["elements"] = page.evaluate("document.querySelectorAll('*').length")
            found["next reply, rested"] = steps(page, base, rest=1.5)
            found["next reply, at once"] = steps(page, base, rest=0)
            page.context.close()
    found["usable"] = min(times)
    found["picture"] = picture(path)
    return found


def _root(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/"


def main() -> None:
    """Measure, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    words = parser.parse_args()
    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        rows = [measured(browser, file, words.runs) for file in words.files]
        browser.close()
    if words.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(f"{row.pop('file')} ({row.pop('megabytes'):.1f} MB)")
        for name, value in row.items():
            told = f"{value:,}" if isinstance(value, int) else f"{value:.2f} s"
            print(f"  {name:<20} {told:>10}")


if __name__ == "__main__":
    main()
