"""What a model is asked and what it answers: all that an adapter gets and gives."""

from __future__ import annotations

from collections.abc import Mapping

from .types import Json
from .values import NamedTuple


class Offer(NamedTuple):
    """A tool as it is shown to a model."""

    capability: str
    description: str
    schema: Json


class Exchange(NamedTuple):
    """One past turn of this conversation: its commands (JSON), then the results of its calls in their order and what people said to it,
    as text that is ready to be shown (see `core.untrusted`). `raw`: the same as it came, never to be shown to a model."""

    commands: Json
    results: tuple[str, ...]
    raw: tuple[str, ...] = ()


class TurnRequest(NamedTuple):
    """One model call. `ordinal`: the n-th call of this step in the run, from 0. `context`: key -> its value as text that is ready to be
    shown: what came from outside is between marks, and `prompt` says what they mean. `keys`: what `set_context` may write; `path`: of the
    step, whose last id is `step`; `also`: capabilities that may be called beside those that are shown; `output`: JSON Schema of what
    `complete` takes, None for anything."""

    run_id: str
    workflow: str
    step: str
    agent: str
    ordinal: int
    prompt: str
    context: Mapping[str, str]
    history: tuple[Exchange, ...]
    tools: tuple[Offer, ...]
    commands: tuple[str, ...]
    keys: tuple[str, ...] = ()
    path: str = ""
    also: tuple[str, ...] = ()
    output: Json = None


class Completion(NamedTuple):
    """What a model answered: a list of commands, or raw text that is still to be parsed; tokens where the model counted them. `fault`: why
    nothing of it may be carried out, as of one that was cut off. `answered_by`: what the model calls itself; `seconds`: the time it
    took."""

    commands: Json = None
    text: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    tokens_total: int | None = None  # None: the sum of both
    answered_by: str | None = None
    fault: str | None = None
    seconds: float | None = None

    @property
    def tokens(self) -> int | None:
        """All of them, in and out."""
        if self.tokens_total is not None:
            return self.tokens_total
        counted = [number for number in (self.tokens_in, self.tokens_out) if number is not None]
        return sum(counted) if counted else None
