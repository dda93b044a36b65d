"""The page in a real browser: keys, windows, slider, palette, growth, and without a script."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from pi_sessions import testing
from web.conftest import DEMO, DEMO_ID, Look, Served

BASE = f"/session/{DEMO_ID}"
LINES = DEMO.read_bytes().splitlines(keepends=True)
Serve = Callable[..., Served]


def elements(page: Page) -> int:
    """Count the elements of a page."""
    count: int = page.evaluate("document.querySelectorAll('*').length")
    return count


def here(page: Page) -> str | None:
    """Give the row that the keys stand on."""
    return page.locator(".row.here").get_attribute("id")


def long_session(turns: int) -> bytes:
    """Make a session of questions and answers."""
    session = testing.SessionBuilder()
    for number in range(turns):
        session.user(f"Question {number} about apples and pears")
        session.assistant(f"Answer {number}: they keep until **spring**.\n\n- one\n- two")
    return session.data


def test_keys_alone(look: Look, demo: Served) -> None:
    """From the transcript to a reply, from reply to reply, to the raw line, and to the keys."""
    page = look.at(demo, BASE)
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert here(page)
    line = int((here(page) or "L0")[1:])
    page.keyboard.press("j")
    assert int((here(page) or "L0")[1:]) > line
    page.goto(demo(f"{BASE}?line=44#L44"))
    expect(page.locator("#L44")).to_have_class(re.compile("here"))
    page.keyboard.press("w")
    page.wait_for_url("**/at/*")
    expect(page.get_by_role("heading", name="What the model saw")).to_be_visible()
    first = page.url
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(lambda url: url != first)
    second = page.url
    page.keyboard.press("ArrowRight")
    page.wait_for_url(first)
    assert second != first
    page.keyboard.press("r")
    page.wait_for_url("**/raw/44")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/raw/45")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_tree_has_keys(look: Look, demo: Served) -> None:
    page = look.at(demo, BASE)
    page.keyboard.press("t")
    focused = "document.activeElement.dataset.line"
    line = page.evaluate(focused)
    page.keyboard.press("ArrowUp")
    above = page.evaluate(focused)
    assert line
    assert above
    assert line != above
    page.keyboard.press("Enter")
    expect(page.locator(f"#L{above}")).to_have_class(re.compile("here"))


def test_a_reply_shows_its_request(look: Look, demo: Served) -> None:
    """Blocks in order with their lines, the parts, what was left out, the difference."""
    page = look.at(demo, BASE)
    page.get_by_role("link", name="What did the model see here?").last.click()
    panel = page.get_by_role("region", name="What the model saw")
    expect(panel.get_by_text("The request, in order")).to_be_visible()
    expect(panel.get_by_text("stands in no line").first).to_be_visible()
    expect(panel.get_by_text("No result provided")).to_be_visible()
    link = panel.locator(".blk .from a").first
    line = (link.text_content() or "")[1:]
    link.click()
    expect(page.locator(f"#L{line}")).to_be_in_viewport()


def test_the_slider_goes_to_a_reply(look: Look, demo: Served) -> None:
    page = look.at(demo, BASE)
    slider = page.get_by_role("slider", name="Reply")
    slider.focus()
    slider.press("Home")
    page.wait_for_url("**/at/*")
    expect(page.locator(".steps", has_text="reply 1 of 14")).to_be_visible()
    page.locator("#strip svg rect").nth(4).click()
    expect(page.locator(".steps", has_text="reply 5 of 14")).to_be_visible()


def test_states_fold(look: Look, demo: Served) -> None:
    """A click on a state folds its lines, and counts them still."""
    page = look.at(demo, BASE)
    before = page.locator(".row.n[id^=L]").count()
    page.get_by_role("link", name="25 not sent, shown").click()
    expect(page.get_by_role("link", name="25 not sent, folded")).to_be_visible()
    assert before > 0
    assert page.locator(".row.n[id^=L]").count() == 0
    fold = page.locator(".fold a").first
    told = fold.text_content() or ""
    fold.click()
    assert "line" in told
    expect(page.locator(".row.n[id^=L]")).not_to_have_count(0)


def test_a_long_session_is_a_window(look: Look, served: Serve) -> None:
    """Rows come as one scrolls up and down, and the page never holds too many."""
    page = look.at(served(long_session(1500)))
    expect(page.locator("#L3001")).to_be_in_viewport()
    most = elements(page)
    for _ in range(12):
        page.mouse.wheel(0, -6000)
        page.wait_for_timeout(120)
        most = max(most, elements(page))
    lines = [
        int(i[1:]) for i in page.eval_on_selector_all(".row[data-line]", "e => e.map(x => x.id)")
    ]
    assert min(lines) < 2700
    assert lines == sorted(lines)
    assert len(lines) == len(set(lines))
    assert lines == list(range(lines[0], lines[-1] + 1))
    assert most < 5000
    page.goto(page.url.split("?")[0] + "?line=1500#L1500")
    expect(page.locator("#L1500")).to_be_in_viewport()
    page.keyboard.press("g")
    expect(page.locator("#L1")).to_be_in_viewport()


def test_the_palette(look: Look, demo: Served) -> None:
    """Ctrl K finds lines of the open session as one types, and numbers of lines."""
    page = look.at(demo, BASE)
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name="Search sessions and lines")
    expect(box).to_be_focused()
    box.fill("windfall")
    option = page.get_by_role("option").first
    expect(option).to_contain_text("windfall")
    page.keyboard.press("Enter")
    page.wait_for_url("**line=*")
    expect(page.locator(".row.here")).to_contain_text("windfall")
    page.keyboard.press("/")
    page.get_by_role("combobox").fill("12")
    expect(page.get_by_role("option").first).to_contain_text("Line 12")
    page.keyboard.press("Enter")
    expect(page.locator("#L12")).to_have_class(re.compile("here"))


def test_the_theme_is_kept(look: Look, demo: Served) -> None:
    page = look.at(demo, BASE)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Theme").click()
    dark = page.evaluate(ground)
    page.reload()
    assert light != dark
    assert page.evaluate(ground) == dark


def test_a_session_grows_on_the_page(look: Look, served: Serve, tmp_path: Path) -> None:
    """What is open stays open; the counter and the end of the page follow."""
    page = look.at(served(b"".join(LINES[:20])))
    expect(page.locator("#L20")).to_be_visible()
    page.locator("#L11 details").first.evaluate("e => { e.open = true }")
    page.wait_for_timeout(400)
    with (tmp_path / "session.jsonl").open("ab") as file:
        file.write(LINES[20] + LINES[21][:40])
    expect(page.locator("#L21")).to_be_visible()
    expect(page.locator("#L22")).to_have_count(0)
    expect(page.locator(".count")).to_contain_text("21 lines")
    with (tmp_path / "session.jsonl").open("ab") as file:
        file.write(LINES[21][40:] + LINES[22])
    expect(page.locator("#L23")).to_be_visible()
    assert page.locator("#L11 details").first.evaluate("e => e.open")
    expect(page.locator("#L23")).to_be_in_viewport()


def test_who_reads_above_is_not_moved(look: Look, served: Serve, tmp_path: Path) -> None:
    page = look.at(served(b"".join(LINES[:40])))
    page.wait_for_timeout(400)
    page.evaluate("window.scrollTo(0, 300)")
    place = page.evaluate("window.scrollY")
    with (tmp_path / "session.jsonl").open("ab") as file:
        file.write(b"".join(LINES[40:]))
    expect(page.get_by_role("link", name="new lines below")).to_be_visible()
    assert page.evaluate("window.scrollY") == place
    page.get_by_role("link", name="new lines below").click()
    expect(page.locator("#L46")).to_be_in_viewport()


def test_without_a_script(look: Look, demo: Served) -> None:
    """Everything can be read, and links and forms lead everywhere."""
    page = look.at(demo, BASE, javascript=False)
    expect(page.locator("#L43")).to_contain_text("Which variety keeps longest")
    page.get_by_role("link", name="What did the model see here?").last.click()
    expect(page.get_by_text("The request, in order")).to_be_visible()
    page.get_by_role("link", name="Reply before").click()
    expect(page.locator(".steps", has_text="reply 13 of 14")).to_be_visible()
    page.goto(demo(f"{BASE}/reply?n=2"))
    expect(page.locator(".steps", has_text="reply 2 of 14")).to_be_visible()


def test_narrow(look: Look, demo: Served) -> None:
    """At 400 pixels nothing is wider than the page."""
    views = ("", "/next", "/saw?q=harvest", "/prompt", "/usage", "/health", "/raw/5")
    page = look.at(demo, BASE, width=400)
    for view in views:
        page.goto(demo(BASE + view))
        widths: Any = page.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert widths[0] <= widths[1], view


def test_print(look: Look, demo: Served) -> None:
    """On paper there is the transcript, and nothing to press."""
    page = look.at(demo, BASE)
    page.emulate_media(media="print")
    expect(page.locator("#L43")).to_be_visible()
    for gone in (".tree", ".find", ".theme", ".tabs", ".ask"):
        expect(page.locator(gone).first).not_to_be_visible()
