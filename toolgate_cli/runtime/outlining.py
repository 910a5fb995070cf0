"""Workflows and runs as trees, for a person to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import canonical, cursor
from ..core.definition import Definition, is_whole, opened
from ..core.outline import Outline, outline
from ..core.progress import Finished, Reached, progress
from ..core.records import EventQuery, Run

if TYPE_CHECKING:
    from .ports import Ports
    from .store import Reader


def of_workflow(ports: Ports, id: str) -> Outline:
    """As its file is now."""
    bundle = ports.files.workflow(id)
    definition = Definition(bundle.body)
    return Outline(id, definition.title, bundle.inputs, outline(definition, lambda kind: ports.step_kind(kind).Fields))


def of_run(ports: Ports, tx: Reader, run: Run) -> tuple[Reached, ...]:
    """By the pinned definition, whatever the file says now."""
    stored = tx.definition(run.definition)
    if stored is None or not is_whole(stored):
        return ()
    nodes = outline(opened(stored), lambda kind: ports.step_kind(kind).Fields)
    return progress(nodes, cursor.load(run.cursor), _finished(tx, run), run.status)


def _finished(tx: Reader, run: Run) -> dict[str, Finished]:
    took: dict[str, str | int] = {}
    for event in tx.events(EventQuery(run.id, "STEP_COMPLETED")):
        said = canonical.parse(event.payload) if event.payload is not None else None
        mark = said.get("arm", said.get("case")) if isinstance(said, dict) else None
        if event.step_id is not None and isinstance(mark, (str, int)):
            took[event.step_id] = mark
    return {step.path: Finished(took.get(step.path), step.ended == "skipped") for step in tx.steps(run.id) if step.ended != "failed"}
