"""Auditing a report against the sessions behind it: its form, and what the sessions bear out.

    from pi_sessions import load
    from pi_sessions.audit import audit

    result = audit(report, [load("session.jsonl")], brief=brief)

Every finding has a judgement, the line of the report, and the words it stands on; docs/auditing.md
tells what is looked at and what a program cannot judge.
"""

from __future__ import annotations

from pi_sessions.audit.auditing import audit as audit
from pi_sessions.audit.findings import Audit as Audit
from pi_sessions.audit.findings import Evidence as Evidence
from pi_sessions.audit.findings import Finding as Finding
from pi_sessions.audit.findings import Judgement as Judgement
from pi_sessions.audit.findings import Part as Part
from pi_sessions.audit.findings import Standing as Standing
from pi_sessions.audit.findings import Writer as Writer
from pi_sessions.audit.profile import Profile as Profile
