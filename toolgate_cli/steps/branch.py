"""Chooses a way by context values: decided once, remembered, so that nothing which happens later takes a second one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from ..core import canonical, guards
from ..core.fields import Defect, Names, Reads, When
from ..core.intents import Done, Ended, Enter, Fail, Intent, View
from ..core.types import Json
from ..core.values import NamedTuple

_SHOWN = 80  # characters of a value in a reason


class Case(NamedTuple):
    """`to`: a block, or `continue` (go on), `end` (of this sequence), `fail`. Without `when` (the last one only) it always holds."""

    to: Annotated[str, Names("block", or_words=True)]
    when: Annotated[tuple[Mapping[str, Json], ...], When()] = ()


class Fields(NamedTuple):
    """Either arms: value -> block, or a word as in a case; `""` = empty or absent, `*` = any other value. Or cases: the first that holds is
    taken. Where none fits, the run fails."""

    on: Annotated[str | None, Reads()] = None
    arms: Annotated[Mapping[str, str], Names("block", or_words=True)] = {}
    cases: tuple[Case, ...] = ()


def check(step: Fields) -> Iterator[Defect]:
    if (step.on is not None or bool(step.arms)) == bool(step.cases):
        yield Defect((), "a branch takes on and arms, or cases: one of them", 'on = "decision", arms = { refund = "pay" }')
    elif not step.cases and (step.on is None or not step.arms):
        yield Defect((), f"{'on' if step.arms else 'arms'} is missing", "on names the value, arms say which block is run for it")
    for number, case in enumerate(step.cases[:-1]):
        if not case.when:
            yield Defect(("cases", number), "a case without when always holds: those behind it are never taken", "put it last")


def plan(step: Fields, view: View) -> Intent:
    return _plan_cases(step.cases, view) if step.cases else _plan_arms(step, view)


# ---- arms ----
def _plan_arms(step: Fields, view: View) -> Intent:
    on = step.on or ""
    remembered = view.memo.get("arm")
    if isinstance(remembered, str):
        return Done(event={"arm": remembered}) if isinstance(view.arrived, Ended) else _take_arm(step, remembered)
    word = _word(on, view)
    arm = _arm(step, word)
    return Fail(_unmatched(on, word)) if arm is None else _take_arm(step, arm)


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


def _take_arm(step: Fields, arm: str) -> Intent:
    return _take(step.arms[arm], {"arm": arm}, f'{step.on} took the arm "{arm}", which fails')


def _unmatched(on: str, word: str) -> str:
    if not word:
        return f'{on} is empty or absent, and no arm "" says what then'
    shown = word if len(word) <= _SHOWN else word[:_SHOWN] + "..."
    return f'{on} is "{shown}", and no arm says what then'


# ---- cases ----
def _plan_cases(cases: tuple[Case, ...], view: View) -> Intent:
    remembered = view.memo.get("case")
    if isinstance(remembered, int):
        return Done(event={"case": remembered}) if isinstance(view.arrived, Ended) else _take_case(cases, remembered)
    against: list[str] = []
    for number, case in enumerate(cases):
        why = guards.failing(guards.read(case.when), view.value)
        if why is None:
            return _take_case(cases, number)
        against.append(f"case {number + 1}: {why}")
    return Fail("no case holds; " + "; ".join(against))


def _take_case(cases: tuple[Case, ...], number: int) -> Intent:
    return _take(cases[number].to, {"case": number}, f"case {number + 1} was taken, which fails")


def _take(target: str, chosen: Mapping[str, Json], failure: str) -> Intent:
    if target == "continue":
        return Done(event=chosen)
    if target == "end":
        return Done(then="end", event=chosen)
    if target == "fail":
        return Fail(failure)
    return Enter(target, memo=chosen)
