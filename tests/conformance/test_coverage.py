"""Every diagnostic code and every reason is shown by a vector."""

from __future__ import annotations

from pathlib import Path

from pi_sessions import Code, NotASessionError, Reason, load

VECTORS = sorted((Path(__file__).parent / "vectors").glob("*/*.jsonl"))


def test_every_code_and_every_reason_has_a_vector() -> None:
    """The closed lists hold nothing that nobody has seen."""
    codes: set[Code] = set()
    reasons: set[Reason] = set()
    for path in VECTORS:
        try:
            session = load(path)
        except NotASessionError:
            continue
        codes |= {diagnostic.code for diagnostic in session.check()}
        points = [{}, *({"response": reply} for reply in session.responses[:4])]
        for point in points:
            explanation = session.explain(**point)
            reasons |= {explanation.reason(n) for n in range(1, len(session.table) + 1)}

    assert set(Code) == codes
    assert set(Reason) == reasons
