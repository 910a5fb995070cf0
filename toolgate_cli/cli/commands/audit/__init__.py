"""The log as evidence."""
