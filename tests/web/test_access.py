"""No fault of accessibility of level AA in any view, in both themes and on a narrow page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from pi_sessions import load
from pi_sessions.audit import audit
from pi_sessions.web.site import Audited
from web.conftest import DEMO_ID, Look, Served

BASE = f"/session/{DEMO_ID}"
VIEWS = [
    BASE,
    f"{BASE}/next",
    f"{BASE}/reply?n=9",
    f"{BASE}/saw?q=harvest",
    f"{BASE}/prompt",
    f"{BASE}/usage",
    f"{BASE}/health",
    f"{BASE}/raw/15",
    "/sessions",
    "/search?q=harvest",
    "/nothing",
]
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}


def options(*only: str) -> dict[str, Any]:
    """Say which rules are held to: the level AA, or some alone."""
    return {"runOnly": {"type": "rule", "values": list(only)}} if only else RULES


@pytest.mark.parametrize(
    ("theme", "width", "views", "rules"),
    [
        ("light", 1400, VIEWS, ()),
        ("dark", 1400, VIEWS, ("color-contrast",)),
        ("light", 400, VIEWS[:4], ("color-contrast", "scrollable-region-focusable")),
    ],
)
def test_no_fault(
    look: Look, demo: Served, theme: str, width: int, views: list[str], rules: tuple[str, ...]
) -> None:
    page = look.at(demo, BASE, theme=theme, width=width)
    faults: list[Any] = []
    for view in views:
        page.goto(demo(view))
        found = Axe().run(page, options=options(*rules)).response["violations"]
        faults += [
            (view, each["id"], node["target"], node["any"][:1] and node["any"][0]["message"])
            for each in found
            for node in each["nodes"][:4]
        ]
    look.faults = [told for told in look.faults if "404" not in told]
    assert faults == []


def test_dialogs(look: Look, demo: Served) -> None:
    page = look.at(demo, BASE)
    for key in ("Control+k", "?"):
        page.keyboard.press(key)
        if key == "Control+k":
            page.keyboard.type("harvest")
            page.wait_for_selector("[role=option]")
        found = Axe().run(page, options=RULES).response["violations"]
        assert [(each["id"], each["nodes"][0]["target"]) for each in found] == []
        page.keyboard.press("Escape")


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 400)])
def test_store_and_audit(look: Look, served: Any, tmp_path: Path, theme: str, width: int) -> None:
    """The views that need more than one session, or a report; nothing is wider than the page."""
    folder = Path(__file__).parent.parent / "audit" / "recordings" / "report-blurred"
    (tmp_path / "store").mkdir()
    for name in ("report-blurred", "report-honest"):
        data = (folder.parent / name / "session.jsonl").read_bytes()
        (tmp_path / "store" / f"{name}.jsonl").write_bytes(data)
    report = (folder / "report.md").read_text()
    result = audit(report, [load(folder / "session.jsonl")], path="report.md")
    running = served(root=tmp_path / "store", audited=Audited(result, report))
    page = look.at(running, theme=theme, width=width)
    faults: list[Any] = []
    for view in ("/audit", "/usage", "/sessions?model=x", "/sessions?sort=cost", "/search?q=row"):
        page.goto(running(view))
        found = Axe().run(page, options=RULES).response["violations"]
        faults += [(view, each["id"], each["nodes"][0]["target"]) for each in found]
        wider = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        faults += [(view, "wider by", wider)] if wider > 0 else []
    assert faults == []
