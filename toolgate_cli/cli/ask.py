"""The question before a decision: asked only where a person can see the card and answer; only the word `yes` is consent (I5)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ..core import effects
from ..core.errors import ToolgateError
from ..host import heeding
from ..runtime.answers import Waiting
from .safe import Safe, command, fill
from .streams import ERR, readable

STDIN = 0
AGAIN = "the same command asks again"  # a command of ours would leave out what was given with it


def must_ask(yes: bool, no_input: bool) -> bool:
    """Whether to ask. Without a terminal on stdin the verb itself is the decision; raises `usage` where the question cannot be asked."""
    if yes or not answerable():
        return False
    if no_input:
        raise ToolgateError("usage", "this has to be asked, and --no-input forbids it", "--yes decides without the question")
    if not ERR.terminal():
        raise ToolgateError("usage", "the card cannot be shown: stderr is not a terminal", "--yes decides without the question")
    return True


def answerable() -> bool:
    return os.isatty(STDIN)


def confirm(verb: str, target: Waiting, here: Callable[[str], str]) -> None:
    """Shows the card and asks; raises `usage` unless the answer is `yes`. `here`: makes a command one that leads to this home."""
    from .output import write_fields
    from .views import card

    write_fields(card.fields(target), ERR)
    if verb == "approve" and target.row.origin == "CONFIRMATION_REQUIRED":  # the tool asks, and no is an answer to it
        no = "answer no" if effects.repeatable(target.row.doubt) else "end the call without it"  # of a call in doubt no starts nothing
        ERR.line(fill("yes answers the question of the tool; to {}: {}", no, command(here(f"toolgate reject {target.ref}"))))
    if not _says_yes(verb):
        raise ToolgateError("usage", f"not confirmed, nothing happened: {target.ref} still waits", AGAIN)


def consent(told: Safe, verb: str) -> None:
    """Says what is about to happen and asks; raises `usage` unless the answer is `yes`."""
    ERR.line(told)
    if not _says_yes(verb):
        raise ToolgateError("usage", "not confirmed, nothing happened", AGAIN)


def _says_yes(verb: str) -> bool:
    try:
        return read_line(fill("type yes to {}, anything else leaves everything as it is: ", verb)) == "yes"
    except KeyboardInterrupt:
        heeding.told()
        ERR.raw("\n")
        return False


def answered(prompt: Safe) -> str:
    """What was answered to one of several questions. Raises `usage` at the end of input and at Ctrl-C: nothing was said."""
    try:
        answer = read_line(prompt)
    except KeyboardInterrupt:
        heeding.told()
        ERR.raw("\n")
        answer = None
    if answer is None:
        raise ToolgateError("usage", "not answered: what was not decided still waits", "toolgate pending review")
    return answer


def read_line(prompt: Safe) -> str | None:
    """A line typed after the prompt was shown, without the spaces around it; None at the end of input."""
    import termios

    from .folding import fold

    ERR.flush()
    termios.tcflush(STDIN, termios.TCIFLUSH)  # keys that were hit before the question was on screen answer nothing
    *above, last = fold(prompt, ERR.size()[0])  # what the terminal wraps would begin a line
    ERR.raw("".join(piece + "\n" for piece in above) + last)
    if not ERR.flush():
        return None
    typed = b""
    while not typed.endswith((b"\n", b"\r")):
        chunk = os.read(STDIN, 4096)
        if not chunk:  # a word that the end of input cut off is no answer
            ERR.raw("\n")
            return None
        typed += chunk
    return typed.decode(readable(sys.stdin.encoding), "surrogateescape").strip()
