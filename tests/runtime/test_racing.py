"""I2 with real threads: of eight who decide the same row at once, one wins, and nobody is told that a tool failed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .fakes import COMPLETE, FAILED
from .kit import Home, Process

EIGHT = 8


def race(home: Home, acts: list[Callable[[Process, Any], object]], run: str, *, choose: bool = True) -> Counter[str]:
    """Everybody has seen the same row, where there is one to choose, and acts at the same moment; how it ended for each."""
    ends: list[str] = []
    barrier = threading.Barrier(len(acts))

    def decide(act: Callable[[Process, Any], object]) -> None:
        store = home.open_store()
        process = home.process(store=store)
        target = process.desk.select([run], "reject") if choose else None
        barrier.wait()
        try:
            act(process, target)
            ends.append("won")
        except ToolgateError as error:
            ends.append(error.kind)
        finally:
            store.close()

    threads = [threading.Thread(target=decide, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Counter(ends)


def approve(process: Process, target: Any) -> object:
    return process.desk.approve(target)


def reject(process: Process, target: Any) -> object:
    return process.desk.reject(target)


def retry(process: Process, target: Any) -> object:
    return process.desk.retry(target)


def give_up(process: Process, target: Any) -> object:
    return process.desk.continue_tool(target)


def cancel(process: Process, target: Any) -> object:
    return process.desk.cancel(target.row.run_id, None)


def edit(process: Process, target: Any) -> object:
    return process.desk.approve(target, arguments={"text": process.owner.name})


RACES = {
    "approve": [approve] * EIGHT,
    "approve or reject": [approve, reject] * (EIGHT // 2),
    "approve or edit": [approve, edit] * (EIGHT // 2),
    "edit": [edit] * EIGHT,
    "edit or reject": [edit, reject] * (EIGHT // 2),
}


@pytest.mark.parametrize("acts", RACES.values(), ids=RACES)
def test_of_eight_deciders_one_wins(home: Home, acts: list[Any]) -> None:
    for round in range(3):
        run = home.start("ask")
        before = len(home.tools.starts)
        ends = race(home, acts, run)
        assert ends == {"won": 1, "claim_lost": EIGHT - 1}, round
        assert home.run(run).status == "COMPLETED" and len(home.tools.starts) - before <= 1
        assert len(home.tools.starts) - before == home.types(run).count("TOOL_INVOCATION_STARTED")
        assert home.types(run).count("RUN_COMPLETED") == 1 and home.rows(run) == []
    assert home.desk().verify().ok


def test_of_an_edit_that_is_parked_and_an_approval_one_wins(home: Home) -> None:
    home.write(texts.operator(rules={"more": texts.rule("ask.*", "require_approval", "separate_requester = true")}))
    run = home.start("ask", actor="dora")
    ends = race(home, [edit, approve] * (EIGHT // 2), run)
    if home.rows(run):
        assert ends == {"superseded": 1, "claim_lost": EIGHT - 1} and home.tools.starts == []
        row = home.row(run)
        assert (row.version, row.revision) == (2, 2) and home.types(run).count("TOOL_INVOCATION_SUPERSEDED") == 1
    else:
        assert ends == {"won": 1, "claim_lost": EIGHT - 1} and len(home.tools.starts) == 1
    assert home.desk().verify().ok


def test_a_retry_and_a_continue_tool_at_once_leave_one_end(home: Home) -> None:
    home.tools.plan["free.send"] = [FAILED]
    run = home.start("free")
    ends = race(home, [retry, give_up] * (EIGHT // 2), run)
    assert ends["won"] == 1 and home.run(run).status == "COMPLETED" and home.types(run).count("RUN_COMPLETED") == 1
    with home.store.read() as tx:
        assert ("tool.free.send" in tx.keys(run)) != ("tool.free.send.error" in tx.keys(run))


@pytest.mark.parametrize("others", [give_up, reject])
def test_a_denied_call_is_given_up_once(home: Home, others: Callable[[Process, Any], object]) -> None:
    run = home.start("deny")
    ends = race(home, [give_up, others] * (EIGHT // 2), run)
    assert ends == {"won": 1, "claim_lost": EIGHT - 1} and home.tools.starts == [] and home.rows(run) == []
    assert home.run(run).status == "COMPLETED" and home.types(run).count("RUN_COMPLETED") == 1
    assert others is reject or home.value(run, "tool.deny.send.error") == "by hand only"
    with home.store.read() as tx:
        assert "tool.deny.send" not in tx.keys(run)


def test_retries_of_a_step_at_once_never_exceed_its_budget(home: Home) -> None:
    agent = texts.step("s", "agent", agent="clerk", retry={"allow": True, "max_retries": 2})
    home.write(talk=texts.flow("talk", agent, texts.step("stop", "fail", reason="x")))
    home.models.turns["s"] = [[{"type": "complete", "output": "over"}]] * (3 * EIGHT + 1)
    run = home.start("talk")
    barrier = threading.Barrier(EIGHT)

    def again() -> None:
        store = home.open_store()
        desk = home.process(store=store).desk
        barrier.wait()
        for _ in range(3):  # whoever comes while another drives is refused for that
            with suppress(ToolgateError):
                desk.retry_step(run, "s")
        store.close()

    threads = [threading.Thread(target=again) for _ in range(EIGHT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 2 <= len(home.models.asked) <= 3 and home.types(run).count("STEP_RETRIED") == len(home.models.asked) - 1
    assert home.run(run).status == "FAILED" and home.desk().verify().ok


def test_a_cancel_and_an_approve_at_once_never_both_take_effect(home: Home) -> None:
    for _ in range(3):
        run = home.start("ask")
        before = len(home.tools.starts)
        race(home, [approve, cancel], run)
        done = "TOOL_INVOCATION_COMPLETED" in home.types(run)
        assert home.run(run).status == ("COMPLETED" if done else "CANCELLED") and home.rows(run) == []
        assert len(home.tools.starts) - before == home.types(run).count("TOOL_INVOCATION_STARTED")


@pytest.mark.parametrize("most", [1, 3])
def test_of_eight_who_retry_a_step_no_more_succeed_than_its_budget_has_units(home: Home, most: int) -> None:
    bounded = texts.step("s", "agent", agent="clerk", retry={"allow": True, "max_retries": most})
    home.write(talk=texts.flow("talk", bounded, texts.step("stop", "fail", reason="x")))
    home.models.turns["s"] = [[COMPLETE]] * (EIGHT + 1)
    run = home.start("talk")
    ends = race(home, [lambda process, _: process.desk.retry_step(run, "s")] * EIGHT, run, choose=False)
    assert ends["won"] == len(home.models.asked) - 1 == len(home.events(run, "STEP_RETRIED"))
    assert 1 <= ends["won"] <= most and set(ends) <= {"won", "wrong_state", "run_owned", "claim_lost"}, ends
    for _ in range(ends["won"], most):
        home.desk().retry_step(run, "s")
    with pytest.raises(ToolgateError) as caught:
        home.desk().retry_step(run, "s")
    assert f"used up its {most} retries" in caught.value.message and len(home.models.asked) == most + 1
    assert home.desk().verify().ok
