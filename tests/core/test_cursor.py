"""A cursor comes back as it was written, with whatever came in for a step and was not planned with yet; one of an earlier version still
stands where it stood."""

from __future__ import annotations

import pytest

from toolgate_cli.core import cursor
from toolgate_cli.core.cursor import Frame
from toolgate_cli.core.intents import Answered, Arrived, Continued, Ended, Filled, Finding, Noted, Observed
from toolgate_cli.core.records import Turn
from toolgate_cli.core.types import Json


def deep(levels: int) -> Json:
    value: Json = 1
    for _ in range(levels):
        value = [value]
    return value


FRAMES = (
    Frame("", 3),
    Frame("body", 1, 2, cursor.INSIDE, {"iteration": 2, "list": "ab"}, ("c1", "c2"), True, None, "complete"),
    Frame("body", 0, stop=1),
    Frame("", 2, 0, cursor.OBSERVE, {"a": 1}, workflow="inner", shared=True),
    Frame("", 2, 0, cursor.MODEL, {"first": 0}, selected=0),
)


def test_what_is_written_is_read_back_whole() -> None:
    assert cursor.load(cursor.dump(FRAMES)) == FRAMES


def test_what_belongs_to_a_step_is_left_behind_with_it() -> None:
    kept = Frame("body", 1, 2, signal="complete", stop=3, workflow="inner", shared=True)
    full = kept._replace(phase=cursor.MODEL, memo={"first": 0}, calls=("c1",), wary=True, came=Continued(), selected=4)
    assert full.next() == kept._replace(position=2) and full.to(1) == kept


@pytest.mark.parametrize(
    "came",
    [
        None,
        Turn("r1", "a/b", 2, "[]"),
        Answered({"street": "Elm", "n": 1.5}),
        Noted("go ahead"),
        Continued(),
        Ended(0),
        Ended(2, "continue"),
        Ended(1, None, True),
        Filled({"order": "A-17"}),
        Observed((Finding({"a": [1, None]}), Finding(error="no file x"), Finding("text"), Finding(deep(200)))),
        Observed(()),
    ],
    ids=lambda came: type(came).__name__,
)
def test_what_has_come_in_is_read_back(came: Arrived) -> None:
    frames = cursor.arrive(FRAMES, came)
    assert cursor.load(cursor.dump(frames)) == frames and frames[-1].came == came


def test_a_cursor_of_an_earlier_version_is_read() -> None:
    old = '[["",1,0,"inside",{"iteration":1},[],false,null],["body",0,1,"plan",{},["c1"],true,["ended",1]]]'
    assert cursor.load(old) == (Frame("", 1, 0, "inside", {"iteration": 1}), Frame("body", 0, 1, "plan", {}, ("c1",), True, Ended(1)))
    assert cursor.dump(cursor.load(old)[:1]) == '[["",1,0,"inside",{"iteration":1},[],false,null]]'


def test_going_on_leaves_behind_what_belongs_to_the_step_and_nothing_else() -> None:
    frame = Frame("body", 1, 2, cursor.CALLS, {"x": 1}, ("c1",), True, Ended(1), "complete", 4)
    assert frame.next() == Frame("body", 2, 2, signal="complete", stop=4)
