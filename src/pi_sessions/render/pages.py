"""The templates: all values are escaped, and nothing in a template can switch that off."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pi_sessions.render import figures
from pi_sessions.render.markup import plain

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - start-up

    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
        auto_reload=False,
    )
    for name in ("safe", "forceescape", "xmlattr", "urlize", "tojson"):
        del environment.filters[name]
    environment.globals.clear()
    environment.filters["short"] = figures.short
    environment.filters["money"] = figures.money
    environment.filters["bytes"] = figures.size
    environment.filters["number"] = lambda value: f"{value:,.0f}"
    environment.filters["counted"] = figures.count
    environment.filters["percent"] = lambda share: f"{100 * share:.2f}%"
    return environment


def _visible(value: Any) -> Any:
    """Make what no one sees visible in each text that is put into a template."""
    return plain(value) if type(value) is str else value


def page(template: str, **values: Any) -> str:
    """Fill a template."""
    return _environment().get_template(template).render(**values)


def prepare() -> None:
    """Compile the templates of a session, which its first page would have to wait for."""
    for name in ("session", "strip", "tree", "count", "rows", "row", "saw", "blocks"):
        _environment().get_template(f"{name}.html")


def static(name: str) -> str:
    """Give a file that goes with the pages: `page.css` or `page.js`."""
    return (HERE / "static" / name).read_text("utf-8")
