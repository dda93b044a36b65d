"""Pages on loopback: a small site that an agent can fetch with curl, under made-up names.

Curl is told by its own configuration file to ask this server for everything, as a proxy, so that
the addresses in a recording are those of the site and no port is in it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Page:
    """What is answered for one address."""

    body: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class PageServer:
    """Serves pages by their whole address, as a context manager.

    Args:
        pages: a page for each address; for any other one there is an error page.
        home: where the configuration of curl is written.
    """

    def __init__(self, pages: dict[str, Page], home: Path) -> None:
        handler = type("PageHandler", (_Handler,), {"pages": pages})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._configuration = home / ".curlrc"

    def __enter__(self) -> Self:
        self._configuration.write_text(
            f'proxy = "http://127.0.0.1:{self._http.server_address[1]}"\n'
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()


MISSING = Page(
    "<html><head><title>404 Not Found</title></head>\n"
    "<body><h1>Not Found</h1><p>There is no page under this address.</p></body></html>\n",
    404,
)


class _Handler(BaseHTTPRequestHandler):
    pages: dict[str, Page]
    protocol_version = "HTTP/1.0"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Keep stderr for problems."""

    def do_GET(self) -> None:
        """Answer with a page; no header tells the time, so that recordings stay the same."""
        page = self.pages.get(self.path, MISSING)
        body = page.body.encode()
        self.send_response_only(page.status)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        for name, value in page.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
