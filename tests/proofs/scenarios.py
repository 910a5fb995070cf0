"""Where each verb is interrupted: the home as it stands before, the command, and the event that says that it was decided."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from toolgate_cli.host import crash

from . import facts, flows, homes
from .workers import Done, dying, run

Effect = str


class Scenario(NamedTuple):
    """`prepare` makes the home up to the command; `words` are the command's, {run} and {ref} filled in; `decision` the event that
    takes the row away. `policy`, `mode`: how the home stands; `then`: the tool's mode from the command on."""

    name: str
    words: tuple[str, ...]
    decision: str
    prepare: Callable[[Path], None]
    policy: str = "allow"
    mode: str = "ok"
    then: str = "ok"
    gate: str = "approval"
    flow: str | None = None


class Ready(NamedTuple):
    """A prepared home; `run` None: there is none yet."""

    home: Path
    words: tuple[str, ...]
    run: str | None
    target: str | None  # the row that the command is about


def _said(done: Done, *codes: int) -> None:
    assert done.code in (codes or (0,)), done


def nothing(_home: Path) -> None:
    """No database yet."""


def started(home: Path) -> None:
    _said(run(home, "start", "pay"), 0, 1, 9)


def a_run_before(home: Path) -> None:
    """So that the files are checked and the database is made."""
    started(home)
    if facts.read(home).runs[_only(home)].status not in facts.OVER:
        _said(run(home, "cancel", _only(home)))


def one_of_the_batch(home: Path) -> None:
    """The agent's first call is approved, the second waits."""
    started(home)
    for _ in range(2):
        _said(run(home, "approve", run(home, "pending", "list").items[-1]["ref"]))


def at_the_gate(home: Path) -> None:
    started(home)
    _said(run(home, "answer", _only(home), "number=7"))


def in_a_replay(home: Path) -> None:
    """The first pass is approved; what is run again waits."""
    started(home)
    _said(run(home, "approve", run(home, "pending", "list").items[-1]["ref"]))


def killed(home: Path) -> None:
    """The process that ran the first call is dead; nobody has noticed."""
    assert run(home, "start", "pay", point=dying("spawn:after", home / "effects.log")).code == crash.EXIT


def driverless(home: Path) -> None:
    """The process died right after its run began."""
    assert run(home, "start", "pay", point=dying("commit:after", times=2)).code == crash.EXIT


def _only(home: Path) -> str:
    return next(reversed(facts.read(home).runs))


GIVE_UP = ("continue-tool", "{ref}")
EDIT = ("approve", "{ref}", "--arguments", "edited.json")
APPROVE = ("approve", "{ref}")
SCENARIOS = (
    Scenario("start", ("start", "pay"), "RUN_STARTED", a_run_before),
    Scenario("start from nothing", ("start", "pay"), "RUN_STARTED", nothing, policy="require_approval"),
    Scenario("start, reading files", ("start", "look"), "RUN_STARTED", a_run_before),
    Scenario("start, failing once", ("start", "pay"), "RUN_STARTED", a_run_before, then="fail-once"),
    Scenario("start, in doubt once", ("start", "pay"), "RUN_STARTED", a_run_before, then="die-once"),
    Scenario("approve", ("approve", "{ref}"), "TOOL_INVOCATION_APPROVED", started, policy="require_approval"),
    Scenario("approve --arguments", EDIT, "TOOL_INVOCATION_SUPERSEDED", started, policy="require_approval"),
    Scenario("approve the last of a batch", ("approve", "{ref}"), "TOOL_INVOCATION_APPROVED", one_of_the_batch, policy="require_approval"),
    Scenario("reject", ("reject", "{ref}"), "TOOL_INVOCATION_REJECTED", started, policy="require_approval"),
    Scenario("retry", ("retry", "{ref}"), "TOOL_INVOCATION_RETRIED", started, mode="fail"),
    Scenario("retry of a doubt", ("retry", "{ref}", "--may-run-twice"), "TOOL_INVOCATION_RETRIED", killed),
    Scenario("continue-tool", GIVE_UP, "TOOL_INVOCATION_CONTINUED", started, mode="fail"),
    Scenario("continue-tool with an outcome", (*GIVE_UP, "--outcome-file", "settled.json"), "TOOL_INVOCATION_CONTINUED", killed),
    Scenario("approve of a question", APPROVE, "TOOL_INVOCATION_APPROVED", started, mode="ask"),
    Scenario("reject of a question", ("reject", "{ref}"), "TOOL_INVOCATION_REJECTED", started, mode="ask"),
    Scenario("cancel", ("cancel", "{run}"), "RUN_CANCELLED", started, policy="require_approval"),
    Scenario("cancel of a doubt", ("cancel", "{run}"), "RUN_CANCELLED", killed),
    Scenario("answer", ("answer", "{run}", "number=7"), "INPUT_SUBMITTED", started),
    Scenario("approve --step", ("approve", "{run}", "--step", "sign"), "STEP_APPROVED", at_the_gate),
    Scenario("review", ("review", "{run}", "-m", "seen"), "STEP_REVIEWED", at_the_gate, gate="review"),
    Scenario("continue", ("continue", "{run}"), "RUN_CONTINUED", driverless),
    Scenario("recover", ("recover",), "RUN_RECOVERED", killed),
    Scenario("start with a talk", ("start", "pay"), "RUN_STARTED", nothing, flow=flows.TALKS),
    Scenario("start with a choice of tools", ("start", "pay"), "RUN_STARTED", a_run_before, flow=flows.CHOOSES),
    Scenario("answer in a talk", ("answer", "{run}", "number=7"), "INPUT_SUBMITTED", started, flow=flows.TALKS),
    Scenario("approve --step in a talk", ("approve", "{run}", "--step", "talk"), "APPROVED", at_the_gate, flow=flows.TALKS),
    Scenario("approve in a loop", APPROVE, "TOOL_INVOCATION_APPROVED", started, policy="require_approval", flow=flows.LOOPS),
    Scenario("approve in a replay", APPROVE, "TOOL_INVOCATION_APPROVED", in_a_replay, policy="require_approval", flow=flows.REPLAYS),
    Scenario("approve in a workflow inside", APPROVE, "TOOL_INVOCATION_APPROVED", started, policy="require_approval", flow=flows.NESTED),
)  # fmt: skip


def ready(scenario: Scenario, effect: Effect, home: Path, brief: bool, provider: str = "command") -> Ready:
    """The home right before the command, and the command. `brief`: with the shorter workflow, where the run can stand in it."""
    brief = brief and scenario.prepare is not driverless
    made = {"policy": scenario.policy, "gate": scenario.gate, "mode": scenario.mode, "flow": scenario.flow}
    homes.make(home, effect=effect, brief=brief, provider=provider, **made)
    scenario.prepare(home)
    homes.set_mode(home, scenario.then)
    if not any("{" in word for word in scenario.words):
        return Ready(home, scenario.words, None, None)
    id = _only(home)
    seen = facts.read(home)
    target = next(reversed([*seen.rows, *seen.attempts]), None)  # a doubt that nobody has seen yet is still an attempt
    return Ready(home, tuple(word.format(ref=target, run=id) for word in scenario.words), id, target)
