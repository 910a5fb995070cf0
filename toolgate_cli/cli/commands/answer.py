"""`answer`: submits the input that a run waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ...core.errors import ToolgateError
from .. import ask
from ..deciding import conclude, unnamed
from ..declared import Argument, option
from ..files import blaming, distinct, pairs, read_object
from ..forms import fill_in
from ..frame import Frame
from ..options import ExitStatus, NoInput

if TYPE_CHECKING:
    pass

PURPOSE: Final = "Run"

RunAndAnswers = Annotated[list[str] | None, Argument(metavar="RUN [KEY=VALUE]...", help="The run, and its answers.")]
Answers = Annotated[str | None, option("--answers", metavar="FILE", help="Answers as one JSON object; - is stdin.")]


def run(
    frame: Frame, words: RunAndAnswers = None, answers: Answers = None, no_input: NoInput = False, exit_status: ExitStatus = False
) -> int:
    """Submit the input that a run waits for.

    At a terminal and without answers, it asks for one item after the other.
    """
    runs, said = ([word for word in words or () if ("=" in word) is pair] for pair in (False, True))
    if not runs:
        raise unnamed(frame, "answer", "INPUT", "one run is needed, and answers as KEY=VALUE", "toolgate answer RUN KEY=VALUE", said)
    if len(runs) > 1:
        raise ToolgateError("usage", "one run is needed, and answers as KEY=VALUE", "toolgate answer RUN KEY=VALUE")
    texts, given = pairs(said), read_object(answers)
    distinct(texts, given)
    frame.format()
    silent = not texts and answers is None
    asking = silent and ask.must_ask(False, no_input)
    with frame.session() as session:
        target = session.select_step(runs[0], None, "answer")
        if asking:
            texts = fill_in(target)
        elif silent:  # nothing said is not an answer, whatever the form requires
            raise ToolgateError("usage", "no answers were given", f"toolgate answer {runs[0]} KEY=VALUE, or --answers FILE")
        with blaming(given):
            answer = session.answer(target, texts, given.values)
        return conclude(frame, "answer", answer, exit_status)
