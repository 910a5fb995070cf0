"""Random ids and salts from the kernel's generator: an id that was shown once can neither be guessed nor come again."""

from __future__ import annotations

import os

ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
LENGTH = 13  # characters of 5 bits: 65 random bits


class RandomMint:
    """`ports.Mint` over `os.urandom`."""

    def id(self, letter: str) -> str:
        """`letter` and 13 characters of lower-case base32."""
        bits = int.from_bytes(os.urandom(9), "big")
        characters = [letter]
        for _ in range(LENGTH):
            characters.append(ALPHABET[bits & 31])
            bits >>= 5
        return "".join(characters)

    def salt(self) -> str:
        """32 hex digits."""
        return os.urandom(16).hex()

    def jitter(self) -> float:
        """In [0, 1)."""
        return int.from_bytes(os.urandom(4), "big") / 4294967296
