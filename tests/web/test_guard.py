"""Who may ask for a page."""

from __future__ import annotations

import httpx
import pytest

from web.conftest import DEMO_ID, TOKEN, Served

PAGE = f"/session/{DEMO_ID}"


def ask(served: Served, path: str = PAGE, method: str = "GET", **headers: str) -> httpx.Response:
    cookie = f"pi_sessions_{served.site.port}={TOKEN}"
    names = {
        name.replace("_", "-"): value for name, value in ({"cookie": cookie} | headers).items()
    }
    return httpx.request(method, served(path), headers=names)


def test_token_becomes_a_cookie_and_leaves_the_address(demo: Served) -> None:
    entered = httpx.get(demo(f"{PAGE}?token={TOKEN}&line=5"))

    assert entered.status_code == 303
    assert entered.headers["location"] == f"{PAGE}?line=5"
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_token_never_redirects_elsewhere(demo: Served) -> None:
    entered = httpx.get(demo(f"//evil.example/%5cevil?token={TOKEN}"))

    assert entered.status_code == 303
    assert entered.headers["location"].startswith("/evil.example")


@pytest.mark.parametrize("cookie", ["", "x=1", f"pi_sessions_1={TOKEN}", "é"])
def test_without_the_key_nothing_is_told(demo: Served, cookie: str) -> None:
    answer = httpx.get(demo(PAGE), headers={"cookie": cookie.encode()})

    assert answer.status_code == 403
    assert "harvest" not in answer.text


@pytest.mark.parametrize("token", ["", "x", TOKEN[:-1], TOKEN + "x", "%00", "%ff"])
def test_wrong_tokens_are_refused(demo: Served, token: str) -> None:
    assert httpx.get(demo(f"{PAGE}?token={token}")).status_code == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "", "[::1]"],
)
def test_other_hosts_are_refused(demo: Served, host: str) -> None:
    assert ask(demo, host=host.format(port=demo.site.port)).status_code in (400, 421)


def test_own_hosts_are_served(demo: Served) -> None:
    for host in ("127.0.0.1", "localhost", "LOCALHOST", "[::1]"):
        assert ask(demo, host=f"{host}:{demo.site.port}").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"},
        {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors"},
    ],
)
def test_other_pages_are_refused(demo: Served, headers: dict[str, str]) -> None:
    assert ask(demo, **headers).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_looking_is_allowed(demo: Served, method: str) -> None:
    assert ask(demo, method=method).status_code == 405


def test_answers_keep_a_browser_safe(demo: Served) -> None:
    for path in (PAGE, "/static/page.js", "/nothing", "/session/nobody"):
        headers = ask(demo, path).headers
        policy = headers["content-security-policy"]

        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    [
        "/session/%2e%2e",
        "/session/%2e%2e%2fsession.jsonl",
        "/static/..%2fpages.py",
        "/static/row.html",
        "/session/x/at/y",
        f"{PAGE}/at/nobody",
        f"{PAGE}/at/line-999",
        f"{PAGE}/at/line-5",
    ],
)
def test_what_is_not_there_is_told_in_a_sentence(demo: Served, path: str) -> None:
    answer = ask(demo, path)

    assert answer.status_code == 404
    assert "Traceback" not in answer.text
