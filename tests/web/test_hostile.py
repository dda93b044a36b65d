"""Nothing of a session becomes markup: two hundred hostile texts in every place, in every view."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pi_sessions import load
from pi_sessions.audit import audit
from pi_sessions.web.site import Audited
from web.conftest import Look, Served
from web.hostile import INPUTS, PLAIN, session, twin

if TYPE_CHECKING:
    from playwright.sync_api import Page

Serve = Callable[..., Served]
STEP = 1 if os.environ.get("PI_SESSIONS_HOSTILE") else 4
"""Which of the views that are alike are looked at: the first, and each so many further."""
CENSUS = """() => {
  const found = [];
  const links = /^(https?:\\/\\/|mailto:|[^:]*([?#\\/]|$))/i;
  const images = /^data:image\\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+\\/]+=*$/;
  const own = new Set(["script", "link", "meta", "form", "input", "button", "select", "option"]);
  const never = new Set(["iframe", "object", "embed", "base", "style", "video", "audio", "source",
    "math", "template", "frame", "animate", "use", "foreignobject", "textarea", "x", "applet"]);
  for (const each of document.querySelectorAll("*")) {
    const name = each.localName;
    if (never.has(name) || name.startsWith("ſ")) found.push(`element ${name}`);
    const inside = each.closest("article, .said, .told, pre, .quote, .section, dd, li p");
    if (own.has(name) && inside && !each.closest(".cmd"))
      found.push(`element ${name} inside of content`);
    for (const attribute of each.attributes) {
      const key = attribute.name, value = attribute.value;
      if (key.startsWith("on") || key === "style" || key === "srcset" || key === "srcdoc")
        found.push(`${name} ${key}=${value.slice(0, 80)}`);
      const leads = ["href", "action", "formaction", "xlink:href"].includes(key);
      if (leads && !links.test(value) && value !== "data:,")
        found.push(`${name} ${key}=${value.slice(0, 80)}`);
      const isOwn = name === "script" && value.startsWith("/static/");
      if (key === "src" && !isOwn && !images.test(value))
        found.push(`${name} src=${value.slice(0, 80)}`);
    }
  }
  if (window.hit) found.push("a script of the session ran");
  return found;
}"""


def checked(page: Page, faults: list[Any]) -> None:
    """Count what may not be on a page."""
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    faults += [(page.url, told) for told in page.evaluate(CENSUS)]


def test_two_hundred() -> None:
    assert len(INPUTS) >= 200


def test_the_census_finds_faults(look: Look, demo: Served) -> None:
    """Or it would prove nothing."""
    page = look.at(demo)
    page.evaluate("document.body.append(document.createElement('video'))")
    page.evaluate("document.body.firstElementChild.setAttribute('srcset', 'x')")
    page.evaluate("document.querySelector('a').setAttribute('href', 'javascript:1')")
    assert len(page.evaluate(CENSUS)) == 3


def test_every_view(look: Look, served: Serve) -> None:
    """The whole transcript window by window, and all other views."""
    data = session(INPUTS)
    running = served(data)
    page = look.at(running)
    base = page.url.removeprefix(running.address).split("?")[0]
    faults: list[Any] = []
    total = data.count(b"\n") + 1
    asked = [quote(text.encode("utf-8", "replace")[:300]) for text in INPUTS[:: 24 * STEP]]
    views = [f"{base}?from={line}" for line in range(1, total, 60)]
    views += [f"{base}/reply?n={number}" for number in range(1, len(INPUTS), 25 * STEP)]
    views += [f"{base}/{view}" for view in ("prompt", "usage", "health", "saw", "next")]
    views += [f"{base}/saw?q={text}" for text in asked]
    views += [f"/search?q={text}" for text in asked]
    views += [f"{base}/raw/{line}" for line in range(1, total, 60 * STEP)]
    views += ["/sessions", "/usage"]
    for view in views:
        page.goto(running(view))
        checked(page, faults)
    assert faults == []


def test_the_palette_shows_text(look: Look, served: Serve) -> None:
    page = look.at(served(session(INPUTS)))
    faults: list[Any] = []
    for text in ("<img", "<script", "javascript"):
        page.keyboard.press("Control+k")
        page.keyboard.type(text)
        page.wait_for_selector("[role=option]")
        checked(page, faults)
        page.keyboard.press("Escape")
    assert faults == []


COUNTED = """() => {
  const found = {};
  for (const each of document.querySelectorAll("*")) {
    const name = each.localName;
    // Code is coloured by its signs.
    if (name === "span" && (each.closest("pre") || !each.className)) continue;
    found[name] = (found[name] || 0) + 1;
  }
  return found;
}"""
"""Counts the elements of a page, but for those that colour code."""


def test_elements_are_those_of_harmless_twins(look: Look, served: Serve) -> None:
    """Texts with the signs of HTML make no element more and none less than texts without."""
    counted: list[list[dict[str, int]]] = []
    data = session(PLAIN)
    for texts in (PLAIN, tuple(map(twin, PLAIN))):
        # The script would fill the page with more lines while it is counted.
        page = look.at(served(session(texts)), javascript=False)
        base = page.url.split("?")[0]
        views = [f"{base}?from={line}" for line in range(1, data.count(b"\n"), 200)]
        views += [f"{base}/{view}" for view in ("next", "prompt", "usage", "health")]
        views += [page.url.split("/session/")[0] + "/sessions"]
        counts = []
        for view in views:
            page.goto(view)
            counts.append(page.evaluate(COUNTED))
        counted.append(counts)
    assert counted[0] == counted[1]


def test_an_audit_shows_text(look: Look, served: Serve, tmp_path: Path) -> None:
    """A report is as hostile as a session."""
    path = tmp_path / "hostile.jsonl"
    path.write_bytes(session(INPUTS))
    report = "# Report\n\n" + "\n\n".join(f'Seen: "{text}" [S1]' for text in INPUTS)
    result = audit(report, [load(path)], path=f"{INPUTS[0]}.md")
    page = look.at(served(audited=Audited(result, report)))
    faults: list[Any] = []
    checked(page, faults)
    assert faults == []
    assert page.locator(".finding").count() == len(result.findings)
