"""A refusal: what is, then what to do; or one JSON object."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.types import Json
from ..safe import Safe, fill


def to_json(kind: str, message: str, hint: str, exit_code: int, retryable: bool) -> dict[str, Json]:
    return {"error": {"kind": kind, "message": message, "hint": hint, "exit_code": exit_code, "retryable": retryable}}


def lines(message: str, hint: str, each: Sequence[tuple[str, str]] = ()) -> list[Safe]:
    """`each`: several faults of one file that the message joins, each with what to do about it."""
    if each:
        return _of_each(each)
    return [fill("error: {}", message), *([fill("hint: {}", hint)] if hint else [])]


def _of_each(each: Sequence[tuple[str, str]]) -> list[Safe]:
    told = [fill("error: {} ({})", message, hint) if hint else fill("error: {}", message) for message, hint in each]
    return [*told, fill("hint: {}", "mend the file, then: toolgate workflow check")]
