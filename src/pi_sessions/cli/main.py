"""Entry point: finds the command, runs it, and turns errors into a sentence and an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

COMMANDS = {
    "lines": "every line of the file: was it sent to the model, and why",
    "context": "the messages the model had, as JSON or to read",
    "prompt": "the system prompt and tools in force, and the line of each part",
    "tree": "the branches, with labels and the live path",
    "show": "the conversation, to read",
    "check": "what is wrong with the file",
    "ls": "the sessions of this directory",
}
"""The commands, in the order of the help; each is a module of that name."""

DONE, FOUND, USAGE, UNREADABLE, REFUSED, INTERRUPTED = 0, 1, 2, 3, 4, 130


def main(argv: list[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help(), end="")
        return DONE
    if words[0] in ("-V", "--version"):
        from pi_sessions import __version__  # noqa: PLC0415 - start-up

        print(f"pi-sessions {__version__}")
        return DONE
    if words[0] not in COMMANDS:
        return _fail(f"there is no command {words[0]!r}; there are {', '.join(COMMANDS)}", USAGE)
    return _run(words[0], words[1:])


def _run(name: str, words: list[str]) -> int:
    command = import_module(f"pi_sessions.cli.commands.{name}")
    parser = argparse.ArgumentParser(
        prog=f"pi-sessions {name}", description=command.__doc__, allow_abbrev=False
    )
    command.arguments(parser)
    try:
        code: int = command.run(parser.parse_args(words))
        sys.stdout.flush()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else USAGE
    except BrokenPipeError:
        # The reader has gone; what is still buffered has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        code = _exit_code(error)
        if code < 0:
            raise
        return _fail(str(error), code)
    return code


def _exit_code(error: Exception) -> int:
    """Give the exit code of an error class; -1 for one that is a fault of ours."""
    from pi_sessions import errors  # noqa: PLC0415 - start-up
    from pi_sessions.cli.arguments import UsageError  # noqa: PLC0415 - start-up

    table: tuple[tuple[type[Exception], int], ...] = (
        (UsageError, USAGE),
        (errors.LookupFailure, USAGE),
        (errors.UnsupportedApiError, USAGE),
        (errors.UnreadableError, UNREADABLE),
        (errors.FormatError, UNREADABLE),
    )
    return next((code for kind, code in table if isinstance(error, kind)), -1)


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
        "session of this directory. pi-sessions COMMAND --help tells the options.\n"
    )
