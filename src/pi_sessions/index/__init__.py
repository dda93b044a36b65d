"""What stores hold, kept in a cache so that an answer need not read all files again.

A cache only: it can be deleted at any time, each file is looked at before an answer is given from
it, and whatever is in doubt is read again. All answers are those that come without it.
"""

from pi_sessions.index.database import Cache
from pi_sessions.index.listing import kept, summaries
from pi_sessions.index.looking import Answer, known, search

__all__ = ["Answer", "Cache", "kept", "known", "search", "summaries"]
