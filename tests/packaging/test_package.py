"""What the package promises as a package: its names, and how little it loads."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pi_sessions


def loaded_after(statement: str) -> set[str]:
    """Run a statement in a new process; gives the modules that are loaded then."""
    program = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stderr.split())


def test_every_public_name_is_there() -> None:
    """`__all__` and what the package gives are one list."""
    assert sorted(pi_sessions.__all__) == pi_sessions.__all__
    assert set(pi_sessions.__all__) == set(pi_sessions._HOMES)
    for name in pi_sessions.__all__:
        assert getattr(pi_sessions, name).__doc__, name


def test_unknown_names_are_refused() -> None:
    """A misspelt name is an AttributeError, as in any module."""
    assert not hasattr(pi_sessions, "Sessions")


def test_version_is_one() -> None:
    """The version in the code is that of the package."""
    assert version("pi-sessions") == pi_sessions.__version__


def test_importing_loads_msgspec_and_no_other_dependency() -> None:
    """Rich and the like are for the command alone."""
    modules = loaded_after("import pi_sessions\npi_sessions.load")

    assert "msgspec" in modules
    assert not {"rich", "argparse", "pygments", "markdown_it"} & modules


def test_help_loads_nothing_of_ours_but_the_table_of_commands() -> None:
    """Starting must stay cheap."""
    modules = loaded_after("from pi_sessions.cli.main import main\nmain(['--help'])")

    assert not {"pi_sessions.session", "rich", "msgspec"} & modules
