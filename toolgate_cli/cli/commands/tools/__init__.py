"""The tools of the home."""
