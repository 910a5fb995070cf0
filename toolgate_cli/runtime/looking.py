"""What a person is shown: rows and runs with everything that belongs to them, read in one snapshot. Nothing here changes a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ..core import canonical, chain, digests, scopes, verbs
from ..core.definition import declared, is_whole, opened
from ..core.errors import ToolgateError
from ..core.fields import HIDDEN
from ..core.records import Call, Row, Run, RunQuery
from ..core.types import Json, Provenance
from . import departed, ownership, redacted, sealing, standing
from .answers import Advice, Answer, EffectWord, Made, RunView, Waiting

if TYPE_CHECKING:
    from .ports import Ports
    from .store import Reader


def head(tx: Reader) -> str:
    return chain.head_text(tx.head(), tx.identity())


def waiting(ports: Ports, tx: Reader, row: Row, workflow: str) -> Waiting:
    """A row with its call, its pinned tool and its votes."""
    stored = tx.call(row.id, row.revision) if row.revision is not None else None
    at_its_gate = row.origin in ("STEP_APPROVAL", "REVIEW")
    output = _output(tx, row) if at_its_gate else None
    last = canonical.parse(row.last) if row.last and row.revision is None else None
    return Waiting(
        row,
        workflow,
        stored[0] if stored else None,
        declared(tx.definition(row.definition)) if row.definition else None,
        tuple(vote.actor for vote in tx.votes(row)),
        digests.ref(row),
        ports.owners.left_behind(row.left_behind),
        standing.is_over(row, standing.now(tx, ports.clock)),
        last.get("form") if isinstance(last, dict) else None,
        output,
        _before(tx, stored[0]) if stored else None,
        _written(tx, row) if at_its_gate and output is None else None,
        tuple(_made(tx, row)) if at_its_gate else (),
    )


def _made(tx: Reader, row: Row) -> Iterator[Made]:
    """The calls of the turns of a step, in their order."""
    for turn in tx.turns(row.run_id, row.step):
        commands = canonical.parse(turn.commands)
        ids = [str(each["call"]) for each in commands if isinstance(each, dict) and "call" in each] if isinstance(commands, list) else ()
        for call, outcome in filter(None, map(tx.call, ids)):
            yield Made(call, outcome.status if outcome else None)


def _before(tx: Reader, call: Call) -> Call | None:
    earlier = tx.call(call.id, call.revision - 1) if call.revision > 1 else None
    return earlier[0] if earlier else None


def _output(tx: Reader, row: Row) -> Json:
    step = tx.step(row.run_id, row.step)
    if step is not None and step.output is None and row.step in redacted.steps(redacted.of_run(tx, row.run_id)):
        return {"redacted": True}
    return canonical.parse(step.output) if step is not None and step.output is not None else None


def _written(tx: Reader, row: Row) -> dict[str, Json] | None:
    """What the top-level step of a gate has written: it is the last one that has run, so nothing newer stands in front of it."""
    step = tx.step(row.run_id, row.step)
    if step is None:
        return None
    mine = [value.key for value in tx.values(row.run_id, step.top) if not scopes.split(value.key)[0]]
    values, erased = _context(tx, row.run_id, mine)
    return {key: {"redacted": True} if key in erased else value for key, (value, _) in values.items()}


def _rows(ports: Ports, tx: Reader, rows: Sequence[Row], run: str | None, leaving: str | None = None) -> tuple[Waiting, ...]:
    """Open rows, and attempts of dead owners (or of one that is `leaving`) as the rows that they stand for where they were not recorded."""
    attempts = tx.attempts(run)
    dead = departed.dead(ports, attempts)
    lost = [departed.as_row(held, departed.effect_of(tx, held.row)) for held in attempts if held in dead or held.owner == leaving]
    names: dict[str, str] = {}
    for row in (*rows, *lost):
        if row.run_id not in names:
            found = tx.run(row.run_id)
            names[row.run_id] = found.workflow if found else ""
    return tuple(waiting(ports, tx, row, names[row.run_id]) for row in (*rows, *lost))


def pending(ports: Ports, tx: Reader, run: str | None, limit: int) -> tuple[Waiting, ...]:
    rows = tx.find_by_run(run)[:limit] if run is not None else standing.newest(tx, limit)
    return _rows(ports, tx, rows, run)


def run_view(tx: Reader, run: Run, *, context: bool = False, changed: bool | None = None) -> RunView:
    from ..core import cursor  # a listing of what waits does not need it

    stored = tx.definition(run.definition)
    definition = opened(stored) if stored is not None and is_whole(stored) else None
    try:
        path = definition.path(cursor.load(run.cursor)) if definition else ""
    except LookupError as nowhere:
        raise sealing.changed(run.id) from nowhere
    outputs: dict[str, Json] = {path: canonical.parse(output) for path, output in tx.outputs(run.id)}
    redactions = redacted.of_run(tx, run.id) if context else ()
    outputs |= {path: None for path in redacted.steps(redactions) if path not in outputs}
    values, erased = _context(tx, run.id, tx.keys(run.id)) if context else (None, ())
    error = canonical.parse(run.error) if run.error else None
    return RunView(
        run,
        definition.title if definition else None,
        path or None,
        outputs,
        cast("Mapping[str, Json]", error) if isinstance(error, dict) else None,
        values,
        changed,
        redactions,
        erased,
    )


def _context(tx: Reader, run: str, keys: Iterable[str]) -> tuple[dict[str, tuple[Json, Provenance]], tuple[str, ...]]:
    """The values, and the keys of those that were erased (None)."""
    values: dict[str, tuple[Json, Provenance]] = {}
    erased: list[str] = []
    for key in keys:
        carrier, bare = scopes.split(key)
        value = tx.value(run, key) if not bare.startswith(HIDDEN) else None
        key = f"{carrier}:{bare}" if carrier else key
        if value is not None and value.value is not None:
            values[key] = canonical.parse(value.value), value.provenance
        elif value is not None and value.call_id is not None and redacted.is_redacted(tx, value.call_id):
            values[key] = None, value.provenance
            erased.append(key)
    return values, tuple(erased)


def runs(tx: Reader, query: RunQuery) -> tuple[RunView, ...]:
    return tuple(view for view in (_view(tx, run) for run in tx.runs(query)) if view is not None)


def _view(tx: Reader, run: Run) -> RunView | None:
    """None: it cannot be read, which `unread` says."""
    try:
        return run_view(tx, run)
    except ToolgateError as fault:
        tx.unread.append(fault)
        return None


def answer(
    ports: Ports,
    run_id: str,
    effect: EffectWord,
    fault: ToolgateError | None = None,
    approvers: Mapping[str, tuple[str, ...]] | None = None,
) -> Answer:
    """How a run stands after a verb. `fault`: what kept it from being carried on; whatever this process still holds of it is then left
    behind. `approvers`: who holds which scope (None: the files were not read)."""
    with ports.store.read() as tx:
        run = tx.run(run_id)
        assert run is not None, run_id
        rows = _rows(ports, tx, tx.find_by_run(run_id), run_id, ports.owners.mine() if fault else None)
        if approvers is not None:
            rows = tuple(waiting.held_to(approvers) for waiting in rows)
        next = () if (run.status, effect) == ("FAILED", "rejected") else advised(ports, tx, run, rows, left=fault is not None)
        return Answer(effect, run_view(tx, run), rows, head(tx), next, fault)


def reached(run: Run, rows: Sequence[Waiting], until: str) -> bool:
    """Whether what somebody waits for has come: a run that is over waits for nothing more."""
    over = run.status in ("COMPLETED", "FAILED", "CANCELLED")
    if until == "approval":
        return over or bool(rows)
    if until == "decided":
        return over or not rows
    return over


def advised(ports: Ports, tx: Reader, run: Run, rows: Sequence[Waiting], *, left: bool = False) -> tuple[Advice, ...]:
    """What moves the run on; whoever has just said no is not advised to have it asked for again. `left`: its owner does not go on with
    it."""
    seen = standing.moment(tx, ports)
    if run.status == "FAILED":
        return standing.again(tx, run, seen)
    if run.status in ("PAUSED", "RUNNING") and not rows:
        driven = run.owner is not None and not left and ownership.alive(ports, run.owner)
        return () if driven else (Advice(verbs.command(verbs.state_of(run.status, None), run.id)),)
    return tuple(_unreachable(waiting) if waiting.out_of_reach else standing.advice(tx, run, waiting.row, seen) for waiting in rows)


def _unreachable(waiting: Waiting) -> Advice:
    first = f"nobody is left over to approve it: put somebody into the scope {waiting.row.approver_scope} of [approvers], or"
    return Advice(verbs.command("APPROVAL_REQUIRED", waiting.ref, verb="reject"), first)
