"""One file per tool provider."""
