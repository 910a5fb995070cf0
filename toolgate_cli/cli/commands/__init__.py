"""One command a file: its function `run` gives the exit code, its PURPOSE the place in the overview; the file name is the command."""
