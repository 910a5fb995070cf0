"""One file per step kind."""
