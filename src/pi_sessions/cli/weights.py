"""What a request weighs, for a person and as JSON: a bar of its parts and its largest blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.context.tokens import Weight, by_part
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_sessions.cli.paper import Paper
    from pi_sessions.context.asking import Weighed

LARGEST = 10
"""Blocks that are told one by one."""
_BAR = 60
"""Columns of the bar."""
_SIGNS = "█▓▒░▞▚▤▥▦▧▨▩"
_STYLES = ("green", "cyan", "yellow", "magenta", "red", "bold")


def document(weighed: Weighed) -> dict[str, Any]:
    """Make the JSON of what a request weighs; numbers are tokens."""
    ids = weighed.ids
    return {
        "counted": weighed.counted,
        "estimated": weighed.estimated,
        "reported": weighed.reported,
        "parts": [
            {"part": part, "tokens": round(tokens)}
            for part, tokens in by_part(weighed.weights).items()
        ],
        "blocks": [
            {
                "part": weight.part,
                "line": weight.line,
                "id": ids[weight.line] if weight.line else None,
                "tokens": round(weight.tokens),
                "excerpt": one_line(weight.text),
            }
            for weight in weighed.weights
        ],
    }


def show(paper: Paper, weighed: Weighed) -> None:
    """Write the bar, a row for each part and the largest blocks."""
    reported = weighed.reported
    beside = "none reported" if reported is None else f"{reported:,.0f} reported"
    told = f"about {weighed.counted:,} tokens in this request"
    paper.row((told, "bold"), (f" · Pi's estimate {weighed.estimated:,.0f} · {beside}", "dim"))
    parts = sorted(by_part(weighed.weights).items(), key=lambda part: -part[1])
    total = sum(tokens for _, tokens in parts) or 1
    looks = [(_SIGNS[n % len(_SIGNS)], _STYLES[n % len(_STYLES)]) for n in range(len(parts))]
    widths = _shares([tokens for _, tokens in parts], min(_BAR, paper.width))
    bar = zip(looks, widths, strict=True)
    paper.row(*((sign * width, style) for (sign, style), width in bar))
    for (part, tokens), (sign, style) in zip(parts, looks, strict=True):
        paper.row(
            (f"{sign} ", style),
            (f"{one_line(part, 28):<28} ", ""),
            (f"{round(tokens):>10,} ", ""),
            (f"{100 * tokens / total:>5.1f} %", "dim"),
        )
    largest = sorted(weighed.weights, key=lambda weight: -weight.characters)[:LARGEST]
    paper.row(("the largest blocks", "bold"))
    for weight in largest:
        _row(paper, weight)


def _row(paper: Paper, weight: Weight) -> None:
    paper.row(
        (f"{weight.line or '-':>6} ", "dim"),
        (f"{round(weight.tokens):>8,}  ", ""),
        (f"{one_line(weight.part, 20):<20} ", "cyan"),
        (one_line(weight.text), ""),
    )


def _shares(amounts: Sequence[float], width: int) -> list[int]:
    """Divide a width as the amounts are: whole columns that add up to it."""
    total = sum(amounts)
    ends, before = [], 0.0
    for amount in amounts:
        before += amount
        ends.append(round(width * before / total) if total else 0)
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]
