"""An agent: turns of commands. A turn is checked whole before its first command runs, and goes on after every decision where it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from ..core.fields import Defect, Key, Names, Reads
from ..core.intents import Intent, View
from ..core.types import Json
from ..core.values import NamedTuple
from . import _commands
from ._conversation import Talk, recall
from ._retry import Retry
from ._turns import Voice, carry_on


class Fields(NamedTuple):
    agent: Annotated[str, Names("agent")]
    prompt: str | None = None
    reads: Annotated[tuple[str, ...], Reads(any_word=True)] = ()
    writes: Annotated[tuple[str, ...], Key(any_word=True)] = ()
    retry: Retry | None = None


def plan(step: Fields, view: View) -> Intent:
    talk = recall(view.memo) if view.memo else Talk(first=view.turns())
    return carry_on(Voice(view.agent(step.agent), (step.prompt,), step.reads, step.writes), view, talk, view.arrived)


def of_turn(commands: Sequence[Json]) -> Iterator[Defect]:
    """What no turn may hold, whoever gives it."""
    return _commands.defects(commands)
