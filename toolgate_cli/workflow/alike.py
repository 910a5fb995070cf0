"""Which values are the same to a JSON Schema, told without holding each against each (CASES G8)."""

from __future__ import annotations

from ..core import canonical
from ..core.types import Json


def spelled(value: Json) -> str:
    """Equal for exactly the values that are equal to a schema: 1.0 is 1, and true is not."""
    return canonical.encode(_whole(value))


def _whole(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
