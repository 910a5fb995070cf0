"""One file per model adapter."""
