"""Physical lines: what separates them, which are blank, and bytes that are no text."""

from __future__ import annotations

from pi_sessions.testing import SessionBuilder

TALK = SessionBuilder()
FIRST = TALK.user("Name an apple.")
LAST = TALK.assistant("Cox.")
HEADER, QUESTION, ANSWER = TALK.data.splitlines(keepends=True)


def between(line: bytes, end: bytes = b"\n") -> bytes:
    """Put a line between question and answer."""
    return HEADER + QUESTION + line + end + ANSWER


def said(raw: bytes) -> bytes:
    """Put bytes into the text of the question."""
    return HEADER + QUESTION.replace(b"an apple", raw) + ANSWER


VECTORS = {
    "blank": ("Empty lines and lines of spaces hold nothing.", between(b"\n  \n\t")),
    "blank-first": ("Blank lines may stand before the header.", b"\n \n" + TALK.data),
    "blank-nbsp": ("A line of one no-break space is blank.", between(b"\xc2\xa0")),
    "blank-em-space": ("A line of one em space is blank.", between(b"\xe2\x80\x83")),
    "blank-mark": ("A line of one byte order mark is blank.", between(b"\xef\xbb\xbf")),
    "blank-next-line": ("U+0085 is no white space: the line is malformed.", between(b"\xc2\x85")),
    "blank-form-feed": ("A line of vertical tab and form feed is blank.", between(b"\x0b\x0c")),
    "before-space": ("Space and tab before an object do no harm.", HEADER + b" \t" + QUESTION),
    "before-nbsp": (
        "A no-break space before an object breaks it.",
        HEADER + b"\xc2\xa0" + QUESTION + ANSWER,
    ),
    "before-form-feed": (
        "A form feed before an object breaks it.",
        HEADER + b"\x0c" + QUESTION + ANSWER,
    ),
    "before-mark": (
        "A byte order mark before a later object breaks it.",
        HEADER + b"\xef\xbb\xbf" + QUESTION + ANSWER,
    ),
    "mark-first": (
        "A byte order mark at the start makes the file no session.",
        b"\xef\xbb\xbf" + TALK.data,
    ),
    "mark-first-then-header": (
        "After a marked header a second one is the first.",
        b"\xef\xbb\xbf" + HEADER + TALK.data,
    ),
    "mark-alone-first": (
        "A byte order mark on a line of its own is blank.",
        b"\xef\xbb\xbf\n" + TALK.data,
    ),
    "crlf": ("Lines may end in CR LF.", TALK.data.replace(b"\n", b"\r\n")),
    "crlf-mixed": (
        "Some lines end in CR LF, a blank one too.",
        HEADER + b"\r\n" + QUESTION.replace(b"\n", b"\r\n") + ANSWER,
    ),
    "cr-only": (
        "CR alone ends no line: the file is one broken line.",
        TALK.data.replace(b"\n", b"\r"),
    ),
    "cr-inside": (
        "CR between two objects makes one broken line.",
        HEADER + QUESTION[:-1] + b"\r" + ANSWER,
    ),
    "nul-line": ("A line of NUL bytes is malformed.", between(b"\0\0\0\0")),
    "nul-after": (
        "NUL bytes after an object break it.",
        HEADER + QUESTION[:-1] + b"\0\0\n" + ANSWER,
    ),
    "nul-tail": ("NUL bytes at the end are a torn line.", TALK.data + b"\0" * 16),
    "raw-control-inside": ("A raw control character in a text breaks the line.", said(b"a\x01b")),
    "raw-tab-inside": ("A raw tab in a text breaks the line.", said(b"a\tb")),
    "raw-newline-inside": ("A raw newline in a text makes two broken lines.", said(b"a\nb")),
    "delete-inside": ("U+007F may stand in a text.", said(b"a\x7fb")),
    "u2028-inside": ("U+2028 in a text separates nothing.", said("a\u2028b".encode())),
    "u2029-inside": (
        "U+2029 and U+0085 in a text separate nothing.",
        said("a\u2029b\u0085c".encode()),
    ),
    "u2028-line": ("A line of U+2028 is blank.", between("\u2028".encode())),
    "torn-tail": ("The last line is cut off.", TALK.data[:-40]),
    "torn-first-byte": ("Of the last line one byte is there.", TALK.data + b"{"),
    "torn-tail-utf8": (
        "The last line ends in the middle of a character.",
        TALK.data + b'{"type":"custom","data":"\xc3',
    ),
    "torn-then-fused": (
        "A torn line and a whole one share a line.",
        HEADER + QUESTION[:60] + ANSWER,
    ),
    "fused-whole": (
        "Two whole objects on one line are malformed.",
        HEADER + QUESTION[:-1] + ANSWER + ANSWER,
    ),
    "no-final-newline": ("The last line counts without its newline.", TALK.data[:-1]),
    "spaces-at-end": ("Spaces without a newline at the end are blank.", TALK.data + b"   "),
    "two-final-newlines": ("An empty line at the end holds nothing.", TALK.data + b"\n"),
    "invalid-byte": ("A byte that starts nothing reads as U+FFFD.", said(b"a\xffb")),
    "invalid-surrogate": ("An encoded surrogate reads as three U+FFFD.", said(b"a\xed\xa0\xbdb")),
    "invalid-overlong": ("An overlong slash reads as two U+FFFD.", said(b"a\xc0\xafb")),
    "invalid-cut-short": ("A cut-off character reads as one U+FFFD.", said(b"a\xe2\x82b")),
    "invalid-beyond": (
        "A code point beyond U+10FFFF reads as four U+FFFD.",
        said(b"a\xf4\x90\x80\x80b"),
    ),
    "invalid-continuation": (
        "Continuation bytes alone read as one U+FFFD each.",
        said(b"a\x80\xbfb"),
    ),
    "invalid-in-id": (
        "A bad byte in an id is part of the id.",
        TALK.data.replace(b'"00000001"', b'"0000\xff001"'),
    ),
    "invalid-line": ("A line of bad bytes is malformed.", between(b"\xff\xfe\xfa")),
    "empty-file": ("A file without a byte is no session.", b""),
    "blank-file": ("A file of white space is no session.", b" \n\n\t\n"),
    "header-only": ("A header alone is a session without entries.", HEADER),
    "malformed-between": (
        "After a broken line its children have no parent.",
        HEADER + QUESTION[:-9] + b"\n" + ANSWER,
    ),
}
