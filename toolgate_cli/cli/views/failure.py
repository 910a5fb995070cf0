"""A refusal: what is, then what to do; or one JSON object."""

from __future__ import annotations

from ...core.types import Json
from ..safe import Safe, fill


def to_json(kind: str, message: str, hint: str, exit_code: int, retryable: bool) -> dict[str, Json]:
    return {"error": {"kind": kind, "message": message, "hint": hint, "exit_code": exit_code, "retryable": retryable}}


def lines(message: str, hint: str) -> list[Safe]:
    return [fill("error: {}", message), *([fill("hint: {}", hint)] if hint else [])]
