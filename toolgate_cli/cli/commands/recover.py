"""`recover`: takes over what dead processes left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from .. import deciding, exits, output
from ..declared import option
from ..frame import Frame
from ..options import MaybeRun
from ..views import run as runs

if TYPE_CHECKING:
    from ...runtime.answers import TakenBack

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
        if accept_rollback:
            frame.note(_accepted(session.accept_rollback()))
        answers = session.recover(run_id, owner_dead)
        head = answers[-1].head if answers else session.head()
        if answers or frame.format() != "table":  # the note says it, and a person has no use for a header alone
            output.show_list(frame, SCHEMA, answers, head, runs.answer_json, runs.answer_sheet)
    if not answers and not accept_rollback:
        frame.note("nothing to recover")
    for answer in answers:
        if answer.fault is not None:
            deciding.tell(frame, answer.fault)
        deciding.advise(frame, answer)
    codes = [exits.after("recover", answer.run.run, [waiting.row for waiting in answer.pending]) for answer in answers]
    return max([*codes, *(1 for answer in answers if answer.fault is not None)], default=0)


def _accepted(taken: TakenBack | None) -> str:
    if taken is None:
        return "nothing to accept: the log goes on from its kept head"
    missing = 0 if taken.seen is None else taken.seen - taken.seq
    if taken.seen is None:
        lost = "what was seen of it cannot be read"
    elif missing > 0:
        lost = f"{missing} {'event that was' if missing == 1 else 'events that were'} seen {'is' if missing == 1 else 'are'} not in it"
    else:
        lost = f"event {taken.seen} that was seen is not the one in it"
    return f"accepted: the log goes on from event {taken.seq}; {lost}"
