"""The list of runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...runtime.answers import RunView
from .shapes import Column, Sheet, cell, moment

SCHEMA: Final = "toolgate.runs/1"
_COLUMNS: Final = (Column("id", True), Column("status", True), Column("updated_at", True), Column("workflow"), Column("step"))


def sheet(views: Iterable[RunView]) -> Sheet:
    return Sheet(
        _COLUMNS,
        ((cell(v.run.id), cell(v.run.status), moment(v.run.updated_at), cell(v.run.workflow), cell(v.step)) for v in views),
    )
