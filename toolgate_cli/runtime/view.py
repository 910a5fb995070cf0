"""What a step may look at while it plans: the context, its own memo, what has come in. Nothing here writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core import canonical, references, scopes
from ..core.config import Agent
from ..core.errors import ToolgateError
from ..core.intents import Arrived
from ..core.types import TRUST, Json, Provenance
from . import redacted

if TYPE_CHECKING:
    from .place import Place
    from .store import Reader


class StepView:
    """`place`: the step, and everything that belongs to it."""

    def __init__(self, place: Place, arrived: Arrived) -> None:
        self._place = place
        self._tx: Reader = place.unit.tx
        self._run = place.run.id
        self._scope = place.scope
        self.memo = place.frame.memo
        self.arrived = arrived
        self.outside = False  # whether it was asked for what neither the definition nor the context says

    def value(self, key: str) -> Json:
        return self._output(key) if key.startswith("steps.") else canonical.parse(self._found(self._scope, key)[0])

    def provenance(self, key: str) -> Provenance:
        return TRUST[-1] if key.startswith("steps.") else self._found(self._scope, key)[1]  # an output may be anybody's

    def inner(self, key: str) -> tuple[Json, Provenance]:
        place = self._place
        found, came = self._found(scopes.scope(place.path), key)
        return canonical.parse(found), came

    def copied(self, digest: str) -> Sequence[Json]:
        from . import copies  # whoever goes through a list has imported it: nothing is, inside a transaction

        return copies.opened(self._tx, digest)

    def _found(self, scope: str, key: str) -> tuple[str, Provenance]:
        found = self._tx.value(self._run, scope + key)
        if found is not None and found.value is None and found.call_id is not None and redacted.is_redacted(self._tx, found.call_id):
            self.outside = True
            raise ToolgateError("invalid", f"{key} was erased when {found.call_id} was redacted")  # absent would read as "no error"
        if found is None or found.value is None:
            raise KeyError(key)
        return found.value, found.provenance

    def fill(self, template: Json) -> Json:
        return references.fill(template, self.value)

    def _output(self, name: str) -> Json:
        carrier = self._place.definition.carrier(self._place.frames)
        step = self._tx.step(self._run, "/".join(filter(None, (carrier, name.removeprefix("steps.")))))
        if step is None or step.output is None:
            raise KeyError(name)
        return canonical.parse(step.output)

    def form(self, name: str) -> Json:
        try:
            return [dict(item) for item in self._place.flow.form(name)]
        except KeyError:
            raise ToolgateError("invalid", f"the workflow has no form {name}") from None

    def agent(self, name: str) -> Agent:
        self.outside = True
        agent = self._place.world.config.agents.get(name)
        if agent is None:
            raise ToolgateError("invalid", f"no agent {name} in toolgate.toml", "declare it again, then retry the step")
        return agent

    def turns(self) -> int:
        return self._tx.next_turn(self._run, self._place.path)
