"""The command, run in a place of its own, as for all commands."""

from cli.conftest import run, write

__all__ = ["run", "write"]
