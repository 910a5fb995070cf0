"""Where a run or a row stands in the table of verbs, and the command that moves it: the same for every verb and every refusal (I6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import canonical, verbs
from ..core.records import Row, Run
from ..core.types import Verb

if TYPE_CHECKING:
    from .ports import Clock
    from .store import Reader


def now(tx: Reader, clock: Clock) -> str:
    """The later of the clock and the last event: what has expired stays expired when the clock goes back."""
    head = tx.head()
    return clock.now() if head is None else max(clock.now(), head.at)


def is_over(row: Row, at: str) -> bool:
    return row.expires_at is not None and row.expires_at <= at


def first(tx: Reader, run: Run) -> Row | None:
    """The row that speaks for a run as a whole."""
    return next(iter(tx.find_by_run(run.id)), None)


def state(tx: Reader, run: Run, row: Row | None, at: str) -> verbs.State:
    """The row of the table for a run and its open row; without a row, for the run as a whole."""
    if row is None:
        return verbs.state_of(run.status, None)
    stored = tx.call(row.id, row.revision) if row.revision is not None else None
    return verbs.state_of(run.status, row.origin, stored is not None and stored[0].arguments is None, is_over(row, at))


def handler(tx: Reader, run: Run, row: Row | None, verb: Verb, at: str) -> verbs.Handler:
    """What the verb does there; ToolgateError("wrong_state") says what works, as a command to paste."""
    return verbs.handler(state(tx, run, row, at), verb, *_named(run, row))


def command(tx: Reader, run: Run, row: Row | None, at: str, verb: Verb | None = None) -> str:
    """The first command that moves what stands there, of the verb that was asked for where that one does."""
    return verbs.command(state(tx, run, row, at), *_named(run, row), verb)


def moves(tx: Reader, row: Row, verb: Verb, at: str) -> bool:
    """Whether the verb does more there than to have its refusal recorded."""
    run = tx.run(row.run_id)
    assert run is not None, row.run_id
    return verbs.moves(state(tx, run, row, at), verb)


def _named(run: Run, row: Row | None) -> tuple[str, str]:
    """What such a command is about, and what its flag is given."""
    if row is not None and row.origin not in verbs.TABLE:
        return run.id, ""
    if row is not None:
        return (row.id, "FILE") if row.revision is not None else (run.id, row.step)
    if run.status in ("COMPLETED", "CANCELLED"):
        return run.id, ""
    error = canonical.parse(run.error) if run.error else None
    return run.id, str(error["step"]).split("/")[0] if isinstance(error, dict) else "STEP"
