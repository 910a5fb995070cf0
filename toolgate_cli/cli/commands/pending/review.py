"""`pending review`: what waits for a yes or a no, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ....core import verbs
from ....core.errors import ToolgateError
from ....core.types import Verb
from ... import ask, deciding, exits, output
from ...frame import Frame
from ...options import MOST, MaybeRun
from ...safe import fill
from ...streams import ERR
from ...views import card
from ...views import run as runs

if TYPE_CHECKING:
    from ....runtime.answers import Answer, Waiting
    from ....runtime.desk import Desk

PURPOSE: Final = "Decide"
SCHEMA: Final = "toolgate.reviewed/1"
_DOES: Final[Mapping[str, Mapping[Verb, str]]] = {str(state): does for state, does in verbs.TABLE.items()}
_HELP: Final = (
    "yes   approve it: it runs exactly as it is shown",
    "no    reject it; a reason is asked for",
    "skip  leave it as it is, go on to the next",
    "quit  leave it and all that follow as they are",
)


def run(frame: Frame, run_id: MaybeRun = None) -> int:
    """Go through what waits for a yes or a no, one after the other.

    At a terminal only. Each is shown whole; only the word yes approves.
    """
    if frame.format() == "json":
        raise ToolgateError("usage", "pending review answers as it goes: not one JSON object", "-o jsonl is one object a line")
    if not ask.must_ask(False, False):
        raise ToolgateError(
            "usage", "pending review asks, and stdin is no terminal", "toolgate approve and toolgate reject decide without a question"
        )
    with frame.window() as session:
        rows = [waiting for waiting in session.pending(run_id, MOST)[0] if _is_asked(waiting)]
    codes: list[int] = []
    answers = _answers(frame, rows, codes)
    if frame.format() == "table":
        for answer in answers:
            output.show_fields(frame, runs.answer_fields(answer))
    else:
        output.show_list(frame, SCHEMA, answers, None, runs.answer_json, runs.answer_sheet)
    if not rows:
        frame.note("nothing waits for a yes or a no; toolgate pending list shows what else waits")
    return max(codes, default=0)


def _is_asked(waiting: Waiting) -> bool:
    """Whether yes and no are what it waits for."""
    row = waiting.row
    does = _DOES.get("EXPIRED" if waiting.expired else row.origin, {})
    return "reject" in does and does.get("approve") not in (None, "lapsed", "override")


def _answers(frame: Frame, rows: Iterable[Waiting], codes: list[int]) -> Iterator[Answer]:
    """What each decision did; `codes` gets how each would have ended as a command of its own. A refused one is told, and the next comes."""
    shown = list(rows)
    for number, seen in enumerate(shown, 1):
        ERR.line(fill("---- {} of {} ----", number, len(shown)))
        try:
            with frame.session() as session:
                target = session.as_now(_chosen(session, seen))  # a yes reads the files in any case
                word = _asked(target)
                if word == "quit":
                    return
                if word == "skip":
                    continue
                answer = _decided(session, target, word)
        except ToolgateError as refused:
            if refused.kind == "usage":
                raise
            deciding.tell(frame, refused)
            codes.append(exits.OF_KIND[refused.kind])
            continue
        yield answer
        codes.append(deciding.told(frame, "approve" if word == "yes" else "reject", answer))


def _chosen(session: Desk, seen: Waiting) -> Waiting:
    """The row as it is now; raises where it is no longer what was listed."""
    if seen.row.revision is None:
        return session.select_step(seen.row.run_id, seen.row.step, "approve")
    return session.select([seen.ref], "approve")


def _asked(target: Waiting) -> str:
    output.write_fields(card.fields(target), ERR)
    while True:
        word = ask.answered(fill("yes, no, skip, quit or ? for {}: ", target.ref))
        if word in ("yes", "no", "skip", "quit"):
            return word
        for text in _HELP:
            ERR.line(text)


def _decided(session: Desk, target: Waiting, word: str) -> Answer:
    a_call = target.row.revision is not None
    if word == "yes":
        return session.approve(target) if a_call else session.approve_step(target)
    reason = ask.answered(fill("why (may be left empty): ")) or None
    return session.reject(target, reason=reason) if a_call else session.reject_step(target, reason=reason)
