"""JSON pointers (RFC 6901): one exact way to name a place in a value, so that a condition and a message mean the same place."""

from __future__ import annotations

from functools import lru_cache

from .types import Json


def escape(key: str) -> str:
    """A key as one token of a pointer: `~` becomes `~0`, `/` becomes `~1`."""
    return key.replace("~", "~0").replace("/", "~1")


@lru_cache(maxsize=256)  # a rule asks for the same place in every call
def tokens(pointer: str) -> tuple[str, ...]:
    """The keys that a pointer names, unescaped; "" has none. Raises ValueError where the text is no pointer."""
    if not pointer:
        return ()
    if pointer[0] != "/":
        raise ValueError('a JSON pointer is empty or begins with "/"')
    if "~" not in pointer:
        return tuple(pointer[1:].split("/"))
    if "~" in pointer.replace("~0", "").replace("~1", ""):
        raise ValueError('"~" in a JSON pointer is written "~0", and "/" in a key "~1"')
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def resolve(value: Json, pointer: str) -> Json:
    """The value at `pointer`. Raises KeyError where there is none, ValueError where the text is no pointer."""
    for token in tokens(pointer):
        if isinstance(value, dict):
            value = value[token]
        elif isinstance(value, list) and _is_index(token) and int(token) < len(value):
            value = value[int(token)]
        else:
            raise KeyError(pointer)
    return value


def _is_index(token: str) -> bool:
    """ASCII digits without a leading zero; `-` is the place after the last item: there is nothing. Bounded, so that int() stays cheap."""
    return token.isascii() and token.isdigit() and len(token) < 16 and (token == "0" or token[0] != "0")
