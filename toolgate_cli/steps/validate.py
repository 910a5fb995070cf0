"""Checks the context and files that were produced. What is wrong fails the step, with every reason; no reason shows a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from ..core import pointer
from ..core.conditions import equal
from ..core.errors import ToolgateError
from ..core.fields import Between, Defect, Path, Pointer, Reads, Schema
from ..core.intents import Done, Fail, Finding, Intent, Look, Observe, Observed, View
from ..core.types import Json
from ..core.values import NamedTuple

_MOST = 100  # of each kind of check
_EMPTY: tuple[Json, ...] = (None, "", [], {})


class Require(NamedTuple):
    """There, and neither null nor empty; a file: with anything but blanks in it."""

    keys: Annotated[tuple[str, ...], Reads(), Between(most=_MOST)] = ()
    files: Annotated[tuple[str, ...], Path(), Between(most=_MOST)] = ()


class Equal(NamedTuple):
    """The value at `at` of the JSON file is that of the context; numbers by value, true is no number."""

    key: Annotated[str, Reads()]
    file: Annotated[str, Path()]
    at: Annotated[str, Pointer()] = ""


class Judged(NamedTuple):
    """The value at `at` of the key, or of the JSON file, is valid by this schema."""

    by: Annotated[Json, Schema()]
    key: Annotated[str, Reads()] | None = None
    file: Annotated[str, Path()] | None = None
    at: Annotated[str, Pointer()] = ""


class Fields(NamedTuple):
    require: Require = Require()
    equal: Annotated[tuple[Equal, ...], Between(most=_MOST)] = ()
    schema: Annotated[tuple[Judged, ...], Between(most=_MOST)] = ()


def check(step: Fields) -> Iterator[Defect]:
    if not (step.require.keys or step.require.files or step.equal or step.schema):
        yield Defect((), "it checks nothing", "require, equal or schema say what is checked")
    for number, judged in enumerate(step.schema):
        if (judged.key is None) == (judged.file is None):
            yield Defect(("schema", number), "needs a key or a file, one of them", 'key = "order"')


def plan(step: Fields, view: View) -> Intent:
    """Files and schemas outside of the transaction, the rest with what was found there; a reason is told once."""
    values = _Values(view)
    looks = _looks(step, values)
    if looks and not isinstance(view.arrived, Observed):
        return Observe(looks)
    findings = iter(view.arrived.findings if isinstance(view.arrived, Observed) else ())
    reasons = dict.fromkeys(reason for part in (_required, _unequal, _invalid) for reason in part(step, values, findings))
    return Fail("; ".join(reasons)) if reasons else Done()


class _Values:
    """The context of one plan."""

    def __init__(self, view: View) -> None:
        self._view = view

    def get(self, key: str, at: str = "") -> tuple[Json, str | None]:
        """The value, or why there is none."""
        try:
            return pointer.resolve(self._view.value(key), at), None
        except KeyError:
            return None, f"{_place(key, at)} is absent"
        except ToolgateError as error:
            if error.kind == "storage":
                raise
            return None, error.message


def _looks(step: Fields, values: _Values) -> tuple[Look, ...]:
    """One for every file and every schema, whatever the context holds: as many when it is planned again."""
    return (
        *(Look(file, "filled") for file in step.require.files),
        *(Look(wanted.file, "json", wanted.at) for wanted in step.equal),
        *(_judge(judged, values) for judged in step.schema),
    )


def _judge(judged: Judged, values: _Values) -> Look:
    if judged.key is None:
        return Look(judged.file, "problems", judged.at, judged.by)
    return Look(None, "problems", schema=judged.by, value=values.get(judged.key, judged.at)[0])


def _place(name: str | None, at: str) -> str:
    return f"{name}#{at}" if at else str(name)


# ---- each kind of check takes its findings, in the order of the looks, and tells what is wrong ----
def _required(step: Fields, values: _Values, findings: Iterator[Finding]) -> Iterator[str]:
    for key in step.require.keys:
        value, absent = values.get(key)
        if absent is not None:
            yield absent
        elif value in _EMPTY or (isinstance(value, str) and not value.strip()):
            yield f"{key} is empty"
    for file in step.require.files:
        found = next(findings)
        if found.error is not None or not found.value:
            yield found.error or f"{file} is empty"


def _unequal(step: Fields, values: _Values, findings: Iterator[Finding]) -> Iterator[str]:
    for wanted in step.equal:
        found, (value, absent) = next(findings), values.get(wanted.key)
        if found.error is not None:
            yield found.error
        if absent is not None:
            yield absent
        if found.error is None and absent is None and not equal(found.value, value):
            yield f"{_place(wanted.file, wanted.at)} is not equal to {wanted.key}"


def _invalid(step: Fields, values: _Values, findings: Iterator[Finding]) -> Iterator[str]:
    for judged in step.schema:
        found, absent = next(findings), values.get(judged.key, judged.at)[1] if judged.key is not None else None
        name = _place(judged.key or judged.file, judged.at)
        if absent is not None:
            yield absent
        elif found.error is not None:
            yield found.error if judged.file is not None else f"{name}: {found.error}"
        elif isinstance(found.value, list):
            yield from (f"{name}: {problem}" for problem in found.value)
