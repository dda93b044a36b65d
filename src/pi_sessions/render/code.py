"""Source code with its words told apart; what is too long to be worth it stays as it is."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pi_sessions.render.markup import Markup, Writer

if TYPE_CHECKING:
    from pygments.lexer import Lexer  # type: ignore[import-untyped]

LONGEST = 12_000
"""Characters that are told apart; colouring costs two microseconds each, and elements."""

_BY_SUFFIX = {
    "py": "python",
    "js": "javascript",
    "mjs": "javascript",
    "ts": "typescript",
    "tsx": "tsx",
    "jsx": "jsx",
    "json": "json",
    "jsonl": "json",
    "sh": "bash",
    "rs": "rust",
    "go": "go",
    "c": "c",
    "h": "c",
    "cpp": "cpp",
    "java": "java",
    "rb": "ruby",
    "css": "css",
    "html": "html",
    "yml": "yaml",
    "yaml": "yaml",
    "toml": "toml",
    "sql": "sql",
    "diff": "diff",
}
_KNOWN = frozenset(_BY_SUFFIX.values()) | {
    *("shell", "zsh", "console", "js", "ts", "py", "kotlin", "swift", "php", "lua", "perl", "r"),
    *("scala", "xml", "ini", "make", "dockerfile", "docker", "graphql", "markdown", "md"),
    *("haskell", "elixir", "clojure", "zig", "nix", "cs", "csharp"),
}


def language_of(path: object) -> str:
    """Name the language of a file by the end of its name, "" where it is not known."""
    if not isinstance(path, str):
        return ""
    return _BY_SUFFIX.get(path.rpartition(".")[2].lower(), "")


def highlighted(text: str, language: str) -> Markup:
    """Give code as it goes into a `pre`."""
    writer = Writer()
    lexer = _lexer(language.lower()) if language and len(text) <= LONGEST else None
    if lexer is None:
        writer.add(text)
        return writer.done()
    open_class, pending = "", ""
    for _, kind, part in lexer.get_tokens_unprocessed(text):
        named = _class(kind)
        if named == open_class or part.isspace():
            pending += part
            continue
        _put(writer, open_class, pending)
        open_class, pending = named, part
    _put(writer, open_class, pending)
    return writer.done()


def _put(writer: Writer, named: str, text: str) -> None:
    if named and text:
        writer.open("span", class_=named)
        writer.add(text)
        writer.close("span")
    elif text:
        writer.add(text)


@cache
def _lexer(language: str) -> Lexer | None:
    if language not in _KNOWN:
        return None
    from pygments.lexers import (  # type: ignore[import-untyped]  # noqa: PLC0415 - start-up
        get_lexer_by_name,
    )
    from pygments.util import (  # type: ignore[import-untyped]  # noqa: PLC0415 - start-up
        ClassNotFound,
    )

    try:
        return get_lexer_by_name(language, ensurenl=False, stripnl=False)
    except ClassNotFound:
        return None


@cache
def _class(kind: Any) -> str:
    """Give one of six classes: more would be more elements than the eye tells apart."""
    from pygments.token import (  # type: ignore[import-untyped]  # noqa: PLC0415 - start-up
        Comment,
        Generic,
        Keyword,
        Name,
        Number,
        String,
    )

    table = (
        (Comment, "c-com"),
        (String, "c-str"),
        (Number, "c-num"),
        (Keyword, "c-key"),
        (Name.Function, "c-fun"),
        (Name.Class, "c-fun"),
        (Name.Tag, "c-key"),
        (Generic.Inserted, "c-ins"),
        (Generic.Deleted, "c-del"),
    )
    return next((name for parent, name in table if kind in parent), "")
