"""Makes the pictures in `docs/images` from the bundled session: `python docs/screenshots.py [--to FOLDER]`.

The real page is served and the real export written, and the system's Chromium looks at them. A picture
has at most 256 colours, which a page of text hardly notices and which makes it a third of its size.
"""

from __future__ import annotations

import argparse
import base64
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

from pi_sessions import load  # noqa: E402
from pi_sessions.audit import audit  # noqa: E402
from pi_sessions.export import Options, chunks, html_audit  # noqa: E402
from pi_sessions.web import Site, create_app  # noqa: E402

DEMO = ROOT / "examples" / "demo" / "session.jsonl"
REPORT = ROOT / "tests" / "audit" / "recordings" / "report-error-page"
TOKEN = "screenshots"  # noqa: S105 - the page runs for a minute
REPLY = "451d17f9"
WIDE, NARROW = (1280, 800), (400, 800)
Shot = tuple[str, str, tuple[int, int], str]
"""Name, address, size and theme of a picture."""

PIXELS = """async (address) => {
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const data = context.getImageData(0, 0, image.width, image.height).data;
  const counts = new Map();
  for (let n = 0; n < data.length; n += 4) {
    const colour = (data[n] << 16) | (data[n + 1] << 8) | data[n + 2];
    counts.set(colour, (counts.get(colour) || 0) + 1);
  }
  // Colours that are nearly the same share a place, so that those of a few letters have one too.
  const buckets = new Map();
  for (const [colour, count] of [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])) {
    const bucket = buckets.get(colour & 0xf8f8f8) || { colour, count: 0 };
    bucket.count += count;
    buckets.set(colour & 0xf8f8f8, bucket);
  }
  const most = [...buckets.values()].sort((a, b) => b.count - a.count || a.colour - b.colour);
  const kept = most.slice(0, 256).map((bucket) => bucket.colour);
  const places = new Map(kept.map((colour, place) => [colour, place]));
  const nearest = (colour) => {
    let best = 0, least = Infinity;
    kept.forEach((other, place) => {
      const red = (colour >> 16) - (other >> 16);
      const green = ((colour >> 8) & 255) - ((other >> 8) & 255);
      const blue = (colour & 255) - (other & 255);
      const far = 2 * red * red + 4 * green * green + 3 * blue * blue;
      if (far < least) [best, least] = [place, far];
    });
    places.set(colour, best);
    return best;
  };
  let text = "";
  for (let n = 0; n < data.length; n += 4) {
    const colour = (data[n] << 16) | (data[n + 1] << 8) | data[n + 2];
    text += String.fromCharCode(places.get(colour) ?? nearest(colour));
  }
  return { width: image.width, height: image.height, kept, pixels: btoa(text) };
}"""


@contextmanager
def served() -> Iterator[str]:
    """Run the page with the bundled session."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    site = Site(token=TOKEN, port=port, session=DEMO)
    server = uvicorn.Server(uvicorn.Config(create_app(site), log_level="warning"))
    server.install_signal_handlers = lambda: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(5)
    listener.close()


def written(folder: Path) -> tuple[str, str]:
    """Write the export and the audit, and give their addresses."""
    session = load(DEMO)
    export = folder / "export.html"
    export.write_bytes(b"".join(chunks("html", session, Options())))
    behind, report = load(REPORT / "session.jsonl"), (REPORT / "report.md").read_text("utf-8")
    found = audit(
        report, [behind], path="report.md", brief=(REPORT / "brief.txt").read_text("utf-8")
    )
    page = folder / "audit.html"
    page.write_bytes(b"".join(html_audit.chunks(found, report, [behind])))
    return export.as_uri(), page.as_uri()


def shots(base: str, export: str, audited: str) -> list[Shot]:
    """List the pictures."""
    session = f"{base}/session/{load(DEMO).id}"
    return [
        *((f"session{end}", session, WIDE, theme) for theme, end in THEMES),
        *((f"reply{end}", f"{session}/at/{REPLY}", WIDE, theme) for theme, end in THEMES),
        ("usage", f"{session}/usage", WIDE, "light"),
        *((f"export{end}", export, WIDE, theme) for theme, end in THEMES),
        ("export-request", f"{export}#at-44", WIDE, "light"),
        ("export-narrow", export, NARROW, "dark"),
        ("audit", audited, WIDE, "light"),
    ]


THEMES = (("light", "-light"), ("dark", "-dark"))


def taken(browser: Browser, base: str, shot: Shot) -> bytes:
    """Take a picture, and make it small."""
    _, address, (width, height), theme = shot
    words: Any = theme
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=words, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{base}/?token={TOKEN}")
    page.goto(address)
    page.wait_for_timeout(400)
    large = base64.b64encode(page.screenshot()).decode()
    blank = context.new_page()
    found = blank.evaluate(PIXELS, f"data:image/png;base64,{large}")
    context.close()
    return png(found)


def png(found: dict[str, Any]) -> bytes:
    """Write pixels of at most 256 colours as a PNG."""
    width, height = found["width"], found["height"]
    pixels = base64.b64decode(found["pixels"])
    rows = b"".join(b"\0" + pixels[n * width : (n + 1) * width] for n in range(height))
    palette = b"".join(colour.to_bytes(3, "big") for colour in found["kept"])
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    chunks_of = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks_of)


def main() -> None:
    """Make all of them, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only these")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "images")
    args = parser.parse_args()
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
    if path is None:
        sys.exit("there is no chromium on this machine")
    args.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, served() as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for shot in shots(base, *written(Path(folder))):
            if args.names and shot[0] not in args.names:
                continue
            data = taken(browser, base, shot)
            (args.to / f"{shot[0]}.png").write_bytes(data)
            print(f"{shot[0]}.png {len(data):,} bytes")
        browser.close()


if __name__ == "__main__":
    main()
