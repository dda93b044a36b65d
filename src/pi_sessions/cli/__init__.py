"""The command `pi-sessions`: a thin face on the library; it alone reads the environment."""
