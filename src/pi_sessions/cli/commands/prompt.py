"""Print the system prompt and the tools in force at a point, and the line of each part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_sessions._javascript import string
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import output
from pi_sessions.cli.paper import Paper
from pi_sessions.excerpt import one_line, safe

if TYPE_CHECKING:
    import argparse

    from pi_sessions.context.prompt import Prompt


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    shared.add_session(parser)
    shared.add_point(parser)
    # Which model it goes to changes where the prompt stands in a request, not what it says.
    shared.add_target(parser)
    shared.add_configuration(parser)
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    session = shared.open_session(args)
    prompt = session.prompt(args.leaf, response=args.response)
    if args.json:
        output.write_json(document(prompt))
    else:
        _print(args, prompt)
    return 0


def document(prompt: Prompt) -> dict[str, Any]:
    """Make the JSON document of a prompt.

    `sources` has the line of each section by its name, of each tool as `tool:NAME`, and of the
    last text outside sections as `content`.
    """
    sources: dict[str, int | None] = {}
    if prompt.content:
        sources["content"] = prompt.content[-1][1]
    sources |= prompt.section_lines
    sources |= {f"tool:{name}": line for name, line in prompt.tool_lines.items()}
    return {
        "text": prompt.text,
        "content": prompt.base,
        "sections": prompt.sections,
        "tools": list(prompt.tools),
        "sources": sources,
    }


def _print(args: argparse.Namespace, prompt: Prompt) -> None:
    paper = Paper(color=not args.no_color)
    if not prompt.declared:
        paper.text("No prompt is recorded here: no system message is in this context.")
        return
    for text, line in prompt.content:
        paper.row((f"── text outside sections, line {line}", "bold cyan"))
        paper.text(safe(text))
    for name, text in prompt.sections.items():
        paper.row((f"── {one_line(name)}, line {prompt.section_lines[name]}", "bold cyan"))
        paper.text(safe(text))
    count = len(prompt.tools)
    paper.row((f"── {count} tool{'' if count == 1 else 's'}", "bold cyan"))
    for tool in prompt.tools:
        told = one_line(string(tool.get("description", "")))
        name = one_line(tool["name"])
        paper.row((name, "bold"), (f", line {prompt.tool_lines[tool['name']]}: {told}", ""))
