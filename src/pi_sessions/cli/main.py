"""Entry point: finds the command, runs it, and turns errors into a sentence and an exit code."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn

COMMANDS = {
    "lines": "every line of the file: was it sent to the model, and why",
    "context": "the messages the model had, as JSON or to read",
    "request": "the request body behind a reply, each part traced to its lines",
    "saw": "which replies had a text, or an entry, in front of them",
    "diff": "what changed between the requests of two replies",
    "prompt": "the system prompt and tools in force, and the line of each part",
    "tree": "the branches, with labels and the live path",
    "show": "the conversation, to read",
    "watch": "a session while it is written, and what goes out of the next request",
    "check": "what is wrong with the file",
    "repair": "mend what can be mended of a file, without losing a byte",
    "upgrade": "make a file of version 1 or 2 one of version 3",
    "ls": "the sessions of this directory",
    "search": "a text in all sessions, and where it stands",
    "usage": "tokens and money, of a session or of all",
    "audit": "a report against the sessions behind it",
    "serve": "sessions in a browser, and what the model saw at every reply",
    "export": "the session in another form, whole or without its secrets",
    "name": "name a session, or take its name away",
    "label": "label an entry, or take its label away",
    "edit": "change what the model is sent of earlier entries",
    "move": "move a session or a project to another directory or store",
    "relink": "projects that were moved on the disk, and their sessions",
    "rm": "put a session into the trash",
    "stats": "what takes the room in the store, and how to get it back",
    "prune": "sessions that could go, by age, size, project or emptiness",
    "archive": "put sessions into a compressed archive, and give them back",
    "fork": "copy a session, all branches or one, into a new one",
    "clone": "copy the branch of the leaf into a new session",
    "completion": "a script that completes all this in bash, zsh or fish",
}
"""The commands, in the order of the help; each is a module of that name."""

DONE, FOUND, USAGE, UNREADABLE, REFUSED, INTERRUPTED = 0, 1, 2, 3, 4, 130


def command() -> NoReturn:
    """Be the program: run the command line of this process and end it.

    The process ends at once when all is written. Giving back the memory of a hundred thousand rows
    one by one, and looking for cycles among them, would take as long as half of the work.
    """
    gc.disable()
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that cannot show a sign gets a question mark in its place.
        sys.stdout.reconfigure(errors="replace")
    try:
        code = _dispatch(sys.argv[1:] if argv is None else argv)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon_output()
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        code = _exit_code(error)
        if code < 0:
            raise
        if type(error) is OSError:
            _abandon_output()
        return _fail(_sentence(error), code)
    return code


def _dispatch(words: list[str]) -> int:
    if not words:
        return _without_words()
    if words[0] in ("-h", "--help", "help"):
        print(_help(), end="")
        return DONE
    if words[0] in ("-V", "--version"):
        from pi_sessions import __version__  # noqa: PLC0415 - start-up

        print(f"pi-sessions {__version__}")
        return DONE
    if words[0] not in COMMANDS:
        return _fail(f"there is no command {words[0]!r}; there are {', '.join(COMMANDS)}", USAGE)
    name = words[0]
    command = import_module(f"pi_sessions.cli.commands.{name}")
    parser = _Parser(prog=f"pi-sessions {name}", description=command.__doc__, allow_abbrev=False)
    command.arguments(parser)
    try:
        args = parser.parse_args(words[1:])
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else USAGE
    code: int = command.run(args)
    return code


def _without_words() -> int:
    """Explain the newest session of this directory; else list all; else say what to ask."""
    from pi_sessions.errors import SessionNotFoundError  # noqa: PLC0415 - start-up

    try:
        return _dispatch(["lines"])
    except SessionNotFoundError:
        from pathlib import Path  # noqa: PLC0415 - start-up

        from pi_sessions import store  # noqa: PLC0415
        from pi_sessions.cli.environment import session_directories  # noqa: PLC0415

        roots = map(Path, session_directories())
        if next(store.sessions(roots), None) is not None:
            return _dispatch(["ls", "--all"])
        print(_help(), end="")
        return DONE


class _Parser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence."""

    def error(self, message: str) -> NoReturn:
        """Say what is off about the words, and stop."""
        sys.exit(_fail(f"{message} ({self.prog} --help tells the options)", USAGE))


def _abandon_output() -> None:
    """Send what is still buffered nowhere: there is nobody, or no room, for it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit_code(error: Exception) -> int:
    """Give the exit code of an error class; -1 for one that is a fault of ours."""
    from pi_sessions import errors  # noqa: PLC0415 - start-up
    from pi_sessions.cli.arguments import UsageError  # noqa: PLC0415 - start-up
    from pi_sessions.cli.environment import ConfigurationError  # noqa: PLC0415

    table: tuple[tuple[type[Exception], int], ...] = (
        (UsageError, USAGE),
        (ConfigurationError, USAGE),
        (errors.LookupFailure, USAGE),
        (errors.UnsupportedApiError, USAGE),
        (errors.ProfileError, USAGE),
        (errors.WouldOverwriteError, REFUSED),
        (errors.WriteRefusedError, REFUSED),
        (errors.UnreadableError, UNREADABLE),
        (errors.FormatError, UNREADABLE),
        (OSError, UNREADABLE),
    )
    return next((code for kind, code in table if isinstance(error, kind)), -1)


def _sentence(error: Exception) -> str:
    """Say what went wrong; of an error of the system, without its number."""
    why = getattr(error, "strerror", None)
    if not why:
        # The candidates of an ambiguous name stand on lines of their own; a name in a sentence
        # does not begin a second one.
        told = str(error)
        return told if getattr(error, "candidates", ()) else told.replace("\n", "␊")
    file = getattr(error, "filename", None)
    return f"{file}: {why.lower()}" if file else f"cannot write: {why.lower()}"


def _fail(message: str, code: int) -> int:
    from pi_sessions.excerpt import safe  # noqa: PLC0415 - start-up

    print(f"pi-sessions: {safe(message)}", file=sys.stderr)
    return code


def _help() -> str:
    width = max(map(len, COMMANDS)) + 2
    rows = "".join(f"  {name:<{width}}{what}\n" for name, what in COMMANDS.items())
    return (
        "usage: pi-sessions COMMAND [SESSION] [options]\n\n"
        "What did the model see, and why? Session files of the Pi coding agent, explained.\n\n"
        f"commands:\n{rows}\n"
        "SESSION is a path, an id or the unique beginning of one; without it, the newest\n"
        "session of this directory. pi-sessions COMMAND --help tells the options. Without a\n"
        "command, lines of that session are told; where this directory has none, ls --all.\n"
    )
