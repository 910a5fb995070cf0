"""What an examination found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ...core.types import Json
from ...runtime.answers import Remark
from ..folding import glued
from ..safe import Safe
from .shapes import Column, Sheet, cell

SCHEMA: Final = "toolgate.doctor/1"
_COLUMNS: Final = (Column("result", True), Column("about", True), Column("message", least=24), Column("what to do", least=16))
_HEAD: Final = re.compile(r"(?<![\w:/.-])([0-9]+:[0-9a-f]{12})[0-9a-f]{52}(?![\w:/.-])")


def to_json(remark: Remark) -> dict[str, Json]:
    return {"level": remark.level, "about": remark.about, "message": remark.message, "hint": remark.hint}


def sheet(found: Iterable[Remark]) -> Sheet:
    """For a terminal: heads of the log by their beginning, commands in one piece."""
    return _sheet((r._replace(message=_HEAD.sub(r"\1...", r.message)), glued(cell(r.hint))) for r in found)


def wide_sheet(found: Iterable[Remark]) -> Sheet:
    """For a program that reads columns."""
    return _sheet((r, cell(r.hint)) for r in found)


def _sheet(found: Iterable[tuple[Remark, Safe]]) -> Sheet:
    return Sheet(_COLUMNS, ((cell(r.level), cell(r.about), cell(r.message), hint) for r, hint in found))
