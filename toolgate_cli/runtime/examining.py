"""The examination of a home: its store, its log, what dead processes left, and its files. It changes nothing, and no part of it hides
another: what cannot be looked at is itself a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ..core import chain, verbs
from ..core.errors import ToolgateError
from ..core.records import RowQuery, Run, RunQuery
from . import departed, heads, ownership, sealing, standing
from .answers import Remark

if TYPE_CHECKING:
    from .ports import Ports

_MANY = 1000  # of anything that is looked through
_SHOWN = 20  # findings of one kind


def examine(ports: Ports) -> Iterator[Remark]:
    yield from _guarded("store", lambda: ports.store.inspect())
    yield from _guarded("log", lambda: _log(ports))
    yield from _guarded("log", lambda: _runs(ports))
    yield from _guarded("calls", lambda: _calls(ports))
    yield from _guarded("files", lambda: _files(ports))


def _guarded(about: str, part: Callable[[], Iterator[Remark]]) -> Iterator[Remark]:
    try:
        yield from part()
    except ToolgateError as error:
        yield Remark(about, "error", error.message, error.hint)


def _log(ports: Ports) -> Iterator[Remark]:
    """Its end only: `audit verify` reads all of it."""
    reason = heads.taken_back(ports)
    if reason is not None:
        hint = f"{heads.REASONS} see what has happened since, then toolgate recover --accept-rollback"
        yield Remark("log", "error", reason, hint)
    fault = ports.heads.fault()
    if fault is not None:
        hint = "set XDG_STATE_HOME to a folder of yours: without it a store that was taken back is not found out"
        yield Remark("log", "warning", f"the head of the log cannot be kept: {fault}", hint)
    with ports.store.read() as tx:
        last, identity, named = tx.head(), tx.identity(), tx.named()
    if named != identity:
        yield Remark("log", "error", f"the database is called {named}, and its log began in {identity}", "toolgate audit verify")
    if last is not None and fault is None and ports.heads.kept(identity) is None:
        yield Remark("log", "warning", "no head of the log is kept yet", "the next command that decides keeps it, where it can")
    now = ports.clock.now()
    if last is not None and not chain.intact(last):
        yield Remark("log", "error", f"the last event, {last.seq}, is not as it was written", "toolgate audit verify")
    elif last is None:
        yield Remark("log", "ok", "nothing is recorded yet")
    elif reason is None:
        yield Remark("log", "ok", f"the head is {chain.head_text(last, identity)}", "toolgate audit verify reads all of it")
    if last is not None and last.at > now:
        hint = "set the clock: until then times stand still, and nothing expires"
        yield Remark("log", "warning", f"the clock says {now}, before the last event ({last.at})", hint)


def _runs(ports: Ports) -> Iterator[Remark]:
    """The runs as the log has them."""
    with ports.store.read() as tx:
        found = tuple(sealing.complaints(tx))
    yield from (Remark("log", "error", complaint.text, f"toolgate runs show {complaint.run}") for complaint in found[:_SHOWN])
    if len(found) > _SHOWN:
        yield Remark("log", "error", f"and {len(found) - _SHOWN} more", "toolgate audit verify")


def _calls(ports: Ports) -> Iterator[Remark]:
    """What somebody left open that nobody works at."""
    with ports.store.read() as tx:
        attempts = tx.attempts(None)
        anything = (*tx.rows(RowQuery(calls_only=True, limit=_MANY)), *tx.rows(RowQuery(limit=_MANY)))  # of cancelled runs too
        rows = tuple(dict.fromkeys(row for row in anything if row.revision is not None))
        running = tx.runs(RunQuery("RUNNING", limit=_MANY))
        expired = [row for row in rows if standing.is_over(row, standing.now(tx, ports.clock))]
    gone = departed.dead(ports, attempts)
    found = [
        *(Remark("calls", "warning", f"{held.row.id} was running when its process died", "toolgate recover") for held in gone),
        *(Remark("calls", "warning", f"it is not known how {row.id} ended", f"toolgate pending show {row.id}")
          for row in rows if row.origin == "OUTCOME_UNKNOWN"),
        *(Remark("calls", "warning", f"the approval of {row.id} has expired", verbs.command("EXPIRED", row.id)) for row in expired),
        *(Remark("calls", "warning", f"nobody drives the run {run.id} any more", f"toolgate continue {run.id}")
          for run in running if not _is_driven(ports, run, {held.row.run_id for held in attempts})),
    ]  # fmt: skip
    yield from found[:_SHOWN]
    if len(found) > _SHOWN:
        yield Remark("calls", "warning", f"and {len(found) - _SHOWN} more", "toolgate pending list")
    named = {held.owner for held in attempts} | {held.row.left_behind for held in attempts}
    files = [path for path in ports.owners.left_over() if path.rsplit("/", 1)[-1] not in named]
    if files:
        said = f"{len(files)} lock files are left over from processes that were killed, such as {files[0]}"
        yield Remark("calls", "ok", said, "they harm nobody and can be removed")
    if not found:
        yield Remark("calls", "ok", "nothing is left open that nobody works at")


def _is_driven(ports: Ports, run: Run, busy: set[str]) -> bool:
    return run.id in busy or (run.owner is not None and ownership.alive(ports, run.owner))


def _files(ports: Ports) -> Iterator[Remark]:
    checked = ports.files.check(None)
    for file in checked:
        yield from (Remark("files", "error", text, "toolgate workflow check") for text in file.errors)
        yield from (Remark("files", "warning", text, "toolgate workflow check") for text in file.warnings)
    if not any(file.errors or file.warnings for file in checked):
        yield Remark("files", "ok", f"{len(checked)} files are in order, and their tools are there")
