"""The read-only commands that a tool is asked with, and what they have to do with a call that waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, get_args

from ...core.types import Json, ProbeName
from ...runtime.answers import Waiting
from .shapes import Field, field, members

_WAS_ASKED: Final = "it was asked, and lets this call through; it is asked again before the start"
_WILL_BE_ASKED: Final = "it is asked before this call is started"
_RECONCILES: Final = "it is asked before this call is started again, and what it says was applied is not"


def tables(declared: Mapping[str, Json]) -> Iterator[Field]:
    """The commands themselves, as the operator's file says them."""
    for name in get_args(ProbeName):
        if isinstance(table := declared.get(name), dict):
            yield from members(name, table)


def said(waiting: Waiting) -> Iterator[Field]:
    """What was asked and what will be. A precheck that refused, or gave no answer, is the reason of the row."""
    row, tool = waiting.row, waiting.definition or {}
    if "precheck" in tool and row.origin in ("APPROVAL_REQUIRED", "EXECUTION_FAILED", "OUTCOME_UNKNOWN"):
        yield field("precheck", _WAS_ASKED if row.origin == "APPROVAL_REQUIRED" else _WILL_BE_ASKED)
    if "reconcile" in tool and row.doubt == "reconcilable":
        yield field("reconciler", _RECONCILES)
