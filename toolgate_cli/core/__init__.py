"""Pure values and decisions: no IO, no clock, no randomness, nothing but the standard library."""
