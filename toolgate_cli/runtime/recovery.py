"""What crashes and clocks leave behind: attempts of dead owners become rows of unknown outcome, expired rows are rejected (I8).

Everything is found by locks that die with their process; a pid is never trusted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import canonical
from ..core.person import SYSTEM
from ..core.records import Attempt, Call, Outcome, Row, Run
from ..core.types import Fact, Json
from . import ownership, parking, settling, standing
from .departed import as_row, dead, effect_of
from .place import put as put_run
from .place import waiting
from .unit import Unit, write

if TYPE_CHECKING:
    from .ports import Ports


def record(unit: Unit, attempts: tuple[Attempt, ...]) -> tuple[str, ...]:
    """Turns attempts of dead owners into rows, in one transaction; the runs that were touched."""
    touched: dict[str, Run] = {}
    for attempt in attempts:
        held = unit.tx.finish(attempt)
        stored = unit.tx.call(attempt.row.id, attempt.row.revision)
        run = unit.tx.run(attempt.row.run_id)
        if held is None or stored is None or run is None:
            continue  # somebody else was faster
        row = as_row(held, effect_of(unit.tx, held.row))
        if not parking.is_started(unit.tx, held):
            # no event tells of it: whatever it says of itself, it is in doubt and cleared for nothing
            row = row._replace(origin="OUTCOME_UNKNOWN", doubt="unsafe", cleared="none")
        touched[run.id] = run
        if run.status == "CANCELLED":
            settling.cancelled(unit, run, stored[0], row)
            continue
        event = "TOOL_INVOCATION_OUTCOME_UNKNOWN" if row.origin == "OUTCOME_UNKNOWN" else "TOOL_INVOCATION_FAILED"
        facts: dict[str, Json] = {"phase": "INVOKE", "code": "owner_died", "message": row.reason, "owner": held.owner}
        parking.keep(unit, run, stored[0], row, event, facts)
    for run in touched.values():
        unit.record("RUN_RECOVERED", run, {"owner": run.owner})
        if run.status != "CANCELLED" and unit.is_sound(run):
            driven = run.owner is not None and ownership.alive(unit.ports, run.owner)  # a decider died, not the driver
            put_run(unit, waiting(unit, run)._replace(owner=run.owner if driven else None), run.version)
    return tuple(touched)


def sweep(unit: Unit, run: Run, but: str | None = None) -> Run:
    """Rejects, as `system`, the rows of a run whose time is over and whose rule says so; the run as it stands then. The doubt of a
    cancelled run is not a question of time."""
    over = [
        row
        for row in unit.tx.find_by_run(run.id)
        if run.status != "CANCELLED" and row.id != but and row.on_expiry == "reject" and standing.is_over(row, unit.now)
    ]
    for row in over:
        stored = unit.tx.call(row.id, row.revision)
        if stored is not None and unit.tx.claim(row) is not None:
            expire(unit, run, row, stored[0])
    if not over:
        return run
    put_run(unit, waiting(unit, run), run.version)
    return waiting(unit, run)._replace(version=run.version + 1)


def take_back(ports: Ports, run: str | None, *, given_up: str | None = None, kill: bool = True) -> tuple[str, ...]:
    """Finds attempts of dead owners, kills what is left of their trees, and records them; the runs that were touched."""
    since = ports.clock.monotonic()  # whoever takes an attempt back before us may start its call again: that start is later than this
    with ports.store.read() as tx:
        found = dead(ports, tx.attempts(run), given_up)
    if not found:
        return ()
    if kill:
        for attempt in found:
            ports.processes.kill_call(attempt.row.id, since, ports.owners.session(attempt.row.left_behind))
    with write(ports, SYSTEM) as unit:
        touched = record(unit, found)
    for attempt in found:
        ports.owners.forget(attempt.owner)
        if attempt.row.left_behind is not None:
            ports.owners.forget(attempt.row.left_behind)
    return touched


def end_survivors(ports: Ports, row: Row) -> None:
    """Kills what is left of a doubtful call that a look has recorded, for a look kills nothing. While it waits as that row nobody has
    started that call again, so nothing else can be hit."""
    since = ports.clock.monotonic()  # once its survivor is gone, somebody else may start the call again: that start is later than this
    if row.left_behind is None or not ports.owners.left_behind(row.left_behind):
        return
    with ports.store.read() as tx:
        current = tx.find(row.run_id, row.id)
    if current is not None and current.version == row.version:
        ports.processes.kill_call(row.id, since, ports.owners.session(row.left_behind))
        ports.owners.forget(row.left_behind)


def expire(unit: Unit, run: Run, row: Row, call: Call) -> None:
    """Settles a row that was claimed because its time is over and its rule says `reject`."""
    why = "the question expired" if row.origin == "CONFIRMATION_REQUIRED" else "the approval expired"
    known: Fact = "no" if row.starts == 0 else "unknown"
    unit.record("TOOL_INVOCATION_EXPIRED", run, {"expires_at": row.expires_at, "version": row.version}, call=call, digest=row.call_digest)
    unit.tx.add([Outcome(row.id, "rejected", known, known, "expired", canonical.encode(why), None, unit.now)])
    unit.decided("TOOL_INVOCATION_REJECTED", run, row, call, {"reason": why}, SYSTEM)
