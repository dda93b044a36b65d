"""Who may ask for a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from pi_sessions import load
from pi_sessions.testing import SessionBuilder
from pi_sessions.web.guard import form_token
from web.conftest import DEMO_ID, TOKEN, Served

Serve = Callable[..., Served]
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


def post(served: Served, path: str, words: dict[str, str], **headers: str) -> httpx.Response:
    """Send a form as the page does: with the cookie, its origin, and the token of the run."""
    cookie = f"pi_sessions_{served.site.port}={TOKEN}"
    origin = {"origin": served.address, "cookie": cookie}
    sent = {"form": form_token(TOKEN)} | words
    return httpx.post(served(path), data=sent, headers=origin | headers)


def written(tmp_path: Path) -> tuple[SessionBuilder, Path]:
    """Make a session of one question and one answer, which `served` will write there."""
    made = SessionBuilder(id="mine")
    made.user("A question", id="aaaaaaaa")
    made.assistant("An answer", id="bbbbbbbb")
    return made, tmp_path / "session.jsonl"


def test_names_and_labels_are_appended(served: Serve, tmp_path: Path) -> None:
    made, path = written(tmp_path)
    running = served(made.data)

    assert post(running, "/session/mine/name", {"name": "A <b>name</b>"}).status_code == 303
    answer = post(running, "/session/mine/label/aaaaaaaa", {"label": "kept"})
    assert answer.headers["location"] == "/session/mine/raw/2"
    session = load(path)
    assert (session.name, session.labels) == ("A <b>name</b>", {"aaaaaaaa": "kept"})
    assert path.read_bytes().startswith(made.data)
    assert "A &lt;b&gt;name" in ask(running, "/session/mine").text

    post(running, "/session/mine/name", {"name": " "})
    post(running, "/session/mine/label/aaaaaaaa", {"label": ""})
    session = load(path)
    assert (session.name, session.labels) == (None, {})
    assert len(session.table) == 7
    assert post(running, "/session/mine/label/nobody", {"label": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("words", "headers", "code"),
    [
        ({"form": ""}, {}, 403),
        ({"form": TOKEN}, {}, 403),
        ({"form": "é"}, {}, 403),
        ({}, {"cookie": ""}, 403),
        ({}, {"origin": "http://evil.example"}, 403),
        ({}, {"origin": "null"}, 403),
        ({}, {"host": "evil.example"}, 421),
        ({}, {"content-type": "text/plain"}, 415),
        ({"name": "x" * 401}, {}, 400),
        ({"more": "x" * 20_000}, {}, 413),
    ],
)
def test_other_forms_write_nothing(
    served: Serve, tmp_path: Path, words: dict[str, str], headers: dict[str, str], code: int
) -> None:
    made, path = written(tmp_path)
    running = served(made.data)

    answer = post(running, "/session/mine/name", {"name": "x"} | words, **headers)

    assert answer.status_code == code
    assert path.read_bytes() == made.data


def test_nothing_is_written_where_only_looking_is_allowed(served: Serve, tmp_path: Path) -> None:
    made, path = written(tmp_path)
    running = served(made.data, is_read_only=True)

    assert post(running, "/session/mine/name", {"name": "x"}).status_code == 403
    assert "Rename" not in ask(running, "/session/mine/health").text
    assert path.read_bytes() == made.data


def test_what_cannot_be_written_is_told(served: Serve, tmp_path: Path) -> None:
    """A version that is not known yet may mean anything."""
    header = b'{"type":"session","version":9,"id":"mine","timestamp":"2026-01-01","cwd":"/"}\n'
    running = served(header)

    answer = post(running, "/session/mine/name", {"name": "x"})

    assert answer.status_code == 409
    assert "version" in answer.text
    assert (tmp_path / "session.jsonl").read_bytes() == header


def test_actions_are_no_addresses_to_look_at(demo: Served) -> None:
    assert ask(demo, f"{PAGE}/name").status_code == 405
    assert post(demo, PAGE, {}).status_code == 405
