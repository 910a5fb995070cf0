"""A JSON-RPC message as a server sent it, read strictly: what could be read in two ways is not read at all (I8)."""

from __future__ import annotations

import json
from typing import cast

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.types import Json
from ._mcp_session import Answer, Broken

_INEXACT = ("INEXACT_NUMBER", "INTEGER_TOO_LONG", "NON_FINITE", "LONE_SURROGATE")


def read(data: bytes) -> Answer | None:
    """None for what is no message at all: servers write a word of their own now and then. Raises Broken for what cannot be trusted."""
    data = data.strip()
    if not data.startswith(b"{"):
        return None
    try:
        return Answer(cast("dict[str, Json]", canonical.parse(data)))
    except ToolgateError as error:
        if not error.message.startswith(_INEXACT):
            raise Broken("broken", f"it wrote a line that is no strict JSON: {error.message}") from None
    try:
        return Answer(json.loads(data, object_pairs_hook=_single), data.decode("utf-8", "backslashreplace"))
    except (ValueError, RecursionError):
        raise Broken("broken", "it wrote a line that is no strict JSON") from None


def _single(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Behind what is not exact may stand what can be read in two ways."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError
    return value
