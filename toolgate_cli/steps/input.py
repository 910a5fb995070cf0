"""Asks a person to fill in a form; the answers are in the context afterwards, as the person's."""

from __future__ import annotations

from typing import Annotated

from ..core.fields import Key, Names
from ..core.intents import Answered, AskPerson, Done, Fail, Intent, View, Write
from ..core.values import NamedTuple
from . import _keys


class Fields(NamedTuple):
    form: Annotated[str, Names("form")]
    writes: Annotated[tuple[str, ...], Key()] = ()


def plan(step: Fields, view: View) -> Intent:
    """Answers go to `<form>.<item>`; to the bare item as well where `writes` lists it."""
    for key in (f"{step.form}.", *step.writes):
        if why := _keys.defect(key):
            return Fail(f"an answer may not write {key}: {why}")  # said before a person is bothered
    if not isinstance(view.arrived, Answered):
        return AskPerson(view.form(step.form), f'answers to the form "{step.form}" are asked for')
    writes: list[Write] = []
    for item, value in view.arrived.values.items():
        writes.append(Write(f"{step.form}.{item}", value, "user"))
        if item in step.writes:
            writes.append(Write(item, value, "user"))
    return Done(dict(view.arrived.values), tuple(writes))
