"""A decision on one open call, inside its transaction: what was said, what it is about, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.errors import ToolgateError
from ..core.records import Call, Row, Run
from ..core.types import Json, Verb
from ..core.values import NamedTuple
from .answers import EffectWord
from .engine import Engine
from .unit import Unit
from .work import Work


class Decision(NamedTuple):
    """What a person said. `outcome`: what they found out about a call whose end was not known ({"applied", "result"}); `arguments`: what
    the call is to have instead of its own, under the idempotency key `key`."""

    verb: Verb
    reason: str | None = None
    may_run_twice: bool = False
    outcome: Mapping[str, Json] | None = None
    arguments: Mapping[str, Json] | None = None
    key: str = ""


class Word(NamedTuple):
    """What a person said to a step: a note, or the answers of a form (`texts` as typed, `values` as JSON)."""

    verb: Verb
    note: str | None = None
    texts: Mapping[str, str] = {}
    values: Mapping[str, Json] = {}


class Case(NamedTuple):
    """A decision on one row, inside its transaction. `settled`: a reconciler says that what was in doubt was not applied."""

    engine: Engine
    unit: Unit
    run: Run
    row: Row
    call: Call
    decision: Decision
    settled: bool = False


class Decided(NamedTuple):
    """What came of it. `refusal` is raised once the transaction, which may hold its event, has committed."""

    effect: EffectWord
    work: Work | None = None
    refusal: ToolgateError | None = None


class Undone(Exception):
    """Ends a transaction that was only to show what would come of it: nothing of it stays."""


def claim(case: Case) -> Row:
    """Takes the row that was selected; whoever comes second changes nothing (I2). Without its doubt, where that is settled."""
    claimed = case.unit.tx.claim(case.row)
    if claimed is None:
        raise ToolgateError("claim_lost", f"{case.row.id} was decided by somebody else", "toolgate pending list")
    if case.settled:
        claimed = claimed._replace(doubt=None)
        case.unit.shown.add(claimed)
    return claimed


def said(case: Case) -> dict[str, Json]:
    """The person's own words, for the event."""
    words: dict[str, Json] = {"reason": case.decision.reason, "may_run_twice": case.decision.may_run_twice}
    return {**words, "reconciled": "not_applied"} if case.settled else words
