"""What settled calls leave in the context: a result by its call, an error by its value."""

from __future__ import annotations

from ..core import canonical
from ..core.intents import Settled, Write
from ..core.records import Outcome
from ..core.types import Json


def is_success(outcome: Outcome) -> bool:
    """A result that the tool gave, or that a person found out and recorded."""
    return outcome.status in ("succeeded", "recorded")


def result(outcome: Outcome) -> Json:
    """The result of a success; None for everything else, and for a success without one."""
    return _body(outcome) if is_success(outcome) else None


def writes(settled: Settled, save_as: str | None = None) -> tuple[Write, ...]:
    """`tool.<capability>` for a success, `tool.<capability>.error` otherwise, in the order of the calls. A result is not copied: it is read
    from its outcome, and so is redacted with it. An earlier error stays beside a later success."""
    made: list[Write] = []
    for capability, outcome in zip(settled.capabilities, settled.outcomes, strict=True):
        if not is_success(outcome):
            made.append(Write(f"tool.{capability}.error", _body(outcome), "tool"))
            continue
        made.append(Write(f"tool.{capability}", None, "tool", outcome.call_id))
        if save_as is not None:
            made.append(Write(save_as, None, "tool", outcome.call_id))
    return tuple(made)


def _body(outcome: Outcome) -> Json:
    if outcome.body is not None:
        return canonical.parse(outcome.body)
    # an error that left no words must still be there: who asks `exists` of the error key is not to read "no error"
    return None if is_success(outcome) else outcome.code or outcome.status
