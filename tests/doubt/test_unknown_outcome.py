"""A start whose end nobody saw is an unknown outcome: at once, for everybody, until somebody knows better (I8, I9, I10)."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from doubt.given import alive, at_work, change_the_tool, child, doubtful, killed, parked, refused, rows, until
from proofs import facts, homes, workers

from toolgate_cli.host import crash, processes


# ---- who is dead ----
def test_the_death_of_the_decider_is_listed_within_a_second(home: Path) -> None:
    worker, row = at_work(home, "sleep 30")
    worker.kill(signal.SIGKILL)
    began = time.monotonic()
    listed = doubtful(home)
    assert time.monotonic() - began < 1.0
    assert listed["id"] == row["id"] and listed["version"] == row["version"] + 1 and listed["doubt"] == "unsafe" and listed["attempts"] == 1
    worker.wait()
    assert workers.finish(workers.real(home, "recover")).code in (0, 9)


def test_the_installed_command_lists_it_too(home: Path) -> None:
    row = parked(home)
    homes.set_mode(home, "sleep 30")
    decider = workers.real(home, "approve", row["ref"])
    until(lambda: (home / "tries.log").exists())
    decider.kill()
    began = time.monotonic()
    [listed] = workers.finish(workers.real(home, "pending", "list")).items
    assert listed["origin"] == "OUTCOME_UNKNOWN" and time.monotonic() - began < 5.0  # an interpreter has to start first
    workers.finish(decider)


def test_an_owner_that_is_stopped_is_not_dead(home: Path) -> None:
    worker, row = at_work(home, "sleep 1")
    os.kill(worker.pid, signal.SIGSTOP)
    try:
        assert rows(home) == []
        assert refused(workers.run(home, "continue", row["run_id"])) == "run_owned"
        assert workers.run(home, "recover").items == [] and rows(home) == []
    finally:
        os.kill(worker.pid, signal.SIGCONT)
    done = worker.wait()
    assert done.code == 0 and done.answer["effect"] == "approved"


def test_a_forked_child_of_the_owner_does_not_keep_it_alive(home: Path) -> None:
    row = parked(home)
    homes.set_mode(home, "sleep 30")

    def fork(name: str) -> None:
        if name == "spawn:before" and os.fork() == 0:  # it has every descriptor of the owner
            (home / "fork.pid").write_text(str(os.getpid()))
            time.sleep(30)
            os._exit(0)

    worker = workers.spawn(home, "approve", row["ref"], point=fork)
    until(lambda: (home / "tries.log").exists() and workers.size(home / "fork.pid"))
    worker.kill()
    worker.wait()
    assert doubtful(home)["id"] == row["id"] and alive(int((home / "fork.pid").read_text()))


@pytest.mark.parametrize("verb", ["continue", "recover"])
def test_the_run_of_a_dead_driver_is_taken_over(home: Path, verb: str) -> None:
    homes.make(home)
    dies = workers.dying("commit:after", times=2)  # the first call has come to its end, the next step has not begun
    assert workers.run(home, "start", "pay", point=dies).code == crash.EXIT
    [run] = facts.read(home).runs
    assert facts.read(home).runs[run].status == "RUNNING" and len(homes.tries(home)) == 1
    assert workers.run(home, verb, run).code == 0
    left = facts.read(home)
    assert left.runs[run].status == "AWAITING_INPUT" and sorted(homes.effects(home).values()) == [1, 1, 1]


def test_two_who_recover_at_once_record_it_once(home: Path) -> None:
    killed(home, "child 30")
    done = workers.together(home, ("recover",), ("recover",), ("pending", "list"), ("recover",))
    assert {each.code for each in done} <= {0, 9}
    left = facts.read(home)
    assert left.count("TOOL_INVOCATION_OUTCOME_UNKNOWN") == 1 and left.count("RUN_RECOVERED") == 1
    assert doubtful(home)["version"] == 2


def test_a_slow_recovery_does_not_hit_the_next_start_of_the_call(home: Path) -> None:
    row = killed(home)

    def late() -> None:
        kill = processes.HostProcesses.kill_call

        def slowly(self: processes.HostProcesses, *of: Any) -> tuple[str, ...]:
            (home / "listed").touch()
            until(lambda: homes.tries(home)[row["id"]] == 2)
            return kill(self, *of)

        processes.HostProcesses.kill_call = slowly  # type: ignore[method-assign]  # it is descheduled between its look and its act

    slow = workers.spawn(home, "recover", first=late)
    until(lambda: (home / "listed").exists())
    homes.set_mode(home, "linger 0.5")
    assert workers.run(home, "recover").code == 9
    assert workers.run(home, "retry", row["id"], "--may-run-twice").code == 0
    assert slow.wait().code in (0, 9)
    assert facts.read(home).outcomes[row["id"]] == "succeeded"


# ---- doubt is sticky ----
def test_a_doubt_outlives_a_changed_tool_a_retry_and_another_approver(home: Path) -> None:
    row = killed(home)
    change_the_tool(home)
    homes.set_mode(home, "ok")
    assert refused(workers.run(home, "retry", row["id"])) == "unknown_outcome"
    assert refused(workers.run(home, "retry", row["id"], "--may-run-twice")) == "superseded"
    [fresh] = rows(home)
    assert (fresh["origin"], fresh["doubt"], fresh["version"]) == ("APPROVAL_REQUIRED", "unsafe", 3)
    assert refused(workers.run(home, "approve", fresh["ref"], "--actor", "bob")) == "unknown_outcome"
    assert homes.tries(home)[row["id"]] == 1
    done = workers.run(home, "approve", fresh["ref"], "--actor", "bob", "--may-run-twice")
    assert done.code == 0 and homes.tries(home)[row["id"]] == 2 and homes.effects(home)[row["id"]] == 1


def test_a_doubt_outlives_a_clear_failure_of_a_later_start(home: Path) -> None:
    row = killed(home)
    homes.set_mode(home, "fail")
    retried = workers.run(home, "retry", row["id"], "--may-run-twice")
    assert retried.code == 1 and retried.answer["next"] == [f"toolgate continue-tool {rows(home)[0]['ref']} --outcome-file FILE"]
    [failed] = rows(home)
    assert (failed["origin"], failed["doubt"], failed["attempts"]) == ("EXECUTION_FAILED", "unsafe", 2)
    assert refused(workers.run(home, "retry", row["id"])) == "unknown_outcome"
    assert facts.read(home).count("DECISION_REFUSED") == 1 and homes.tries(home)[row["id"]] == 2


def test_a_person_who_found_out_settles_a_doubt(home: Path) -> None:
    row = killed(home)
    (home / "found.json").write_text('{"applied": true, "result": {"paid": 5}}')
    done = workers.run(home, "continue-tool", row["id"], "--outcome-file", "found.json")
    assert done.code == 0 and done.answer["run"]["outputs"]["first"] == {"paid": 5}
    assert not [other for other in rows(home) if other["id"] == row["id"]] and homes.tries(home)[row["id"]] == 1


@pytest.mark.parametrize("effect", ["idempotent", "read_only"])
def test_a_doubtful_call_that_may_be_repeated_needs_no_flag(home: Path, effect: str) -> None:
    row = killed(home, effect=effect)
    assert doubtful(home)["doubt"] == effect
    homes.set_mode(home, "ok")
    assert workers.run(home, "retry", row["id"]).code == 0 and homes.tries(home)[row["id"]] == 2


# ---- what is left of a tool ----
def test_while_something_of_a_tool_escaped_nothing_starts_that_call_again(home: Path) -> None:
    row = killed(home, "escape 60")
    survivor = child(home)
    listed = doubtful(home)
    assert listed["still_running"] and alive(survivor)
    homes.set_mode(home, "ok")
    for _ in range(2):  # no look and no verb forgets it
        assert refused(workers.run(home, "retry", row["id"], "--may-run-twice")) == "unknown_outcome"
        assert doubtful(home)["still_running"] and homes.tries(home)[row["id"]] == 1
    os.kill(survivor, signal.SIGKILL)
    until(lambda: not alive(survivor))
    assert not doubtful(home)["still_running"]
    assert workers.run(home, "retry", row["id"], "--may-run-twice").code == 0 and homes.effects(home)[row["id"]] == 1


@pytest.mark.parametrize("how", ["child", "cleared", "marked"])
def test_recovery_ends_what_is_left_of_the_tree_and_a_look_does_not(home: Path, how: str) -> None:
    row = killed(home, f"{how} 60")
    survivor = child(home)
    assert doubtful(home)["still_running"] and alive(survivor)
    assert workers.run(home, "recover").code in (0, 9)
    assert not alive(survivor) and not doubtful(home)["still_running"]
    assert facts.read(home).count("TOOL_INVOCATION_OUTCOME_UNKNOWN", call=row["id"]) == 1


@pytest.mark.parametrize("how", ["child", "cleared", "marked"])
def test_a_decision_ends_what_is_left_of_the_tree_before_it_starts_the_call_again(home: Path, how: str) -> None:
    row = killed(home, f"{how} 60")
    survivor = child(home)
    assert doubtful(home)["still_running"]
    homes.set_mode(home, "ok")
    assert workers.run(home, "retry", row["id"], "--may-run-twice").code == 0
    assert not alive(survivor) and homes.effects(home)[row["id"]] == 1


# ---- cancel wins ----
@pytest.mark.parametrize("effect", ["unsafe", "read_only"])
def test_a_cancel_ends_a_running_call_within_a_second(home: Path, effect: str) -> None:
    worker, row = at_work(home, "child 60", effect=effect)
    survivor = child(home)
    assert workers.run(home, "cancel", row["run_id"]).answer["run"]["status"] == "CANCELLED"
    assert until(lambda: not alive(survivor), 5) < 1.0
    worker.wait()
    left = facts.read(home)
    assert left.runs[row["run_id"]].status == "CANCELLED" and not left.attempts
    assert left.count("TOOL_INVOCATION_LATE_RESULT") == 1 and left.count("TOOL_INVOCATION_COMPLETED", "RUN_COMPLETED") == 0
    assert [each["origin"] for each in rows(home)] == (["OUTCOME_UNKNOWN"] if effect == "unsafe" else [])


def test_the_doubt_of_a_cancelled_run_is_settled_by_an_outcome_and_nothing_moves(home: Path) -> None:
    row = killed(home)
    assert workers.run(home, "cancel", row["run_id"]).code in (0, 9)
    assert doubtful(home)["id"] == row["id"]
    assert refused(workers.run(home, "retry", row["id"], "--may-run-twice")) == "wrong_state"
    assert refused(workers.run(home, "continue-tool")) == "not_found"  # it is never an implicit choice
    assert workers.run(home, "continue-tool", row["id"], "--outcome-file", "settled.json").answer["run"]["status"] == "CANCELLED"
    assert rows(home) == []


def test_a_cancel_during_the_pause_before_a_repetition_keeps_the_doubt(home: Path) -> None:
    homes.make(home, effect="idempotent", mode="die")
    driver = workers.real(home, "start", "pay")
    until(lambda: 2 in facts.read(home).attempts.values())
    [run] = facts.read(home).runs
    workers.run(home, "cancel", run)
    workers.finish(driver)
    assert doubtful(home)["doubt"] == "idempotent" and sum(homes.tries(home).values()) == 1


@pytest.mark.parametrize("effect", ["idempotent", "read_only"])
def test_a_cancelled_run_whose_driver_dies_in_that_pause_leaves_no_row_that_nothing_can_end(home: Path, effect: str) -> None:
    homes.make(home, effect=effect, mode="fail")
    driver = workers.real(home, "start", "pay")
    until(lambda: 2 in facts.read(home).attempts.values())
    [run] = facts.read(home).runs
    workers.run(home, "cancel", run)
    driver.kill()
    workers.finish(driver)
    assert rows(home) == [] and not facts.read(home).attempts
    assert facts.read(home).count("TOOL_INVOCATION_CANCELLED") == 1
