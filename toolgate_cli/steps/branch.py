"""Chooses a way by a context value: decided once, remembered, so that nothing which happens later takes a second arm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from ..core import canonical
from ..core.fields import Names, Reads
from ..core.intents import Done, Ended, Enter, Fail, Intent, View
from ..core.types import Json
from ..core.values import NamedTuple

_SHOWN = 80  # characters of a value in a reason


class Fields(NamedTuple):
    """Arms: value -> block, or `continue` (go on), `end` (of this sequence), `fail`; `""` = empty or absent, `*` = any other value."""

    on: Annotated[str, Reads()]
    arms: Annotated[Mapping[str, str], Names("block", or_words=True)]


def plan(step: Fields, view: View) -> Intent:
    remembered = view.memo.get("arm")
    if isinstance(remembered, str):
        return Done(event={"arm": remembered}) if isinstance(view.arrived, Ended) else _take(step, remembered)
    word = _word(step.on, view)
    arm = _arm(step, word)
    return Fail(_unmatched(step, word)) if arm is None else _take(step, arm)


def _word(key: str, view: View) -> str:
    """The value as arms spell it: a text as it is, anything else as canonical JSON, "" where it is absent or empty."""
    try:
        value: Json = view.value(key)
    except KeyError:
        return ""
    if isinstance(value, str):
        return value
    return "" if value is None or value == [] or value == {} else canonical.encode(value)


def _arm(step: Fields, word: str) -> str | None:
    if word in step.arms and word != "*":
        return word
    # "any other" means another value: where nothing was decided, nothing is chosen (I5)
    return "*" if word and "*" in step.arms else None


def _take(step: Fields, arm: str) -> Intent:
    target = step.arms[arm]
    if target == "continue":
        return Done(event={"arm": arm})
    if target == "end":
        return Done(then="end", event={"arm": arm})
    if target == "fail":
        return Fail(f'{step.on} took the arm "{arm}", which fails')
    return Enter(target, memo={"arm": arm})


def _unmatched(step: Fields, word: str) -> str:
    if not word:
        return f'{step.on} is empty or absent, and no arm "" says what then'
    shown = word if len(word) <= _SHOWN else word[:_SHOWN] + "..."
    return f'{step.on} is "{shown}", and no arm says what then'
