"""Who may ask for a page: the person who started it, from this machine, from this very page.

A random token in the first address becomes a cookie. The host name is checked, so that no name of
somebody else can point here (DNS rebinding), and the origin, so that no other page can ask.
"""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from collections.abc import Container

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types pi-sessions",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_TOKEN = "token"  # noqa: S105 - its name in the address
_TOLD = "Open the address that pi-sessions serve has printed: it holds the key to this page.\n"


class Guard:
    """Lets through what may be asked, and adds the headers that keep a browser safe.

    Args:
        app: what is guarded.
        token: the secret of this run.
        hosts: values of `Host` that are this page's.
        cookie: name of the cookie.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Container[str], cookie: str) -> None:
        self.app = app
        self.token = token
        self.hosts = hosts
        self.cookie = cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or hand on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        answer = self._refusal(scope) or self._entrance(scope)
        await (answer or self.app)(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self.hosts:
            return PlainTextResponse("This is not the host of this page.\n", 421)
        origin = headers.get("origin")
        own = f"{scope.get('scheme', 'http')}://{headers['host']}"
        if origin is not None and origin.lower() != own.lower():
            return PlainTextResponse("Another page may not ask here.\n", 403)
        # A form of this page sends its origin; what sends none is no page of ours.
        is_form = scope["method"] == "POST" and origin is not None
        if scope["method"] not in ("GET", "HEAD") and not is_form:
            return PlainTextResponse("Only looking is allowed.\n", 405)
        site = headers.get("sec-fetch-site", "same-origin")
        is_page = headers.get("sec-fetch-mode", "navigate") == "navigate"
        if site not in ("same-origin", "none") and not is_page:
            return PlainTextResponse("Another page may not ask here.\n", 403)
        return None

    def _entrance(self, scope: Scope) -> Response | None:
        """Take the token of the address, or the cookie that stands for it."""
        words = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = next((value for name, value in words if name == _TOKEN), None)
        if given is not None and self._is_token(given):
            rest = urlencode([word for word in words if word[0] != _TOKEN])
            path = scope.get("raw_path", scope["path"].encode()).decode("latin-1")
            path = "/" + path.partition("?")[0].lstrip("/\\")
            answer = RedirectResponse(f"{path}{'?' if rest else ''}{rest}", 303)
            answer.set_cookie(
                self.cookie, self.token, httponly=True, samesite="strict", max_age=30 * 86_400
            )
            return answer
        cookies = _cookies(Headers(scope=scope))
        if self._is_token(cookies.get(self.cookie, "")):
            return None
        return PlainTextResponse(_TOLD, 403)

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.token.encode())


def form_token(token: str) -> str:
    """Give what a form of this page must hold: derived, so that a page does not show the key."""
    return hmac.new(token.encode(), b"form", sha256).hexdigest()


def _cookies(headers: Headers) -> dict[str, str]:
    found: dict[str, str] = {}
    for header in headers.getlist("cookie"):
        for part in header.split(";"):
            name, _, value = part.strip().partition("=")
            found.setdefault(name, value)
    return found


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in message["headers"]}
            message["headers"] = [
                *message["headers"],
                *((k.encode(), v.encode()) for k, v in _HEADERS.items()),
                *(() if b"cache-control" in own else [(b"cache-control", b"no-store")]),
            ]
        await send(message)

    return guarded
