"""Starts a run, continues one, cancels one, and repositions one that failed: the verbs that move a run as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..core import canonical, cursor
from ..core.definition import Definition, opened
from ..core.errors import ToolgateError
from ..core.intents import Continued
from ..core.records import Definition as Stored
from ..core.records import Row, RowQuery, Run, RunQuery, Value
from ..core.types import Json, Verb
from ..core.world import Needs
from . import doubts, ownership, parking, recovery, settling, standing
from .engine import Engine
from .place import put
from .unit import Unit
from .window import from_inside
from .work import Prepare, Work

if TYPE_CHECKING:
    from .ports import Bundle


class _NotReady(Exception):  # no error: the transaction is taken back, and what it needs is fetched
    """The very first call needs something from outside."""

    def __init__(self, needs: Needs) -> None:
        super().__init__()
        self.needs = needs


def start(engine: Engine, bundle: Bundle, inputs: Mapping[str, Json]) -> str:
    """A new run of the workflow as it is now, driven to its first wait or its end; its id."""
    id = engine.ports.mint.id("r")
    while True:
        try:
            with engine.write() as unit:
                work = _begin(engine, unit, id, bundle, inputs)
                if isinstance(work, Prepare) and not work.needs.probes:
                    raise _NotReady(work.needs)
            break
        except _NotReady as not_ready:  # nothing outside has happened yet: begun again it is one commit, not two
            engine.prepare(not_ready.needs)
    engine.carry(id, work)
    return id


def _begin(engine: Engine, unit: Unit, id: str, bundle: Bundle, inputs: Mapping[str, Json]) -> Work | None:
    unit.tx.add([Stored(bundle.digest, "workflow", bundle.body)])
    run = Run(
        id, bundle.id, bundle.digest, engine.person.name, "RUNNING", cursor.dump(cursor.start()), 1, ownership.mine(engine.ports),
        0, 0, None, unit.now, unit.now, bundle.correlation,
    )  # fmt: skip
    unit.begin(run)
    unit.tx.add(Value(id, f"inputs.{name}", -1, canonical.encode(value), None, "user") for name, value in inputs.items())
    facts: dict[str, Json] = {
        "workflow": bundle.id,
        "definition": bundle.digest,
        "config": engine.world.config.digest,
        **_vouched(engine),
        **engine.person.facts(),
    }
    unit.record("RUN_STARTED", run, facts)
    return engine.take(unit, run)


def _vouched(engine: Engine) -> dict[str, Json]:
    """Whose run it is, in the words of the operator's context: an id counts together with who issued it."""
    context = engine.world.config.context
    if context is None:
        return {}
    tenant: Json = None if context.tenant is None else dict(context.tenant._asdict())
    return {"principal": {"issuer": context.issuer, "id": engine.person.name}, "tenant": tenant}


def _allowed(unit: Unit, run_id: str, verb: Verb) -> Run:
    run = unit.run(run_id)
    if run is None:
        raise ToolgateError("not_found", f"no run {run_id}", "toolgate runs list")
    standing.handler(unit.tx, run, standing.first(unit.tx, run), verb, standing.of(unit))
    return run


def continue_run(engine: Engine, run_id: str, inside: str | None) -> None:
    """Carries a paused run on, or takes over one whose owner died. `inside`: the call that asks for it: what paused waits for a person."""
    with engine.write() as unit:
        run = _allowed(unit, run_id, "continue")
        refusal, work = _why_not(engine, unit, run, inside) if run.status == "PAUSED" else None, None
        if refusal is not None:
            told: dict[str, Json] = {"verb": "continue", "kind": refusal.kind, **engine.person.facts()}
            unit.record("DECISION_REFUSED", run, told if inside is None else {**told, "inside": inside})
        else:
            work = _take_over(engine, unit, recovery.sweep(unit, run))
    if refusal is not None:
        raise refusal
    engine.carry(run_id, work)


def _why_not(engine: Engine, unit: Unit, run: Run, inside: str | None) -> ToolgateError | None:
    """What keeps a run that has paused from going on."""
    return _begun_anew_in_doubt(engine, unit, run) if inside is None else from_inside("continue", inside)


def _begun_anew_in_doubt(engine: Engine, unit: Unit, run: Run) -> ToolgateError | None:
    """Why a loop that has paused is not begun again: a call of it may have taken effect. That of a list goes on behind what it came to."""
    stored = unit.tx.definition(run.definition)
    assert stored is not None, run.definition
    definition, frames = opened(stored), cursor.load(run.cursor)
    table = definition.within(frames).sequence(frames[-1].block)[frames[-1].position]
    repeat, inside = table.get("repeat"), f"{definition.path(frames)}/"
    if isinstance(repeat, dict) and repeat.get("until") == "each":
        return None
    refusal = doubts.since_the_last_word(unit, run, engine.world.config.tools, lambda path: path.startswith(inside))
    if refusal is None:
        return None
    top = definition.sequence("")[frames[0].position]["id"]
    hint = f"find out what happened, then toolgate retry {run.id} --step {top} --may-run-twice"
    return ToolgateError(refusal.kind, refusal.message, hint)


def _take_over(engine: Engine, unit: Unit, run: Run) -> Work | None:
    running = unit.tx.attempts(run.id)
    if run.owner is not None and ownership.alive(engine.ports, run.owner):
        raise ToolgateError(
            "run_owned", f"{run.id} is driven by {run.owner.split(':')[0]}", f"toolgate wait {run.id} --for done", retryable=True
        )
    if running:
        raise ToolgateError(
            "run_owned", f"a call of {run.id} is running under {running[0].owner}", f"toolgate wait {run.id} --for done", retryable=True
        )
    unit.record("RUN_CONTINUED", run, dict(engine.person.facts()))
    return engine.take(unit, run, Continued() if run.status == "PAUSED" else None)


def take_over_dead(engine: Engine, run_id: str | None, given_up: str | None) -> tuple[str, ...]:
    """Drives every run (or one) that a dead owner left RUNNING; `given_up`: an owner of another host that a person declares dead."""
    with engine.ports.store.read() as tx:
        running = tx.runs(RunQuery("RUNNING", limit=10_000))
        left = [run.id for run in running if run_id in (None, run.id) and not tx.attempts(run.id) and _left(engine, run, given_up)]
    for id in left:
        work = None
        with engine.apart(id), engine.write() as unit:
            run = unit.run(id)
            if run is not None and run.status == "RUNNING" and _left(engine, run, given_up) and not unit.tx.attempts(id):
                unit.record("RUN_RECOVERED", run, {"owner": run.owner, **engine.person.facts()})
                work = engine.take(unit, run)
        engine.carry(id, work)
    return tuple(left)


def _left(engine: Engine, run: Run, given_up: str | None) -> bool:
    return run.owner is None or not ownership.alive(engine.ports, run.owner, given_up)


def reject_expired(engine: Engine, run_id: str | None) -> tuple[str, ...]:
    """Rejects, as `system`, what expired where its rule says so, and drives the runs that this set free."""
    with engine.ports.store.read() as tx:
        rows = tx.rows(RowQuery(run_id, expired_by=standing.now(tx, engine.ports.clock), limit=10_000))
        runs = dict.fromkeys(row.run_id for row in rows if row.on_expiry == "reject")
    for id in runs:
        work = None
        with engine.apart(id), engine.write() as unit:
            run = unit.run(id)
            if run is not None and run.status not in ("COMPLETED", "FAILED", "CANCELLED"):
                work = engine.move_on(unit, recovery.sweep(unit, run))
        engine.carry(id, work)
    return tuple(runs)


def cancel(unit: Unit, run_id: str, reason: str | None) -> None:
    """Cancel wins (I10): open rows are closed in this transaction, running attempts are marked, nothing is started for the run after it."""
    run = unit.tx.run(run_id)
    if run is None or unit.is_sound(run):
        run = _allowed(unit, run_id, "cancel")
        if run.status == "CANCELLED":
            return
    unit.close(run)  # one that other hands changed can be ended, whatever they say that it is
    closed = []
    for row in unit.tx.find_by_run(run.id):
        if row.origin == "OUTCOME_UNKNOWN" and row.doubt != "read_only":
            continue  # a doubt stays listed until a person settles it
        unit.tx.remove(run.id, row.id)
        closed.append(row.id)
        _close(unit, run, row, parking.is_parked(unit.tx, row))
    for attempt in unit.tx.attempts(run.id):
        if attempt.state == "waiting" and unit.tx.finish(attempt) is not None:  # nothing of it runs now
            _close(unit, run, attempt.row._replace(starts=attempt.number - 1), parking.is_started(unit.tx, attempt))
    unit.tx.mark_cancelled(run.id)
    facts: dict[str, Json] = {"reason": reason, "closed": list(closed), **unit.person.facts()}
    unit.record("RUN_CANCELLED", run, facts)
    put(unit, run._replace(status="CANCELLED", owner=None), run.version)


def _close(unit: Unit, run: Run, row: Row, sound: bool) -> None:
    stored = unit.tx.call(row.id, row.revision) if row.revision is not None else None
    if stored is not None:
        reason = row.reason or "cancelled while it waited for its next attempt"
        if row.starts and not sound:
            row = row._replace(doubt="unsafe")  # other hands changed it: what it says of its doubt is not to be believed
        settling.cancelled(unit, run, stored[0], row._replace(version=row.version + 1, reason=reason))


def retry_step(engine: Engine, run_id: str, step: str, reason: str | None = None, *, may_run_twice: bool = False) -> None:
    """Repositions a failed or paused run at a top-level step that it has come to; it and everything after it runs again."""
    from . import replaying  # no other verb needs them

    with engine.write() as unit:
        run = _allowed(unit, run_id, "retry --step")
        stored = unit.tx.definition(run.definition)
        assert stored is not None
        definition = opened(stored)
        top = _top(definition, step)
        _has_come_to(run, definition, step, top)
        table = definition.sequence("")[top]
        if (never := replaying.refusal(unit.ports, unit.tx, run, table)) is not None:
            raise never
        refusal, work = None if may_run_twice else doubts.first(unit, run, engine.world.config.tools, _from(definition, top)), None
        if refusal is not None:  # a missing flag is itself on record
            unit.record("DECISION_REFUSED", run, {"verb": "retry --step", "kind": refusal.kind, **engine.person.facts()}, step=step)
        else:
            replaying.reserve(unit, run, table)
            work = _reposition(engine, unit, run, step, top, {"reason": reason, "may_run_twice": may_run_twice})
    if refusal is not None:
        raise refusal
    engine.carry(run_id, work)


def _reposition(engine: Engine, unit: Unit, run: Run, step: str, top: int, said: Mapping[str, Json]) -> Work | None:
    unit.tx.rewind(run.id, top)
    unit.record("STEP_RETRIED", run, {"status": run.status, **said, **engine.person.facts()}, step=step)
    return engine.take(unit, run._replace(cursor=cursor.dump(cursor.at(top)), error=None))


def _has_come_to(run: Run, definition: Definition, step: str, top: int) -> None:
    """A retry goes back, never forward: what lies ahead has gates that nobody has passed, and a no is not walked round."""
    here = cursor.load(run.cursor)[0].position
    if top > here:
        at = str(definition.sequence("")[here]["id"])
        raise ToolgateError("wrong_state", f"{run.id} has not come to {step}: it is at {at}", f"toolgate retry {run.id} --step {at}")


def _from(definition: Definition, top: int) -> Callable[[str], bool]:
    """Whether a step, by its path, is the one at that place or comes after it."""

    def again(path: str) -> bool:
        at = definition.top(path.split("/")[0])
        return at is not None and at >= top

    return again


def _top(definition: Definition, step: str) -> int:
    top = definition.top(step)
    if top is not None:
        return top
    holder = definition.holder(step.rsplit("/", 1)[-1])
    if holder is not None:
        raise ToolgateError("wrong_state", f"{step} runs inside {holder}: only top-level steps can be retried", f"use --step {holder}")
    steps = ", ".join(str(table["id"]) for table in definition.sequence(""))
    raise ToolgateError("not_found", f"no step {step} in this workflow", f"its steps: {steps}")
