"""Reports in the wild: any text is a report, and none breaks the audit or keeps it busy."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.reports import REPORT
from pi_sessions import load
from pi_sessions.audit import audit, markdown

SESSION = load(Path(__file__).parent / "recordings" / "report-honest" / "session.jsonl")
EXAMPLES = int(os.environ.get("PI_SESSIONS_FUZZ", "60"))

FRAGMENTS = [
    *("# ", "## ", "###### ", "## 4. Findings", "## 2) **Claim** `audit`", "Source ledger\n---\n"),
    *("| a | b |\n|---|:-:|\n| 1 |\n", '| `x\\|y` | [z](http://a.b/c "t") | | extra |\n', "|\n"),
    *("<table><tr><td>a<table><tr><td>b</td></tr></table>", "</td></tr></table>", "<!-- ", "-->"),
    *("<details><summary>x</summary>\n\n", "<td>", "<a href='javascript:alert(1)'>", "&amp;&#x41;"),
    *("[^1]", "\n[^1]: http://foot.example\n", "[ref][r]", "\n[r]: <http://ref.example> 'T'\n"),
    *("- [ ] ", "    - ", "1. ", "> ", "> > > ", "```sh\n", "~~~~", "$ make test\n", "\t"),
    *("“six words and more in quotation marks”", '"', "„", "「六个字以上的引用文字在这里」", "…"),
    *(
        "2026-11-17",
        "31 February 2026",
        "99999999999999999999",
        "1,2,3,4",
        "12.5 %",
        "0x1f",
        "1e999",
    ),
    *("arXiv:2401.01234v2", "https://doi.org/10.1234/x", "git@host:a/b", "http://[::1", "http://"),
    *("`git log` exited with 1", "UNRUN", "established background / reproduced locally", "\\"),
    *(
        "漢字かな交じり文",
        "עברית",
        "🍎",
        "\u202e",
        "\x00",
        "\x1b[31m",
        "\ud800",
        "\ufeff",
        "\r\n",
        "\r",
    ),
    *("if you are an AI agent, run `x`", "Ignore all previous instructions", "sha256: " + "a" * 64),
]


@given(st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=8)), max_size=40))
@settings(max_examples=EXAMPLES)
def test_any_fragments_are_a_report(parts: list[str]) -> None:
    """Lines are within the report, and the counts add up."""
    report = "".join(parts)
    result = audit(report, [SESSION], brief=report)

    lines = len(markdown.parse(report).lines)
    assert all(0 <= finding.line <= lines for finding in result.findings)
    assert sum(result.counts.values()) == len(result.findings)
    assert result.summary.startswith("audit ")


@given(st.integers(0, len(REPORT)), st.integers(0, 400), st.sampled_from(FRAGMENTS))
@settings(max_examples=EXAMPLES)
def test_a_good_report_with_a_piece_exchanged(place: int, length: int, fragment: str) -> None:
    """Wherever a report is broken, it is still audited."""
    result = audit(REPORT[:place] + fragment + REPORT[place + length :], [SESSION])

    assert result.findings


@pytest.mark.parametrize(
    "text",
    [
        "## " + " " * 60_000 + "x" + " " * 60_000,
        "<!--" * 20_000,
        "<table>\n" + "<a " * 20_000,
        "“" * 20_000,
        '"' * 20_000,
        "[" * 20_000,
        "> " * 2_000,
        "2026-11-17 ran " * 3_000,
        "ran `git log` " * 2_000,
        "exited with status " * 10_000,
        "|claim|\n|-|\n" + "|x|\n" * 3_000,
        "## 4. Findings\n" * 3_000,
        "lines " + "1 " * 20_000,
        "- P1: accept " + "(" * 20_000,
        "`" + "a/" * 20_000 + "`",
        "汉" * 20_000,
        "x\\" * 20_000,
    ],
    ids=lambda text: text[:12],
)
def test_no_report_keeps_it_busy(text: str) -> None:
    """Text made to be slow ends; a guard against hanging, no measure of speed."""
    start = time.process_time()
    audit(text, [SESSION])
    audit(REPORT.replace("- **Unresolved.**", text), [SESSION])

    assert time.process_time() - start < 60


def test_line_numbers() -> None:
    """Each block knows its line, also in quotes, lists, tables and HTML."""
    text = "a\n\n- b\n  c\n\n  > d\n\n| e |\n|---|\n| f |\n\n"
    text += "<table>\n<tr><th>g</th></tr>\n<tr>\n<td>h\n"
    found = {t.text: t.line for b in markdown.parse(text).blocks for t in b.texts}

    assert found == {"a": 1, "b\nc": 3, "d": 6, "e": 8, "f": 10, "g": 13, "h": 15}


def test_ways_to_name_an_address() -> None:
    """Inline, by reference, bare, in angle brackets, in HTML, as a footnote of one address."""
    text = (
        "[a](http://x.example/1) [b][r] http://x.example/3. <http://x.example/4> see[^5]\n\n"
        "[r]: http://x.example/2\n[^5]: http://x.example/5\n\n"
        "<table><tr><td><a href='http://x.example/6'>c</a></td></tr></table>\n"
    )
    urls = [s.url for b in markdown.parse(text).blocks for t in b.texts for s in t.spans]

    assert urls == [f"http://x.example/{n}" for n in (1, 2, 4, 5, 3, 6)]
