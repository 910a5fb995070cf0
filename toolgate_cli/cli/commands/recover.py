"""`recover`: takes over what dead processes left."""

from __future__ import annotations

from typing import Annotated, Final

from .. import deciding, exits, output
from ..declared import option
from ..frame import Frame
from ..options import MaybeRun
from ..safe import fill
from ..views import run as runs

PURPOSE: Final = "Recover"
SCHEMA: Final = "toolgate.recovered/1"

OwnerDead = Annotated[str | None, option("--owner-dead", metavar="OWNER", help="An owner on another host that is known to be dead.")]


AcceptRollback = Annotated[
    bool, option("--accept-rollback", help="Take a database that is older than what was seen of it: a restored copy.")
]


def run(frame: Frame, run_id: MaybeRun = None, owner_dead: OwnerDead = None, accept_rollback: AcceptRollback = False) -> int:
    """Take over what dead processes left: of one run, or of all."""
    frame.format()
    with frame.session() as session:
        answers = session.recover(run_id, owner_dead, accept_rollback=accept_rollback)
        head = answers[-1].head if answers else session.head()
        output.show_list(frame, SCHEMA, answers, head, runs.answer_json, runs.answer_sheet)
    if not answers:
        frame.note("nothing to recover")
    for answer in answers:
        if answer.fault is not None:
            deciding.tell(frame, answer.fault)
        for command in answer.next:
            frame.note(fill("next: {}", frame.here(command)))
    codes = [exits.after("recover", answer.run.run, [waiting.row for waiting in answer.pending]) for answer in answers]
    return max([*codes, *(1 for answer in answers if answer.fault is not None)], default=0)
