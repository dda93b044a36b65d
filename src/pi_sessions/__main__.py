"""`python -m pi_sessions` is the command `pi-sessions`."""

import sys

from pi_sessions.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
