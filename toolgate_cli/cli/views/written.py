"""Files that were written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...core.types import Json
from ..safe import Safe
from .shapes import Column, Sheet, cell

SCHEMA: Final = "toolgate.init/1"


def to_json(file: str) -> dict[str, Json]:
    return {"file": file}


def sheet(files: Iterable[str]) -> Sheet:
    return Sheet((Column("done", True), Column("file")), ((Safe("written"), cell(file)) for file in files))
