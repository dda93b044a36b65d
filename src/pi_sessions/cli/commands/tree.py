"""Draw the branches of a session, as Pi's /tree does: labels, the live path, and verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions.cli import arguments as shared
from pi_sessions.cli import output
from pi_sessions.cli.marks import MARKS
from pi_sessions.cli.paper import Paper
from pi_sessions.excerpt import excerpt, one_line
from pi_sessions.table import FIRST_OTHER

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pi_sessions.context.explain import Explanation
    from pi_sessions.session import Session


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    shared.add_point(parser)
    parser.add_argument("--all", action="store_true", help="bookkeeping entries as well")
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = shared.open_session(args)
    if args.json:
        explanation = session.explain(args.leaf, response=args.response, stage="projection")
        output.write_json(document(session, explanation))
    else:
        _print(args, session, session.explain(args.leaf, response=args.response))
    return 0


def document(session: Session, explanation: Explanation) -> dict[str, Any]:
    """Make the JSON document of a tree: flat, in file order."""
    table, tree = session.table, session.tree
    on_path = set(explanation.point.path)
    copies: dict[int, list[int]] = {}
    for line, last in table.shadowed.items():
        copies.setdefault(last, []).append(line)
    entries = [
        {
            "line": line,
            "lines": sorted([*copies.get(line, ()), line]),
            "id": table.ids[line],
            "parentId": table.ids[table.parents[line]] if table.parents[line] > 0 else None,
            "children": [table.ids[child] for child in tree.children(line)],
            "type": table.type_of(line),
            "role": table.role_of(line),
            "label": session.labels.get(table.ids[line]) if _is_text(table.ids[line]) else None,
            "excerpt": excerpt(table, line),
            "onBranch": line in on_path,
        }
        for line in table.entries()
        if line not in table.shadowed
    ]
    leaf = explanation.point.leaf
    return {
        "leaf": table.ids[leaf] if leaf else None,
        "roots": [table.ids[root] for root in tree.roots if table.kinds[root] < FIRST_OTHER],
        "entries": entries,
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str)


QUIET = frozenset(
    {"model_change", "thinking_level_change", "label", "session_info", "custom", "usage"}
)
"""Types the tree leaves out unless asked, as Pi's own does by default."""


def _print(args: argparse.Namespace, session: Session, explanation: Explanation) -> None:
    paper = Paper(color=not args.no_color)
    table = session.table
    on_path = set(explanation.point.path)
    hidden = 0
    for line, rails in _rows(session):
        if table.kinds[line] >= FIRST_OTHER:
            continue
        label = session.labels.get(table.ids[line]) if _is_text(table.ids[line]) else None
        if table.type_of(line) in QUIET and not (args.all or label):
            hidden += 1
            continue
        sign, style = MARKS[explanation.verdict(line)]
        live = line in on_path
        look = "" if live else "dim"
        paper.row(
            (f"{line:>6} ", "dim"),
            (f"{sign} ", style),
            (rails, "dim"),
            ("• " if live else "◦ ", "bold" if live else "dim"),
            ("← leaf · " if line == explanation.point.leaf else "", "bold"),
            (f"[{one_line(label, 40)}] " if label else "", "magenta"),
            (f"{one_line(table.role_of(line) or table.type_of(line) or '', 20)}: ", "cyan"),
            (excerpt(table, line), look),
        )
    paper.row(("● sent  ◐ changed  ○ not sent · • on the live path  ◦ off it", "dim"))
    if hidden:
        paper.row((f"{hidden} bookkeeping entries not shown; --all shows them", "dim"))


def _rows(session: Session) -> Iterator[tuple[int, str]]:
    """Give each entry with the rails before it; a branch is drawn before the one that goes on."""
    tree, limit = session.tree, 24
    stack: list[tuple[int, str, str]] = [(root, "", "") for root in reversed(tree.roots)]
    while stack:
        line, rails, joint = stack.pop()
        yield line, rails[-3 * limit :] + joint
        children = tree.children(line)
        below = rails + ("" if not joint else "   " if joint.startswith("└") else "│  ")
        if len(children) == 1:
            stack.append((children[0], below, ""))
            continue
        for n, child in reversed(list(enumerate(children))):
            stack.append((child, below, "└─ " if n == len(children) - 1 else "├─ "))
