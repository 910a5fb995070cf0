"""The plug-ins as the loader gets them: names without importing anything, and the plug-in itself where its `Fields` are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ..core.values import NamedTuple

if TYPE_CHECKING:
    from ..runtime.plugs import ModelAdapter, Provider, Serving, StepKind


Names = Callable[[], "tuple[str, ...]"]


class Kinds(NamedTuple):
    """Handed in by whoever wires the program: this package knows no provider, step or model by name."""

    providers: Names
    provider: Callable[[str], Provider]
    step_kinds: Names
    step_kind: Callable[[str], StepKind]
    models: Names
    model: Callable[[str], ModelAdapter]

    def serving(self, name: str) -> Serving:
        """A provider whose tools come from servers."""
        return cast("Serving", self.provider(name))
