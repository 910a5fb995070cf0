"""Grown workflows in a world that is always the same: what a tool, a model or a person does follows from a number and from what it is
about, never from when it is asked or which process asks. So a run with crashes can be held against the same run without any."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.runtime.fakes import COMPLETE, DECLINED, FAILED, LOST, OK, Killed, Started, Tools, call
from tests.runtime.kit import Home, payload
from toolgate_cli.core import canonical
from toolgate_cli.core.records import Event, Row, Run
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.turns import Completion, TurnRequest
from toolgate_cli.core.types import Json

from . import growing

MOST = 400  # acts of people, and restarts, until a run has to be over
PATIENCE = 3  # pauses of a run, before somebody has had enough of a loop whose agents never say that they are done
WAITS = {
    "STEP_APPROVAL": "STEP_AWAITING_APPROVAL",
    "REVIEW": "STEP_AWAITING_REVIEW",
    "ESCALATION": "AWAITING_APPROVAL",
    "INPUT": "AWAITING_INPUT",
}
ENDS = ("ok", "failed", "declined", "lost, done", "lost, not done")


def dice(*about: object) -> random.Random:
    return random.Random(repr(about))


class Effects(Tools):
    """Tools that note what they have done. `ends`: by call, how its starts ended; `done`: the starts that took effect."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        self.ends: dict[str, list[str]] = {}
        self.done: list[Started] = []

    def invoke(self, started: Started) -> ToolResult:
        self.starts.append(started)
        ends = self.ends.setdefault(started.call, [])
        ends.append(self.end(started.capability, started.arguments, len(ends)))
        if ends[-1] in ("ok", "lost, done"):
            self.done.append(started)
        return {"ok": OK, "failed": FAILED, "declined": DECLINED}.get(ends[-1], LOST)

    def end(self, capability: str, arguments: str, before: int) -> str:
        """How a start of such a call ends, by the starts before it."""
        how = dice(self._number, capability, arguments).choices(ENDS, (12, 3, 1, 2, 2))[0]
        return how if before == 0 or how == "declined" else "ok"


class Voices:
    """Every model: its turns follow from the step and how often it was asked there; in the end it says that it is done. `mixed`: calls that
    may have to wait stand in one batch with others; those start before or after a person's word, which depends on when it is said."""

    def __init__(self, number: int, *, mixed: bool = False) -> None:
        self._number, self._mixed = number, mixed

    def complete(self, request: TurnRequest) -> Completion:
        chance = dice(self._number, request.path, request.ordinal)
        if request.commands == ("continue", "complete"):
            return Completion([COMPLETE if request.ordinal > 3 or chance.random() < 0.5 else {"type": "continue"}])
        if chance.random() < 0.07:
            return Completion(text="Sure!")
        if "tool_invocation" not in request.commands:
            more = {"type": "continue", "wants_another_round": True, "reason": "the amount is above the limit"}
            return Completion([{"type": "say", "message": f"so {request.ordinal}"}, *([more] if chance.random() < 0.5 else [])])
        if request.ordinal > 5:
            return Completion([COMPLETE])
        return Completion(self._turn(chance, f"{request.step} {request.ordinal}"))

    def _turn(self, chance: random.Random, where: str) -> Json:
        commands: list[Json] = []
        for n in range(chance.randint(1, 4)):
            tool = call(chance.choice(("free.send", "free.send", "ask.send", "idem.put", "deny.send", "no.such")), text=f"{where} {n}")
            commands.append(
                chance.choice(
                    (
                        *[tool] * 4,
                        {"type": "set_context", "values": {"w": chance.choice(growing.WORDS), "own": n}},
                        {"type": "ask", "question": "which one?"},
                        {"type": "say", "message": f"well {n}"},
                        {"type": "escalate", "reason": "too much"},
                        {"type": "continue", "wants_another_round": chance.random() < 0.5},
                    )
                )
            )
            if not self._mixed and commands[-1] is tool and tool["capability"] not in ("free.send", "idem.put"):
                commands[-1:] = [{"type": "say", "message": "well"}, tool, {"type": "say", "message": "so"}]
        return [*commands, COMPLETE] if chance.random() < 0.5 else commands


class Point:
    """Counts the begins and the commits of write transactions, and ends the process at those that `dies` names."""

    def __init__(self, home: Home, dies: Callable[[int], bool] | None) -> None:
        self.home, self.dies, self.passed = home, dies, 0
        home.watch.committed = self._pass
        home.watch.fault = self._begun if dies is not None else None

    def _begun(self, name: str, values: tuple[Any, ...]) -> None:
        if name == "identity":  # every transaction of a use case asks for it once, first of all
            self._pass()

    def _pass(self) -> None:
        self.passed += 1
        if self.dies is not None and self.dies(self.passed):
            self.home.processes[-1].die()


class Life(NamedTuple):
    """How a run went. `trace`: what the log tells of its steps; `done`: its effects in their order, each once."""

    status: str
    context: Mapping[str, tuple[Json, str]]
    outputs: Mapping[str, Json]
    trace: list[tuple[str, str | None, Json]]
    done: list[tuple[str, str]]
    events: list[Event]
    points: int


class Living:
    """One run of a grown workflow, from its start to its end."""

    def __init__(self, folder: Path, store: str, number: int, dies: Callable[[int], bool] | None = None) -> None:
        self.number, self.grown = number, growing.grow(number)
        self.home = Home(folder, store, seed=str(number))
        self.tools = self.home.tools = Effects(number)
        self.home.models = Voices(number)  # type: ignore[assignment]  # all that is asked of models
        self.home.write(growing.OPERATOR, **self.grown.files)
        for name, text in growing.DATA.items():
            (folder / name).write_text(text)
        self.run = ""
        self.crashes = 0
        self.point = Point(self.home, dies)

    def play(self) -> Life:
        for _ in range(MOST):
            try:
                if not self._act():
                    return self._life()
            except Killed:
                self.crashes += 1
        raise AssertionError(f"it does not come to an end: {self.home.run(self.run)}")

    def _act(self) -> bool:
        """Whatever a person would do now; False where nobody wants anything more of it."""
        home = self.home
        found = home.events(type="RUN_STARTED")
        if not found:
            home.desk().start("w0", {}, {})
            return True
        self.run = str(found[0].run_id)
        if self.crashes:
            home.desk().pending(None, 10)  # what a dead process left is recorded by whoever looks
        run, rows = home.run(self.run), home.rows(self.run)
        if rows:
            self.decide(min(rows, key=lambda row: (row.origin != "OUTCOME_UNKNOWN", self._asked(row))))
        elif run.status == "RUNNING" and dice(self.number, self.crashes).random() < 0.5:
            home.desk().recover(None, None)
        elif run.status == "PAUSED" and len(home.events(self.run, "RUN_PAUSED")) > PATIENCE:
            home.desk().cancel(self.run, "enough")
        elif run.status in ("RUNNING", "PAUSED"):
            home.desk().continue_run(self.run)
        else:
            return run.status == "FAILED" and self._go_back(run)
        return True

    def _go_back(self, run: Run) -> bool:
        """Once, from where it failed, if its workflow lets anybody."""
        error = canonical.parse(run.error or "{}")
        assert isinstance(error, dict)
        top = str(error["step"]).split("/")[0]
        table = self.grown.steps[top]
        bound = table["type"] in ("agent", "spar") and not table.get("retry", {}).get("allow")
        again = [event for event in self.home.events(self.run, "STEP_RETRIED") if "status" in payload(event)]
        if again or bound or dice(self.number, "back").random() < 0.4:
            return False
        try:
            self.home.desk().retry_step(self.run, top, may_run_twice=True)
        except Exception as refusal:
            assert "used up" in str(refusal), refusal
            return False
        return True

    # ---- decisions ----
    def decide(self, row: Row) -> None:
        desk = self.home.desk()
        if row.revision is not None:
            self._decide_call(row)
            return
        asked = sum(event.step_id == row.step for event in self.home.events(self.run, WAITS[row.origin]))
        chance = dice(self.number, row.step, row.origin, asked)
        target = desk.select_step(self.run, row.step, {"REVIEW": "review", "INPUT": "answer"}.get(row.origin, "approve"))  # type: ignore[arg-type]  # a verb
        if row.origin == "REVIEW":
            desk.review(target, note="seen")
        elif row.origin == "INPUT":
            desk.answer(target, {str(item["id"]): answer(item, chance) for item in target.form}, {})  # type: ignore[union-attr,index,call-overload]  # a form
        elif chance.random() < 0.9:
            desk.approve_step(target, reason="fine")
        else:
            desk.reject_step(target, reason="no")

    def _decide_call(self, row: Row) -> None:
        home, ends = self.home, self.tools.ends.get(row.id, [])
        calls = [event.call_id for event in home.events(self.run, "TOOL_INVOCATION_REQUESTED") if event.step_id == row.step]
        chance = dice(self.number, row.step, calls.index(row.id), row.origin == "APPROVAL_REQUIRED", len(ends))
        end = ends[-1] if ends else None
        if row.origin == "APPROVAL_REQUIRED":
            way = chance.choices(("approve", "edit", "reject"), (8, 2, 2))[0]
            edit = {"arguments": {"text": f"edited {row.step}"}} if way == "edit" else {}
            more = {"reason": "no"} if way == "reject" else {"may_run_twice": True}
            home.decide("reject" if way == "reject" else "approve", self.run, row.id, **more, **edit)
        elif end in ("ok", "lost, done"):  # a person looks, and finds that it took effect
            home.decide("continue_tool", self.run, row.id, outcome={"applied": True, "result": "done"})
        elif end in ("declined", "lost, not done") or (end is None and row.origin == "OUTCOME_UNKNOWN"):
            home.decide("retry", self.run, row.id, may_run_twice=True)
        elif end is None:  # it was refused before any start
            home.decide(chance.choice(("reject", "continue_tool")), self.run, row.id, reason="no")
        elif chance.random() < 0.6 or self._is_repeated(row):
            home.decide("retry", self.run, row.id, may_run_twice=True)
        else:  # whoever looks finds that it did not take effect
            doubtful = row.doubt is not None or row.origin == "OUTCOME_UNKNOWN"
            more = {"outcome": {"applied": False, "result": "it failed"}} if doubtful else {}
            home.decide("continue_tool", self.run, row.id, **more)

    def _asked(self, row: Row) -> int:
        """Rows of one turn were made at the same time: people take them in the order in which they were asked for."""
        return next((event.seq for event in self.home.events(self.run) if event.call_id == row.id), 0)

    def _is_repeated(self, row: Row) -> bool:
        """The gate itself would have started it again."""
        capability = next(event.capability for event in self.home.events(self.run) if event.call_id == row.id)
        return capability in ("idem.put", "read.it")

    # ---- what came of it ----
    def _life(self) -> Life:
        home = self.home
        with home.store.read() as tx:
            kept = {key: tx.value(self.run, key) for key in tx.keys(self.run)}
            outputs = {step.path: (step.ended, step.output) for step in tx.steps(self.run)}
        context = {key: (value.value, value.provenance) for key, value in kept.items() if value is not None and value.value is not None}
        events = home.events(self.run)
        trace = [told(event) for event in events if event.type in TOLD]
        return Life(home.run(self.run).status, context, outputs, trace, self._effects(), events, self.point.passed)

    def _effects(self) -> list[tuple[str, str]]:
        """Each once; what may be repeated was, with the same key."""
        once = {started.key: started for started in reversed(self.tools.done)}
        again = [started for started in self.tools.done if once[started.key] is not started]
        assert {started.capability for started in again} <= {"idem.put", "read.it"}, f"it took effect twice: {again}"
        return [(started.capability, started.arguments) for started in self.tools.done if once[started.key] is started]


TOLD = (
    "RUN_STARTED", "RUN_COMPLETED", "RUN_FAILED", "RUN_CANCELLED", "RUN_PAUSED", "STEP_STARTED", "STEP_COMPLETED", "STEP_FAILED",
    "STEP_RETRIED",
    "STEP_AWAITING_REVIEW", "STEP_REVIEWED", "STEP_AWAITING_APPROVAL", "STEP_APPROVED", "STEP_REJECTED", "AWAITING_INPUT",
    "INPUT_SUBMITTED", "AWAITING_APPROVAL", "APPROVED", "REJECTED", "CONTEXT_UPDATED", "LOOP_ITERATION_STARTED",
    "LOOP_ITERATION_COMPLETED", "LLM_CALL_COMPLETED", "TOOL_INVOCATION_REQUESTED",
)  # fmt: skip
FACTS = (
    "iteration", "list", "keys", "arm", "case", "attempt", "by", "target", "mode", "skipped", "message", "reason", "items", "note",
    "ordinal",
)  # fmt: skip


def told(event: Event) -> tuple[str, str | None, Json]:
    """What an event says of the workflow, whoever's ids and times it has."""
    return event.type, event.step_id, {name: value for name, value in payload(event).items() if name in FACTS}


def answer(item: Mapping[str, Json], chance: random.Random) -> str:
    """As a person would type it."""
    options = item.get("options")
    return str(chance.choice(options)) if isinstance(options, list) else f"street {chance.randint(1, 9)}"
