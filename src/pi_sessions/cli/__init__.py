"""The command `pi-sessions`: a thin face on the library, the only place that reads the environment."""
