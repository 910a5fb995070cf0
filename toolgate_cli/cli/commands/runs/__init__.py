"""The runs."""
