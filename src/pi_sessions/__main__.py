"""`python -m pi_sessions` is the command `pi-sessions`."""

from pi_sessions.cli.main import command

if __name__ == "__main__":
    command()
