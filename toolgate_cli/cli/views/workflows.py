"""What the check of workflow files found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ...core.types import Json
from ...runtime.answers import Checked
from ..safe import Safe
from .shapes import Column, Sheet, cell

SCHEMA: Final = "toolgate.workflows/1"
_COLUMNS: Final = (Column("result", True), Column("workflow"), Column("file"), Column("message"))


def to_json(checked: Checked) -> dict[str, Json]:
    return {"file": checked.file, "id": checked.id, "errors": list(checked.errors), "warnings": list(checked.warnings)}


def sheet(found: Iterable[Checked]) -> Sheet:
    """One row a finding; a file without any has one row `ok`."""
    return Sheet(_COLUMNS, (row for checked in found for row in _rows(checked)))


def _rows(checked: Checked) -> Iterator[tuple[Safe, ...]]:
    findings = [("error", text) for text in checked.errors] + [("warning", text) for text in checked.warnings]
    for result, text in findings or [("ok", "")]:
        yield cell(result), cell(checked.id), cell(checked.file), cell(text)
