"""`runs show`: one run with its outputs and context."""

from __future__ import annotations

from itertools import chain
from typing import Final

from ... import deciding, output
from ...frame import Frame
from ...options import RunId
from ...streams import OUT
from ...views import outline
from ...views import run as runs

PURPOSE: Final = "Look"


def run(frame: Frame, run_id: RunId) -> int:
    """Show a run: where it stands, outputs, context, what waits.

    On a terminal also its steps, as a tree (done, here, skipped, to come), and its calls with how each stands or ended.
    """
    frame.format()
    with frame.window() as session:
        view, rows, head = session.show_run(run_id)
        output.show_one(frame, lambda: runs.state_json(view, rows, head), lambda: runs.state_fields(view, rows))
        if frame.format() == "table":
            called, _ = session.events(view.run.id, None, 0, None)
            all(OUT.line(text) for text in chain(outline.run_lines(session.progress(view.run.id)), runs.call_lines(called)))
        advised = session.next(view.run, rows)
    if view.changed:
        frame.note(f"note: {runs.CHANGED}")
    elif view.changed is None:
        frame.note(f"note: the workflow cannot be loaded now; {runs.PINNED}")
    deciding.say_next(frame, advised)
    return 0
