"""Values that must turn up nowhere: made of alphabets that get escaped, and searched for as bytes, under spellings of this file's own."""

from __future__ import annotations

import base64
import json
import random
import string
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ALPHABETS = {
    "base64": string.ascii_letters + string.digits + "+/",
    "hex": string.hexdigits.lower()[:16],
    "digits": string.digits,
    "words": string.ascii_lowercase + "-_.",
    "quotes": string.ascii_letters + "\"'\\`",
    "shell": string.ascii_letters + "$(){}&|;<>*?!#~ ",
    "json": string.ascii_letters + '"\\/\n\t{}[]:,',
    "url": string.ascii_letters + "%&+=/?# ",
    "lines": string.ascii_letters + "\n\r\t",
    "unicode": string.ascii_letters + "äßéñ☃漢字😀\u00a0\u2028",
    "markup": string.ascii_letters + "<>&\"'",
    "printable": string.ascii_letters + string.digits + string.punctuation,
}


class Canary(NamedTuple):
    """`name`: of the secret."""

    name: str
    value: str
    alphabet: str

    def spellings(self) -> Iterator[bytes]:
        """As itself and as others would write it; the larger half of it, where something cut it."""
        value, data = self.value, self.value.encode()
        for text in (value, value[: len(value) // 2 + 1], value[-(len(value) // 2 + 1) :]):
            yield text.encode()
            for plain in (True, False):
                yield json.dumps(text, ensure_ascii=plain)[1:-1].encode()
        yield json.dumps(json.dumps(value))[3:-3].encode()
        yield repr(value)[1:-1].encode()
        yield from (urllib.parse.quote(value).encode(), urllib.parse.quote_plus(value).encode(), data.hex().encode())
        for shift in range(3):
            cut = base64.b64encode(b"\0" * shift + data)[4:-4]
            yield from (cut, cut.replace(b"+", b"-").replace(b"/", b"_"))


def some(seed: int, count: int) -> list[Canary]:
    """As many, each of another alphabet than the one before; long enough that chance makes none of their halves."""
    dice = random.Random(seed)
    names = list(ALPHABETS)
    made = []
    for number in range(count):
        alphabet = names[(seed + number) % len(names)]
        letters = ALPHABETS[alphabet]
        length = dice.randint(28, 60)
        value = "".join(dice.choice(letters) for _ in range(length))
        value = value.strip() or "fallback"  # as a person has them; a blank at an end is nothing that a command line keeps
        made.append(Canary(f"CANARY_{number}", value + dice.choice(string.ascii_letters), alphabet))
    return made


def found(canaries: list[Canary], where: str, data: bytes) -> list[str]:
    """Which are in it, and how they are spelled there."""
    return [
        f"{canary.name} ({canary.alphabet}) in {where}: {spelling!r}"
        for canary in canaries
        for spelling in dict.fromkeys(canary.spellings())
        if spelling in data
    ]


def found_below(canaries: list[Canary], folder: Path) -> list[str]:
    """In every file there is below it."""
    return [line for path in sorted(folder.rglob("*")) if path.is_file() for line in found(canaries, str(path), path.read_bytes())]
