"""The outside works that a transaction can end with: everything that must not happen while the store is locked (I7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ..core.config import Model
from ..core.intents import Look
from ..core.records import Attempt
from ..core.selection import Choice
from ..core.turns import TurnRequest
from ..core.types import Json
from ..core.values import NamedTuple
from ..core.world import Needs
from .gate import Claim
from .ports import Bundle


class Invoke(NamedTuple):
    """Start a tool; the claim was committed."""

    claim: Claim


class Ask(NamedTuple):
    """Ask a model for the turn that the cursor waits for. `corrects`: why the one before was refused; this is its correction. `choice`:
    it is asked for the tools that the turn is to be shown, before that."""

    model: Model
    request: TurnRequest
    path: str
    corrects: str | None = None
    choice: Choice | None = None


class Fill(NamedTuple):
    """Check what is given to a workflow inside a run against its inputs."""

    bundle: Bundle
    given: Mapping[str, Json]
    path: str


class Prepare(NamedTuple):
    """Fetch what a verdict needs; `waiting`: the verdict is on the repetition of this attempt."""

    needs: Needs
    waiting: Attempt | None = None


class Rest(NamedTuple):
    """Wait before the next attempt of a call."""

    seconds: float
    waiting: Attempt


class Observing(NamedTuple):
    """Look at what a step asks for; nothing is changed."""

    looks: tuple[Look, ...]


class More(NamedTuple):
    """Nothing outside: a long stretch of pure steps is committed on its way."""


Work: TypeAlias = Invoke | Ask | Fill | Observing | Prepare | Rest | More
