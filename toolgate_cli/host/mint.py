"""Random ids and salts from the kernel's generator: an id that was shown once can neither be guessed nor come again."""

from __future__ import annotations

import os

ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
LENGTH = 13  # characters of 5 bits: 65 random bits
_OF_BYTE = (ALPHABET * 8).encode()  # by the low 5 bits of a byte


class RandomMint:
    """`ports.Mint` over `os.urandom`."""

    def id(self, letter: str) -> str:
        """`letter` and 13 characters of lower-case base32."""
        return letter + os.urandom(LENGTH).translate(_OF_BYTE).decode()

    def salt(self) -> str:
        """32 hex digits."""
        return os.urandom(16).hex()

    def jitter(self) -> float:
        """In [0, 1)."""
        return int.from_bytes(os.urandom(4), "big") / 4294967296
