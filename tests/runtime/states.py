"""Every state of the table of verbs, brought about by a real run, and every verb as a person has it: by the call, the run or the step."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import Verb
from toolgate_cli.core.verbs import State
from toolgate_cli.runtime.desk import Desk

from . import texts
from .fakes import ASKS, COMPLETE, FAILED, LOST, Killed
from .kit import Home
from .texts import FLOWS

NO = {"applied": False}
DOUBTS: tuple[State, ...] = ("OUTCOME_UNKNOWN", "FAILED_IN_DOUBT", "APPROVAL_IN_DOUBT", "CONFIRMATION_IN_DOUBT")


class Stand(NamedTuple):
    """A run in a state, and the call that it is about (None: it waits for a step, or for nothing)."""

    run: str
    call: str | None = None


def _approval(home: Home) -> Stand:
    return _call(home, home.start("ask"))


def _expired(home: Home) -> Stand:
    stand = _call(home, home.start("late"))
    home.clock.pass_time(3601)
    return stand


def _asked(home: Home) -> Stand:
    home.tools.plan["half.send"] = [ASKS]
    stand = _call(home, home.start("half"))
    home.decide("approve", stand.run)
    return stand


def _asked_in_doubt(home: Home) -> Stand:
    """Nobody knows how its first start ended, and the second one stopped with a question."""
    home.tools.plan["half.send"] = [LOST, ASKS]
    stand = _call(home, home.start("half"))
    home.decide("approve", stand.run)
    home.decide("retry", stand.run, may_run_twice=True)
    return stand


def _unanswered(home: Home) -> Stand:
    stand = _asked(home)
    home.clock.pass_time(3601)
    return stand


def _failed_call(home: Home) -> Stand:
    home.tools.plan["free.send"] = [FAILED]
    return _call(home, home.start("free"))


def _not_received(home: Home) -> Stand:
    return _call(home, home.start("free", text="x" * 1001))


def _not_valid(home: Home) -> Stand:
    """The schema is mended since."""
    home.write(
        texts.operator({"free.send": texts.tool("free.send", schema='{ type = "object", properties = { text = { const = "ho" } } }')})
    )
    stand = _call(home, home.start("free"))
    home.write(texts.operator())
    return stand


def _failed_in_doubt(home: Home) -> Stand:
    stand = _unknown(home)
    home.tools.plan["free.send"] = [FAILED]
    home.decide("retry", stand.run, may_run_twice=True)
    return stand


def _approval_in_doubt(home: Home) -> Stand:
    """The tool changed after a start whose end is not known."""
    home.tools.plan["ask.send"] = [LOST]
    stand = _approval(home)
    home.decide("approve", stand.run)
    home.write(texts.operator({"ask.send": texts.tool("ask.send", about="new")}))
    with suppress(ToolgateError):
        home.decide("retry", stand.run, may_run_twice=True)
    return stand


def _unknown(home: Home) -> Stand:
    home.tools.plan["free.send"] = [LOST]
    return _call(home, home.start("free"))


def _denied(home: Home) -> Stand:
    return _call(home, home.start("deny"))


def _escalated(home: Home) -> Stand:
    home.models.turns["s"] = [[{"type": "escalate", "reason": "too much money"}, COMPLETE]]
    return Stand(home.start("talk"))


def _running(home: Home) -> Stand:
    """Its owner died while the model was asked."""
    process = home.process()
    home.models.turns["s"] = [lambda request: process.die()]
    home.write(talk=FLOWS["talk"])
    home.killed(lambda: process.desk.start("talk", {}, {}))
    home.models.turns["s"] = [[COMPLETE]]
    return Stand(home.events(type="RUN_STARTED")[-1].run_id or "")


def _driven(home: Home) -> Stand:
    """Its owner is at work: a model is asked."""
    process = home.process()

    def asked(_: object) -> list[object]:
        process.store.dead = True  # nothing more of it happens in this test, and its lock is held
        raise Killed

    home.models.turns["s"] = [asked]
    home.write(talk=FLOWS["talk"])
    home.killed(lambda: process.desk.start("talk", {}, {}))
    return Stand(home.events(type="RUN_STARTED")[-1].run_id or "")


def _failed_by_definition(home: Home) -> Stand:
    """At a value that no step writes."""
    home.write(slip=texts.flow("slip", texts.step("s", "assign", set={"n": "1"}), texts.step("t", "assign", set={"m": "${nn}"})))
    return Stand(home.start("slip"))


def _failed_for_good(home: Home) -> Stand:
    """At an agent, which its workflow does not let be repeated; the step before it is another kind."""
    home.write(stuck=texts.flow("stuck", texts.step("s", "assign", set={"n": "1"}), texts.step("asks", "agent", agent="clerk")))
    return Stand(home.start("stuck"))


def _cancelled(home: Home) -> Stand:
    run = home.start("ask")
    home.desk().cancel(run, None)
    return Stand(run)


def _in_doubt(home: Home) -> Stand:
    stand = _unknown(home)
    home.desk().cancel(stand.run, None)
    return stand


def _call(home: Home, run: str) -> Stand:
    return Stand(run, home.row(run).id)


BRING_ABOUT: dict[State, Callable[[Home], Stand]] = {
    "APPROVAL_REQUIRED": _approval,
    "EXPIRED": _expired,
    "CONFIRMATION_REQUIRED": _asked,
    "CONFIRMATION_IN_DOUBT": _asked_in_doubt,
    "UNANSWERED": _unanswered,
    "EXECUTION_FAILED": _failed_call,
    "APPROVAL_IN_DOUBT": _approval_in_doubt,
    "FAILED_IN_DOUBT": _failed_in_doubt,
    "NOT_VALID": _not_valid,
    "NOT_RECEIVED": _not_received,
    "OUTCOME_UNKNOWN": _unknown,
    "POLICY_DENIED": _denied,
    "STEP_APPROVAL": lambda home: Stand(home.start("gate")),
    "ESCALATION": _escalated,
    "REVIEW": lambda home: Stand(home.start("review")),
    "INPUT": lambda home: Stand(home.start("form")),
    "RUNNING": _running,
    "DRIVEN": _driven,
    "PAUSED": lambda home: Stand(home.start("pauses")),
    "FAILED": lambda home: Stand(home.start("lacks")),
    "FAILED_BY_DEFINITION": _failed_by_definition,
    "FAILED_FOR_GOOD": _failed_for_good,
    "COMPLETED": lambda home: Stand(home.start("free")),
    "CANCELLED": _cancelled,
    "CANCELLED_IN_DOUBT": _in_doubt,
}

Way = Callable[[Desk, Stand], object]


def _by_call(verb: str) -> Way:
    def act(desk: Desk, stand: Stand) -> object:
        return _decide(desk, verb, [stand.call or ""])

    return act


def _by_run(verb: str) -> Way:
    return lambda desk, stand: _decide(desk, verb, [stand.run])


def _decide(desk: Desk, verb: str, words: list[str], *, outcome: bool = False) -> object:
    target = desk.select(words, verb)  # type: ignore[arg-type]  # a verb
    match verb:
        case "approve":
            return desk.approve(target, may_run_twice=True)
        case "reject":
            return desk.reject(target, reason="no")
        case "retry":
            return desk.retry(target, may_run_twice=True)
        case _:
            return desk.continue_tool(target, outcome=NO if outcome else None)


def _by_step(verb: Verb, step: str | None = "s") -> Way:
    def act(desk: Desk, stand: Stand) -> object:
        target = desk.select_step(stand.run, step, verb)
        if verb == "review":
            return desk.review(target, note="seen")
        return (desk.approve_step if verb == "approve" else desk.reject_step)(target, reason="because")

    return act


def _outcome(desk: Desk, stand: Stand) -> object:
    return _decide(desk, "continue-tool", [stand.call or ""], outcome=True)


def edit(desk: Desk, stand: Stand) -> object:
    """An approval with other arguments."""
    return desk.approve(desk.select([stand.call or stand.run], "approve"), may_run_twice=True, arguments={"text": "ho"})


BY_CALL: dict[Verb, tuple[Way, ...]] = {
    "approve": (_by_call("approve"), edit),
    "reject": (_by_call("reject"),),
    "retry": (_by_call("retry"),),
    "continue-tool": (_by_call("continue-tool"), _outcome),
}
BY_RUN: dict[Verb, tuple[Way, ...]] = {
    "approve": (_by_step("approve"), _by_run("approve"), edit),
    "reject": (_by_step("reject"), _by_run("reject")),
    "retry": (_by_run("retry"),),
    "continue-tool": (_by_run("continue-tool"),),
    "answer": (lambda desk, stand: desk.answer(desk.select_step(stand.run, None, "answer"), {"street": "High Street"}, {}),),
    "review": (_by_step("review"), _by_step("review", None)),
    "continue": (lambda desk, stand: desk.continue_run(stand.run),),
    "retry --step": (lambda desk, stand: desk.retry_step(stand.run, "s"),),
    "cancel": (lambda desk, stand: desk.cancel(stand.run, "enough"),),
}


def ways(verb: Verb, stand: Stand) -> tuple[Way, ...]:
    """How a person can say it: by the call where there is one, by the step, by the run."""
    return (*(BY_CALL.get(verb, ()) if stand.call is not None else ()), *BY_RUN[verb])


def way(state: State, verb: Verb, stand: Stand) -> Way:
    """The one that a person would take."""
    return _outcome if (state, verb) == ("CANCELLED_IN_DOUBT", "continue-tool") else ways(verb, stand)[0]


def obey(home: Home, hint: str) -> object:
    """Does what a hint says, word by word, as the command line would; the reason that a flag asks for is given."""
    name, verb, *words = hint.split()
    assert name == "toolgate", hint
    desk = home.desk()
    if verb in ("approve", "reject") and "--step" in words:
        run, _, step = words
        target = desk.select_step(run, step, verb)  # type: ignore[arg-type]  # approve or reject
        return desk.approve_step(target) if verb == "approve" else desk.reject_step(target)
    if verb == "retry" and "--step" in words:
        run, _, step = words
        return desk.retry_step(run, step)
    if verb in ("approve", "reject", "retry", "continue-tool"):
        outcome = words[-2:] == ["--outcome-file", "FILE"]
        return _decide(desk, verb, words[:-2] if outcome else words, outcome=outcome)
    if verb == "runs":
        return desk.show_run(words[1])
    [about] = words
    match verb:
        case "review":
            return desk.review(desk.select_step(about, None, "review"), note="seen")
        case "answer":
            return desk.answer(desk.select_step(about, None, "answer"), {"street": "High Street"}, {})
        case "start":
            return desk.start(about, {}, {})
        case "continue":
            return desk.continue_run(about)
        case "wait":
            return desk.wait(about, "done", 0)
    raise ToolgateError("usage", f"no such command: {hint}")
