"""What a row keeps of a tool that stopped half-way: its question, its state, which round it is, and what a person answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

from ..core import canonical
from ..core.records import Row
from ..core.types import Json
from .plugs import Answer


def asked(row: Row) -> Mapping[str, Json]:
    """Of a row of that origin: question, state, round, and once it is answered, answer; else nothing."""
    if row.origin != "CONFIRMATION_REQUIRED" or row.last is None:
        return {}
    kept = canonical.parse(row.last)
    return kept if isinstance(kept, dict) else {}


def number(row: Row) -> int:
    """How many questions there were so far, in one go."""
    found = asked(row).get("round")
    return found if isinstance(found, int) else 0


def question(text: str, state: Json, round: int) -> str:
    return canonical.encode({"question": text, "state": state, "round": round})


def answered(row: Row, word: Literal["yes", "no"]) -> Row:
    return row._replace(last=canonical.encode({**asked(row), "answer": word}))


def answer(row: Row) -> Answer | None:
    """What the tool is told when it is started under this row; None: it begins."""
    kept = asked(row)
    if "answer" not in kept:
        return None
    return Answer(cast(Literal["yes", "no"], kept["answer"]), canonical.encode(kept.get("state")))
