"""The spellings under which a value may turn up in what a tool writes: escapes of JSON and Python, percent, base64, hex."""

from __future__ import annotations

import binascii
import html
import json
from collections.abc import Iterator

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~")
_LINE = 76  # characters of base64 on a line, where it is broken at all


def of(value: str) -> tuple[bytes, ...]:
    """All of them, each once, the value itself first."""
    texts = dict.fromkeys(text.encode() for text in _texts(value))
    return tuple(dict.fromkeys([*texts, *_encoded(value.encode())]))


def _texts(value: str) -> Iterator[str]:
    yield value
    for plain in (False, True):
        inside = json.dumps(value, ensure_ascii=plain)[1:-1]
        yield from (_marked(inside, "&<>"), _marked(inside, "&<>='"))  # as Go and Gson do
        yield from (inside, inside.replace("/", "\\/"), json.dumps(inside, ensure_ascii=plain)[1:-1])
    yield "".join(f"\\u{unit:04x}" for unit in _units(value))
    yield "".join(f"\\u{unit:04X}" for unit in _units(value))
    yield from (repr(value)[1:-1], ascii(value)[1:-1], repr(value.encode())[2:-1])
    yield from (html.escape(value, quote=False), html.escape(value), value.replace("'", "'\"'\"'"), value.replace("'", "'\\''"))
    yield value.replace("~", "~0").replace("/", "~1")  # in a JSON pointer
    if "\n" in value:
        yield value.replace("\n", "\r\n")


def _marked(text: str, letters: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" if letter in letters else letter for letter in text)


def _units(value: str) -> Iterator[int]:
    data = value.encode("utf-16-be")
    return (data[at] << 8 | data[at + 1] for at in range(0, len(data), 2))


def _encoded(data: bytes) -> Iterator[bytes]:
    for keep in (_PLAIN, _PLAIN | frozenset(b"/"), _PLAIN | frozenset(b"!'()*"), _PLAIN | frozenset(b"!$&'()*+,;=:@/")):
        for form in ("%%%02X", "%%%02x"):
            quoted = "".join(chr(byte) if byte in keep else form % byte for byte in data)
            yield from (quoted.encode(), quoted.replace("%20", "+").encode())
    yield from ("".join(form % byte for byte in data).encode() for form in ("%%%02X", "%%%02x", "%02X", "%02x"))
    for between in " :":
        yield from (data.hex(between).encode(), data.hex(between).upper().encode())
    yield from base64_cores(data)
    whole = binascii.b2a_base64(data, newline=False)
    for line in (_LINE, 64):
        yield b"\n".join(whole[at : at + line] for at in range(0, len(whole), line))


def base64_cores(data: bytes) -> Iterator[bytes]:
    """In both alphabets, the digits that stand for it wherever it begins."""
    for shift in range(3):
        inside = _base64(data, shift)
        yield from (inside, inside.translate(bytes.maketrans(b"+/", b"-_")))


def _base64(data: bytes, shift: int) -> bytes:
    """The characters that are the same whatever stands around the value, `shift` bytes (modulo 3) after the beginning."""
    whole = binascii.b2a_base64(b"\0" * shift + data, newline=False)
    return whole[(shift * 8 + 5) // 6 : (shift + len(data)) * 8 // 6]
