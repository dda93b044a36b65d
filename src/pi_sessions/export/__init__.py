"""A session in another form: the same input and options always give the same bytes.

Each format is a module with one function, `chunks(session, options)`, which gives the bytes piece
by piece; the table of them is in `formats`. Nothing here writes a file but `destination`.
"""

from pi_sessions.export.formats import FORMATS, Format, chunks
from pi_sessions.export.options import Options

__all__ = ["FORMATS", "Format", "Options", "chunks"]
