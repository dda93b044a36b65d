"""A small report written by hand, good in every part; tests break one part of it each."""

from __future__ import annotations

REPORT = """\
# The harvest file

## 1. Context and provenance

Chapter 3 of the orchard's manual, as supplied in the brief. Today is 2026-11-17. No network limits.

## 2. Claim audit

| id | claim (where) | current evidence | concern | priority | proposed response |
|---|---|---|---|---|---|
| C1 | The total counts late rows twice (Totals) | Reported by a source: [S1] | None | low | Keep |
| C2 | Rows are kept by date (Rows) | Own hypothesis | Not shown | high | Clarify |

## 3. Source ledger

| id | identity | verified metadata | URL | reading status | claims | limitations | accessed |
|---|---|---|---|---|---|---|---|
| S1 | The program | One file | `orchard.py` | full text | C1 | A small one | 2026-11-17 |

## 4. Findings

- **Supporting.** The sum is made in one loop over all rows of the file [S1].
- **Unresolved.** Nothing tells the order of the rows (C2).

## 5. Upgrade proposal

- P1: say in "Rows" that the order is that of picking. Reason: C2. No other resource changes.

## 6. Experiment opportunities

- **Order.** Method: shuffle the file and print the total. Success: the total is the same. Failure:
  it differs. UNRUN.

## 7. Review checklist

- P1: accept, because a reader has to know it.
"""
