"""The page that stands alone, in a real browser: hostile sessions, requests, no script, access."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from conftest import REQUIRED, ROOT
from export.test_html import long_session
from pi_sessions import Verdict, load, loads
from pi_sessions.audit import audit
from pi_sessions.export import Options, chunks
from pi_sessions.export.html_audit import chunks as audited
from pi_sessions.export.html_pages import files
from pi_sessions.render import states
from pi_sessions.session import Session
from web.hostile import INPUTS, session

DEMO = ROOT / "examples/demo/session.jsonl"
RECORDING = ROOT / "tests/audit/recordings/report-error-page"
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
CENSUS = """() => {
  const found = [];
  const links = /^(https?:\\/\\/|mailto:|[^:]*([?#\\/]|$)|p\\d+\\.html#)/i;
  const images = /^data:image\\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+\\/]+=*$/;
  const never = new Set(`iframe object embed base video audio source math form input template frame
    animate use foreignobject textarea x applet svg`.split(/\\s+/));
  const own = new Set(["style", "script", "link", "title"]);
  for (const each of document.querySelectorAll("*")) {
    const name = each.localName;
    if (never.has(name) || name.startsWith("ſ")) found.push(`element ${name}`);
    if (own.has(name) && each.closest("article, main, nav")) found.push(`${name} in content`);
    for (const { name: key, value } of each.attributes) {
      const told = `${name} ${key}=${value.slice(0, 80)}`;
      if (key.startsWith("on") || ["style", "srcset", "srcdoc"].includes(key)) found.push(told);
      if (key === "href" && !links.test(value) && value !== "data:,") found.push(told);
      if (key === "src" && !images.test(value)) found.push(told);
    }
  }
  if (window.hit) found.push("a script of the session ran");
  return found;
}"""

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The system's browser; needed where nothing may be missing."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
    if path is None:
        if REQUIRED:
            pytest.fail("there is no chromium, and nothing may be missing here")
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def look(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    """Open a page; no script may fail, and nothing outside of it may be asked for."""
    faults: list[str] = []

    def look_at(
        page: bytes | Path,
        at: str = "",
        *,
        width: int = 1400,
        theme: Any = "light",
        javascript: bool = True,
    ) -> Page:
        if isinstance(page, bytes):
            path = tmp_path / "page.html"
            path.write_bytes(page)
        else:
            path = page
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,
            java_script_enabled=javascript,
        )
        opened = context.new_page()
        opened.set_default_timeout(20_000)
        opened.on(
            "console", lambda told: faults.append(told.text) if told.type == "error" else None
        )
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.on("dialog", lambda dialog: (faults.append("a dialog"), dialog.dismiss()))
        opened.on(
            "request",
            lambda asked: (
                None if asked.url.startswith(("file:", "data:image/")) else faults.append(asked.url)
            ),
        )
        opened.goto(f"{path.as_uri()}{at}")
        return opened

    yield look_at
    for context in chromium.contexts:
        context.close()
    assert faults == []


def written(made: Session, **options: Any) -> bytes:
    return b"".join(chunks("html", made, Options(**options)))


def opened(page: Page) -> None:
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")


def test_hostile_sessions(look: Open) -> None:
    """Two hundred hostile texts in every place: none becomes markup, none runs, none calls home."""
    made = loads(session(INPUTS))
    page = look(written(made))
    opened(page)
    assert page.evaluate(CENSUS) == []
    for reply in list(made.responses)[::90]:
        page.goto(f"{page.url.partition('#')[0]}#at-{reply.line}")
        page.wait_for_selector("#saw h1")
        assert page.evaluate(CENSUS) == []


def test_hostile_pages(look: Open, tmp_path: Path) -> None:
    made = loads(session(INPUTS))
    for name, parts in files(made, Options()):
        (tmp_path / name).write_bytes(b"".join(parts))
    for name in ("index.html", "p0002.html"):
        page = look(tmp_path / name)
        opened(page)
        assert page.evaluate(CENSUS) == []


def test_hostile_reports(look: Open) -> None:
    """The report is as little to be trusted as the session."""
    made = loads(session(INPUTS[:60]))
    report = "\n\n".join(f"## {n}. {text}\n\n> {text}" for n, text in enumerate(INPUTS, 1))
    found = audit(report, [made], path=INPUTS[0])
    page = look(b"".join(audited(found, report, [made])))
    opened(page)
    assert page.evaluate(CENSUS) == []


def test_requests_on_demand(look: Open) -> None:
    """For each reply the page shows the lines that the verdicts give, and their reasons."""
    made = load(DEMO)
    page = look(written(made))
    for reply in made.responses:
        explanation = made.explain(response=reply)
        had = page.evaluate(f"piSessions.had({reply.line})")
        lines = [entry.line for entry in made.entries]
        told = [n for n in lines if explanation.verdict(n) is not Verdict.NOT_SENT]
        assert sorted(had) == told
        page.goto(f"{page.url.partition('#')[0]}#at-{reply.line}")
        page.wait_for_selector(f"#L{reply.line}[aria-current]")
        shown = page.locator("#saw .blk:not(.made) .from a").all_text_contents()
        assert page.evaluate(f"piSessions.made({reply.line})") == [
            part.text for part in explanation.synthetic
        ]
        assert sorted(int(text[1:]) for text in shown) == told
        tags = dict(page.evaluate(TAGS))
        for line in lines:
            word = states.WORDS[explanation.verdict(line)]
            assert tags[f"L{line}"][2:].startswith(word), (reply.line, line)


TAGS = """() => [...document.querySelectorAll('article.row')].map(
  (each) => [each.id, each.querySelector('.meta > .tag').textContent])"""


def test_from_reply_to_reply(look: Open) -> None:
    page = look(written(load(DEMO)), "#at-18")
    page.wait_for_selector("#saw h1")
    assert "line 18" in (page.locator("#saw .steps").text_content() or "")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("location.hash === '#at-20'")
    assert "Since the reply before, on line 18" in (page.locator(".since").text_content() or "")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("location.hash === '#at-18'")
    before = page.locator("#L12 .tag").first.text_content()
    page.keyboard.press("Escape")
    assert page.locator("#saw").is_hidden()
    assert "next request" in (page.locator("#where").text_content() or "")
    page.locator("#L9 .ask").click()
    page.wait_for_selector("#L9[aria-current]")
    assert before != page.locator("#L12 .tag").first.text_content()


def test_without_a_script(look: Open) -> None:
    """All is there to read; a reply tells which lines it had."""
    page = look(written(load(DEMO)), javascript=False)
    assert page.get_by_text("The harvest total looks too high").count() >= 2
    assert page.locator("article.row").count() == 46
    page.locator("#L46 .ask").click()
    words = page.locator("#L46 .had p").text_content() or ""
    assert words.startswith("Told of ")
    assert page.locator("#L46 .had p").is_visible()


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 1400), ("light", 400)])
def test_access(look: Open, theme: str, width: int) -> None:
    """No fault of level AA, and nothing that is wider than the window."""
    report = (RECORDING / "report.md").read_text("utf-8")
    behind = load(RECORDING / "session.jsonl")
    audit_page = b"".join(audited(audit(report, [behind]), report, [behind]))
    demo = written(load(DEMO))
    for each, at in ((demo, ""), (demo, "#at-44"), (audit_page, "#F1")):
        page = look(each, at, theme=theme, width=width)
        found = Axe().run(page, options=RULES).response["violations"]
        faults = [
            (f["id"], node["target"], node["html"][:90]) for f in found for node in f["nodes"]
        ]
        assert faults == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_pages_in_a_browser(look: Open, tmp_path: Path) -> None:
    """From the index to a prompt, to a request, and to a line of it on another page."""
    for name, parts in files(loads(long_session()), Options()):
        (tmp_path / name).write_bytes(b"".join(parts))
    page = look(tmp_path / "index.html")
    page.get_by_text("Step 300: go on.").click()
    page.wait_for_url("**/p00*.html#L*")
    page.locator("article.k-assistant .ask").last.click()
    page.wait_for_selector("#saw h1")
    page.locator("#saw .blk .from a").first.click()
    page.wait_for_url("**/p0001.html#L*")
    assert page.locator("article:target").count() == 1
