"""From reply to reply in place, the strip, what stands open, and what is copied."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from playwright.sync_api import Page, expect

from pi_sessions import testing
from pi_sessions.web import opened
from web.conftest import DEMO_ID, Look, Served

if TYPE_CHECKING:
    import pytest

BASE = f"/session/{DEMO_ID}"
Serve = Callable[..., Served]
MARK = "window.isTheSamePage = true"
SAME = "window.isTheSamePage === true"


def told(page: Page) -> str:
    """Give which reply the panel is about."""
    return page.locator(".steps .num").text_content() or ""


def test_steps_stay_on_the_page(look: Look, demo: Served) -> None:
    """Rows, tree, panel, counter and strip go along, and back and forward lead the same way."""
    page = look.at(demo, f"{BASE}/reply?n=9")
    page.evaluate(MARK)
    first = page.url
    for number in (10, 11):
        page.keyboard.press("ArrowRight")
        expect(page.locator(".steps .num")).to_contain_text(f"reply {number} of 14")
    assert page.evaluate(SAME)
    alone = look.browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    alone.context.add_cookies(page.context.cookies())  # type: ignore[arg-type]
    alone.goto(page.url)
    for part in (".count", "#rows", '[role="tree"]', ".saw", ".tabs", "#strip .legend"):
        mine = page.locator(part).evaluate("e => e.textContent.replace(/\\s/g, '')")
        theirs = alone.locator(part).evaluate("e => e.textContent.replace(/\\s/g, '')")
        assert mine.replace("CopyLink", "") == theirs.replace("CopyLink", ""), part
    assert page.title() == alone.title()
    assert page.locator("#slider").input_value() == "11"
    for _ in range(2):
        page.go_back()
    expect(page.locator(".steps .num")).to_contain_text("reply 9 of 14")
    assert page.url == first
    page.go_forward()
    expect(page.locator(".steps .num")).to_contain_text("reply 10 of 14")
    assert page.evaluate(SAME)


def test_what_stands_open_stays_open(look: Look, demo: Served) -> None:
    """In the panel and in the rows, from reply to reply and when the page is loaded anew."""
    page = look.at(demo, f"{BASE}/reply?n=10")
    page.locator(".left > summary").click()
    page.locator(".since > summary").click()
    row = page.locator("#rows details").first
    name = row.evaluate("e => e.closest('.row').id")
    # The browser tells of it a moment later, long before anybody presses a key.
    row.evaluate(
        "e => new Promise(done => {"
        " e.addEventListener('toggle', () => setTimeout(done), { once: true }); e.open = true })"
    )
    page.keyboard.press("ArrowRight")
    expect(page.locator(".steps .num")).to_contain_text("reply 11")

    def stands() -> list[bool]:
        return [
            page.locator(each).first.evaluate("e => e.open")
            for each in (".left", ".since", f"#{name} details")
        ]

    assert stands() == [True, False, True]
    page.reload()
    expect(page.locator(".steps .num")).to_contain_text("reply 11")
    assert stands() == [True, False, True]


def test_the_focus_stays_on_the_button(look: Look, demo: Served) -> None:
    page = look.at(demo, f"{BASE}/reply?n=3")
    page.get_by_role("link", name="Reply after").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".steps .num")).to_contain_text("reply 4")
    page.keyboard.press("Enter")
    expect(page.locator(".steps .num")).to_contain_text("reply 5")
    expect(page.locator("#say")).to_contain_text("reply 5 of 14")


def test_the_strip_tells_and_drags(look: Look, demo: Served) -> None:
    """What is under the pointer is told; a drag goes where it ends; the parts are named."""
    page = look.at(demo, BASE)
    legend = page.locator("#strip .legend")
    for name in ("prompt and tools", "conversation", "tool results", "cost"):
        expect(legend).to_contain_text(name)
    columns = page.locator("#strip [data-go]")
    columns.nth(2).hover()
    expect(legend).to_contain_text("reply 3 on line")
    page.mouse.down()
    columns.nth(6).hover()
    page.mouse.up()
    expect(page.locator(".steps .num")).to_contain_text("reply 7 of 14")
    page.locator("#slider").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".steps .num")).to_contain_text("reply 8 of 14")
    expect(page.locator("#slider")).to_be_focused()


def test_a_long_session_has_its_strip_later(look: Look, served: Serve) -> None:
    session = testing.SessionBuilder()
    session.user("Begin")
    for number in range(4100):
        session.assistant(f"Answer {number}")
    page = look.at(served(session.data))
    expect(page.locator("#strip svg")).to_be_visible()
    assert page.locator("#strip [data-go]").count() <= 240
    expect(page.locator("#strip .legend")).to_contain_text("4,100 replies")


def test_copies(look: Look, demo: Served) -> None:
    """A line and its address, by the keys and by the buttons."""
    page = look.at(demo, f"{BASE}?line=43#L43")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    expect(page.locator("#L43")).to_have_class(re.compile("here"))
    clipboard = "navigator.clipboard.readText()"
    page.keyboard.press("c")
    expect(page.locator("#say")).to_contain_text("Line 43 copied")
    assert "Which variety keeps longest" in page.evaluate(clipboard)
    page.locator("#L44 .card").hover()
    page.locator("#L44").get_by_role("button", name="Link").click()
    expect(page.locator("#say")).to_contain_text("Address of line 44 copied")
    address = page.evaluate(clipboard)
    assert address.endswith(f"{BASE}?line=44#L44")
    page.goto(address)
    expect(page.locator("#L44")).to_be_in_viewport()


def test_of_a_large_session_other_rules_are_tried_on_demand(
    look: Look, served: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not looked for is told, with a way to look for it."""
    monkeypatch.setattr(opened, "_LARGE", 100)
    session = testing.SessionBuilder()
    for number in range(4):
        session.user(f"Question {number}")
        session.assistant(f"Answer {number}")
    page = look.at(served(session.data), "/")
    page.locator("#slider").focus()
    page.keyboard.press("Home")
    expect(page.locator(".steps .num")).to_contain_text("reply 1 of 4")
    page.get_by_role("link", name="Try them").click()
    page.wait_for_url("**?open=1")
    expect(page.get_by_role("link", name="Try them")).to_have_count(0)
    expect(page.locator(".steps .num")).to_contain_text("reply 1 of 4")
