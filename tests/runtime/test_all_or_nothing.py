"""I6 and I7: a fault at any point of any transaction leaves the store as it was and the run movable; nothing outside happens in one.

(That nothing outside happens in a transaction is asserted by the kit itself, in every test of this folder.)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .fakes import COMPLETE, FAILED, LOST, call
from .kit import Home
from .watch import Dump

TURN = [call("ask.send", n=1), call("free.send", n=2), {"type": "set_context", "values": {"x": "1"}}, call("idem.put", n=3)]
FLOW = texts.flow(
    "all",
    texts.step("s", "agent", agent="clerk", writes=["*"]),
    texts.uses("t", "free.send", gate="approval"),
    texts.step("loop", "block", block="body", repeat={"until": "count", "max": 2}),
    blocks={"body": [texts.uses("b", "late.send")]},
)


def prepared(home: Home) -> None:
    home.models.turns["s"] = [TURN, [COMPLETE]]
    home.write(all=FLOW)


def started(home: Home) -> None:
    home.desk().start("all", {}, {})


def approved(home: Home) -> None:
    home.decide("approve", only_run(home))


def edited(home: Home) -> None:
    home.decide("approve", only_run(home), arguments={"n": 7})


def edited_and_parked(home: Home) -> None:
    home.write(texts.operator(rules={"n": texts.rule("ask.*", "require_approval", "separate_requester = true")}))
    try:
        home.decide("approve", only_run(home), actor="bob", arguments={"n": 7})
    except ToolgateError as refusal:
        if refusal.kind != "superseded":
            raise


def failed(home: Home) -> None:
    home.tools.plan["ask.send"] = [FAILED]
    home.decide("approve", only_run(home))


def given_up(home: Home) -> None:
    home.decide("continue_tool", only_run(home))


def lost(home: Home) -> None:
    home.tools.plan["ask.send"] = [LOST]
    home.decide("retry", only_run(home))


def found_out(home: Home) -> None:
    home.decide("continue_tool", only_run(home), outcome={"applied": True})


def rejected(home: Home) -> None:
    home.decide("reject", only_run(home))


def passed(home: Home) -> None:
    desk = home.desk()
    desk.approve_step(desk.select_step(only_run(home), None, "approve"))


def cancelled(home: Home) -> None:
    home.desk().cancel(only_run(home), None)


def only_run(home: Home) -> str:
    return home.events(type="RUN_STARTED")[0].run_id or ""


Act = Callable[[Home], None]
# what has been done, and then the verb in which something fails
STORIES: dict[str, tuple[tuple[Act, ...], Act]] = {
    "start": ((), started),
    "approve": ((started,), approved),
    "approve with other arguments": ((started,), edited),
    "approve with other arguments that somebody else approves": ((started,), edited_and_parked),
    "approve a call that fails": ((started,), failed),
    "retry": ((started, failed), lost),
    "continue-tool": ((started, failed), given_up),
    "an outcome that was found out": ((started, failed, lost), found_out),
    "reject": ((started,), rejected),
    "approve --step": ((started, approved), passed),
    "cancel": ((started,), cancelled),
}


class Fault:
    """Fails at the n-th thing that transactions are asked for."""

    def __init__(self, at: int, error: Callable[[], BaseException]) -> None:
        self.left = at
        self.error = error
        self.fired = False

    def __call__(self, name: str, values: tuple[Any, ...]) -> None:
        self.left -= 1
        if self.left == 0:
            self.fired = True
            raise self.error()


def finish(home: Home) -> str:
    """Moves a run by verbs alone until it is over."""
    run = only_run(home)
    for _ in range(40):
        home.desk().pending(run, 10)  # what dead processes left is recorded by whoever looks
        status = home.run(run).status
        rows = home.rows(run)
        if status in ("COMPLETED", "FAILED", "CANCELLED"):
            return status
        if not rows:
            home.desk().continue_run(run)
            continue
        desk = home.desk()
        if rows[0].revision is None:
            desk.approve_step(desk.select_step(run, None, "approve"))
        elif rows[0].origin == "OUTCOME_UNKNOWN":
            home.decide("continue_tool", run, rows[0].id, outcome={"applied": True})
        else:
            try:
                home.decide("approve" if rows[0].origin == "APPROVAL_REQUIRED" else "retry", run, rows[0].id)
            except ToolgateError as refusal:  # a call that the policy never cleared is asked for now
                assert refusal.kind == "superseded", refusal
    raise AssertionError(f"the run is wedged: {home.run(run)}")


def broken_at(folder: Path, kind: str, story: str, at: int, error: Callable[[], BaseException]) -> bool:
    """Plays a story with a fault; False where it came to its end before."""
    folder.mkdir()
    home = Home(folder, kind)
    before, verb = STORIES[story]
    prepared(home)
    for act in before:
        act(home)
    committed: list[Dump] = [home.dump()]
    home.watch.committed = lambda: committed.append(home.dump())
    home.watch.fault = fault = Fault(at, error)
    try:
        verb(home)
    except (ToolgateError, RuntimeError):
        assert fault.fired
    home.watch.fault, home.watch.committed = None, None
    if fault.fired:
        for process in home.processes:
            process.end()
        assert home.dump() == committed[-1], f"{story}: something of a transaction that failed was kept"
        if committed[-1].get("runs"):
            status = finish(home)
            assert status == "COMPLETED" or story == "cancel" or error is _bug
            counts = [event.call_id for event in home.events(type="TOOL_INVOCATION_STARTED")]
            assert len(counts) == len(home.tools.starts) or len(counts) == len(home.tools.starts) + 1
            assert home.desk().verify().ok
    home.close()
    return fault.fired


def _full() -> BaseException:
    return ToolgateError("storage", "no space left")


def _bug() -> BaseException:
    return RuntimeError("a fault of the program")


@pytest.mark.parametrize(("error", "stride"), [(_full, 5), (_bug, 13)], ids=["full", "bug"])
@pytest.mark.parametrize("story", STORIES)
def test_a_fault_at_any_point_leaves_no_half_and_no_wedge(
    tmp_path: Path, long: bool, story: str, error: Callable[[], BaseException], stride: int
) -> None:
    at = 1
    while broken_at(tmp_path / str(at), "memory", story, at, error):
        at += 1 if long else stride
    assert at > 10, "nothing was asked of a transaction: the test has lost its subject"


@pytest.mark.parametrize("story", STORIES)
def test_a_fault_leaves_no_half_in_the_durable_store(tmp_path: Path, long: bool, story: str) -> None:
    at = 2
    while broken_at(tmp_path / str(at), "sqlite", story, at, _full):
        at += 1 if long else 17


def test_a_store_that_cannot_be_read_while_a_step_is_planned_is_no_fault_of_the_step(home: Home) -> None:
    def unreadable(name: str, values: tuple[Any, ...]) -> None:
        if name == "value":
            raise ToolgateError("storage", "the file cannot be read")

    home.watch.fault = unreadable
    with pytest.raises(ToolgateError) as caught:
        home.start("free")
    assert caught.value.kind == "storage" and "RUN_FAILED" not in home.types()


def test_state_row_outcome_and_event_commit_together(home: Home) -> None:
    prepared(home)
    run = home.start("ask")
    seen: list[tuple[str, int, int]] = []

    def look() -> None:
        with home.store.read() as tx:
            seen.append((tx.run(run).status, len(tx.find_by_run(run)), len(tx.attempts(run))))

    home.watch.committed = look
    home.decide("approve", run)
    assert list(dict.fromkeys(seen)) == [("AWAITING_TOOL_APPROVAL", 1, 0), ("RUNNING", 0, 1), ("COMPLETED", 0, 0)]


def test_a_long_stretch_of_pure_steps_is_committed_on_its_way(quick: Home) -> None:
    loop = texts.step("loop", "block", block="body", repeat={"until": "count", "max": 1200})
    quick.write(long=texts.flow("long", loop, blocks={"body": [texts.step("a", "assign", set={"x": "1"})]}))
    before = quick.watch.commits
    run = quick.start("long")
    assert quick.run(run).status == "COMPLETED" and quick.watch.commits - before >= 3
