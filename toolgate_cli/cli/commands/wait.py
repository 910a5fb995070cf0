"""`wait`: until a run is decided, done, or needs an approval."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from ...core import durations
from ...core.errors import ToolgateError
from .. import exits, output
from ..declared import option
from ..frame import Frame
from ..options import RunId
from ..views import run as runs

PURPOSE: Final = "Look"

Until = Annotated[Literal["decided", "done", "approval"], option("--for", help="What to wait for.")]
Timeout = Annotated[str | None, option("--timeout", metavar="D", help='At most so long: "30s", "5m", "4h".')]


def run(frame: Frame, run_id: RunId, until: Until = "done", timeout: Timeout = None) -> int:
    """Wait until a run is decided, done, or needs an approval.

    Exit 8: a person is needed first, or the time is up.
    """
    frame.format()
    with frame.window() as session:
        view, rows, head, reached = session.wait(run_id, until, _seconds(timeout))
        output.show_one(frame, lambda: runs.state_json(view, rows, head), lambda: runs.state_fields(view, rows))
    code = exits.after("wait", view.run, [waiting.row for waiting in rows])
    return code if reached else exits.WAITING


def _seconds(timeout: str | None) -> float | None:
    try:
        return None if timeout is None else durations.parse(timeout)
    except ValueError as error:
        raise ToolgateError("usage", f"--timeout {timeout}: {error}", "write it as 30s, 5m or 4h") from None
