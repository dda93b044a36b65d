"""Taking out of a session what is not to be shared, and leaving its structure as it was.

    redaction = Redaction(session)
    [(secret.kind, secret.lines) for secret in redaction.secrets]
    shared = redaction.result()

Ids, types, times, names of tools and models stay, so the new session has the same tree, and every
line of it the same verdict.
"""

from pi_sessions.redact.rewriting import Redaction, find_secrets

__all__ = ["Redaction", "find_secrets"]
