"""What an examination found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...core.types import Json
from ...runtime.answers import Remark
from .shapes import Column, Sheet, cell

SCHEMA: Final = "toolgate.doctor/1"
_COLUMNS: Final = (Column("result", True), Column("about", True), Column("message", least=24), Column("what to do", least=16))


def to_json(remark: Remark) -> dict[str, Json]:
    return {"level": remark.level, "about": remark.about, "message": remark.message, "hint": remark.hint}


def sheet(found: Iterable[Remark]) -> Sheet:
    return Sheet(_COLUMNS, ((cell(r.level), cell(r.about), cell(r.message), cell(r.hint)) for r in found))
