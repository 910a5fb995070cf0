"""A cursor comes back as it was written, and one of an earlier version still stands where it stood."""

from __future__ import annotations

import pytest

from toolgate_cli.core import cursor
from toolgate_cli.core.cursor import Frame
from toolgate_cli.core.intents import Answered, Arrived, Continued, Ended, Noted
from toolgate_cli.core.records import Turn

FRAMES = (
    Frame("", 3),
    Frame("body", 1, 2, cursor.INSIDE, {"iteration": 2, "list": "ab"}, ("c1", "c2"), True, None, "complete"),
    Frame("body", 0, stop=1),
)


def test_what_is_written_is_read_back_whole() -> None:
    assert cursor.load(cursor.dump(FRAMES)) == FRAMES


@pytest.mark.parametrize(
    "came",
    [None, Turn("r1", "s", 2, "[]"), Answered({"a": 1}), Noted("go"), Continued(), Ended(0), Ended(2, "continue"), Ended(1, None, True)],
)
def test_what_has_come_in_is_read_back(came: Arrived) -> None:
    assert cursor.load(cursor.dump(cursor.arrive(FRAMES, came)))[-1].came == came


def test_a_cursor_of_an_earlier_version_is_read() -> None:
    old = '[["",1,0,"inside",{"iteration":1},[],false,null],["body",0,1,"plan",{},["c1"],true,["ended",1]]]'
    assert cursor.load(old) == (Frame("", 1, 0, "inside", {"iteration": 1}), Frame("body", 0, 1, "plan", {}, ("c1",), True, Ended(1)))
    assert cursor.dump(cursor.load(old)[:1]) == '[["",1,0,"inside",{"iteration":1},[],false,null]]'


def test_going_on_leaves_behind_what_belongs_to_the_step_and_nothing_else() -> None:
    frame = Frame("body", 1, 2, cursor.CALLS, {"x": 1}, ("c1",), True, Ended(1), "complete", 4)
    assert frame.next() == Frame("body", 2, 2, signal="complete", stop=4)
