"""One module for each command, each with `arguments(parser)` and `run(args) -> int`."""
