"""Print a script that completes commands, options and sessions in bash, zsh or fish.

In bash and zsh: `eval "$(pi-sessions completion bash)"` in ~/.bashrc, or the same with `zsh` in
~/.zshrc behind `compinit`. For fish, write it to ~/.config/fish/completions/pi-sessions.fish.
"""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from pi_sessions import store
from pi_sessions.cli import arguments as shared
from pi_sessions.cli import environment, output, reading
from pi_sessions.excerpt import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "pi-sessions"
_MOST = 100
"""Sessions a shell is told at once."""
_PATIENCE = 0.3
"""Seconds that names of sessions are looked for."""
_FUNCTION = "_pi_sessions_of_store"

_PREAMBLE = {
    "bash": f"""\
{_FUNCTION}() {{
  local IFS=$'\\n'
  {PROGRAM} completion --sessions "$1" 2>/dev/null | cut -f 1
  compgen -d -- "$1"
  compgen -f -X '!*.jsonl' -- "$1"
}}""",
    "zsh": f"""\
{_FUNCTION}() {{
  local -a ids names
  local id name
  while IFS=$'\\t' read -r id name; do
    ids+=("$id") names+=("$id  $name")
  done < <({PROGRAM} completion --sessions "$PREFIX" 2>/dev/null)
  # -U: what was typed may be a part of the name.
  (( $#ids )) && compadd -U -l -d names -a ids
  _files -g '*.jsonl(-.)'
}}""",
}
_SESSIONS = {
    "bash": _FUNCTION,
    "zsh": _FUNCTION,
    "fish": f"({PROGRAM} completion --sessions (commandline -ct) 2>/dev/null; "
    "__fish_complete_suffix .jsonl)",
}
"""How each shell completes a session: by id, by name, by file."""
_DIRECTORIES = ("DIR", "DIR|NAME", "STORE", "OLD", "NEW")
_FILES = ("FILE", "REPORT.md")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("shell", nargs="?", choices=SHELLS, metavar="SHELL", help="for this shell")
    parser.add_argument(
        "--sessions",
        metavar="WORD",
        help="in place of a script, what the scripts ask: id and name of the sessions whose id "
        "begins with this or whose name has it",
    )
    shared.add_common(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command.

    Raises:
        UsageError: no shell is named.
    """
    if args.sessions is not None:
        found = matching(args.sessions)
        if args.json:
            output.write_json([{"id": session_id, "name": name} for session_id, name in found])
        else:
            for session_id, name in found:
                print(f"{session_id}\t{name}" if name else session_id)
    elif args.shell is None:
        raise shared.UsageError(f"name the shell: {', '.join(SHELLS)}")
    elif args.json:
        output.write_json({"shell": args.shell, "script": script(args.shell)})
    else:
        print(script(args.shell))
    return 0


def script(shell: str) -> str:
    """Make the script for a shell, from the options of all commands."""
    import shtab  # noqa: PLC0415 - only scripts need it

    preamble: Any = _PREAMBLE  # its annotation forgets the dictionary its own docs tell of
    return shtab.complete(whole_parser(shtab), shell, preamble=preamble)


def whole_parser(shtab: Any) -> argparse.ArgumentParser:
    """Make one parser of all commands, which says how the values of options are completed."""
    from pi_sessions.cli.main import COMMANDS  # noqa: PLC0415 - it imports this module

    parser = argparse.ArgumentParser(prog=PROGRAM)
    parser.add_argument("-V", "--version", action="version", version="", help="tell the version")
    commands = parser.add_subparsers()
    for name, what in COMMANDS.items():
        command = commands.add_parser(name, help=what, description=what)
        import_module(f"pi_sessions.cli.commands.{name}").arguments(command)
        for action in command._actions:  # noqa: SLF001 - there is no other way to all of them
            complete = _completed(action, shtab)
            if complete is not None:
                vars(action)["complete"] = complete  # where shtab looks for it
    return parser


def _completed(action: argparse.Action, shtab: Any) -> Any:
    """Say how the value of an option is completed, None for one that only its reader knows."""
    if action.choices is not None or action.nargs == 0:
        return None
    if action.metavar in _DIRECTORIES:
        return shtab.DIRECTORY
    if action.metavar in _FILES:
        return shtab.FILE
    return _SESSIONS if "SESSION" in str(action.metavar) else None


def matching(word: str) -> Iterator[tuple[str, str]]:
    """Give id and name of sessions, those of this directory first, the latest first.

    Args:
        word: what an id begins with, or what a name has in it; "" for all.
    """
    roots = [Path(root) for root in environment.session_directories()]
    latest = sorted(store.look(roots).files, key=lambda file: -file.modified)
    shelf = reading.Shelf(roots, latest, environment.local_zone(), index=True)
    here = os.getcwd()
    heads = sorted(shelf.heads(), key=lambda head: head.cwd != here)
    until, told = monotonic() + _PATIENCE, 0
    for head in heads:
        if told == _MOST:
            break
        if summary := shelf.known(head.file.path):
            name = summary.name or ""
        else:
            name = name_of(head.file.path) if monotonic() < until else ""
        if _is_plain(head.id) and (head.id.startswith(word) or word.casefold() in name.casefold()):
            told += 1
            yield head.id, one_line(name, 60)


def _is_plain(session_id: str) -> bool:
    """Say whether a shell takes an id as one word without meaning of its own."""
    return session_id.isascii() and session_id.replace("-", "").replace("_", "").isalnum()


def name_of(path: str) -> str:
    """Find the name of a session from the end of its file, without reading its lines."""
    from pi_sessions import _json  # noqa: PLC0415 - start-up
    from pi_sessions.summary import name_in  # noqa: PLC0415

    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return ""
    end = len(data)
    while (at := data.rfind(b'"session_info"', 0, end)) >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, at
        line = data[start : data.find(b"\n", at) + 1 or len(data)]
        try:
            if _type(_json.loads(line)) == "session_info":
                return name_in(line) or ""
        except _json.JSONError:
            continue
    return ""


def _type(value: Any) -> Any:
    return value.get("type") if isinstance(value, dict) else None
