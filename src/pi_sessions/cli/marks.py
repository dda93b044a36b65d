"""How the three verdicts look in a terminal: a sign and a word, and only then a colour."""

from pi_sessions.context.message import Verdict

MARKS = {
    Verdict.SENT: ("●", "green"),
    Verdict.CHANGED: ("◐", "yellow"),
    Verdict.NOT_SENT: ("○", "dim"),
}
"""Sign and style of each verdict."""

WORDS = {Verdict.SENT: "sent", Verdict.CHANGED: "changed", Verdict.NOT_SENT: "not sent"}
"""Word of each verdict."""
