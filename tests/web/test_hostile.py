"""Nothing of a session becomes markup: two hundred hostile texts in every place, in every view."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from web.conftest import Look, Served
from web.hostile import INPUTS, session

if TYPE_CHECKING:
    from playwright.sync_api import Page

Serve = Callable[..., Served]
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
    assert len(INPUTS) >= 150


def test_the_census_finds_faults(look: Look, demo: Served) -> None:
    """Or it would prove nothing."""
    page = look.at(demo)
    page.evaluate("document.body.append(document.createElement('video'))")
    page.evaluate("document.body.firstElementChild.setAttribute('srcset', 'x')")
    page.evaluate("document.querySelector('a').setAttribute('href', 'javascript:1')")
    assert len(page.evaluate(CENSUS)) == 3


@pytest.mark.parametrize("javascript", [True, False])
def test_every_view(look: Look, served: Serve, javascript: bool) -> None:
    """The whole transcript window by window, and all other views."""
    data = session(INPUTS)
    running = served(data)
    page = look.at(running, javascript=javascript)
    base = page.url.removeprefix(running.address).split("?")[0]
    faults: list[Any] = []
    total = data.count(b"\n") + 1
    views = [f"{base}?from={line}" for line in range(1, total, 60)]
    views += [f"{base}/reply?n={number}" for number in range(1, len(INPUTS), 25)]
    views += [f"{base}/{view}" for view in ("prompt", "usage", "health", "saw", "next")]
    views += [
        f"{base}/saw?q={quote(text.encode('utf-8', 'replace')[:300])}" for text in INPUTS[::16]
    ]
    views += [f"/search?q={quote(text.encode('utf-8', 'replace')[:300])}" for text in INPUTS[::16]]
    views += [f"{base}/raw/{line}" for line in range(1, total, 40)]
    views += ["/sessions"]
    for view in views if javascript else views[::5]:
        page.goto(running(view))
        if javascript:
            checked(page, faults)
        else:
            assert page.locator("body").count() == 1
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
