"""The command line: the only place that knows Typer, Rich, exit numbers and terminals."""
