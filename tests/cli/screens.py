"""The main screens as a terminal of 80 columns shows them. `python -m tests.cli.screens` writes them into screens.txt, to be looked at."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from toolgate_cli.cli import streams
from toolgate_cli.cli.frame import Frame
from toolgate_cli.cli.main import run
from toolgate_cli.core.errors import ToolgateError

from .given import CALL, COMMANDS, RUN, FakeDesk

FILE = Path(__file__).with_name("screens.txt")
TEXT = "pay \u0431ob\u200b \x1b[2K"
ALIKE = ("continue", "answer", "cancel", "retry", "reject", "review", "continue-tool", "wait")  # they answer as start and approve do
SHOWN = [(words, "pay") for words in COMMANDS if words[0] not in ALIKE and words != ["workflow", "schema"]]
SHOWN += [(["pending", "show"], TEXT), (["events"], TEXT), (["tools", "list"], TEXT)]
SHOWN += [
    ([], "pay"),
    (["pending"], "pay"),
    (["help", "choosing"], "pay"),
    (["log"], "pay"),
    (["aprove"], "pay"),
    (["start", "w", "a=1"], "pay"),
]
REFUSED = ToolgateError("claim_lost", f"{CALL} was settled: COMPLETED", f"toolgate runs show {RUN}")


def rendered() -> str:
    return "".join(_screens())


def _screens() -> Iterator[str]:
    for words, text in SHOWN:
        yield _screen(words, FakeDesk(text))
    yield _screen(["approve", CALL], FakeDesk("pay", REFUSED))


def _screen(words: list[str], desk: FakeDesk) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with ExitStack() as stack:
        for name in ("session", "window"):
            stack.enter_context(patch.object(Frame, name, lambda self, **how: desk.session()))
        stack.enter_context(patch("toolgate_cli.cli.ask.answerable", lambda: False))
        stack.enter_context(patch.object(streams.Stream, "terminal", lambda self: True))
        stack.enter_context(patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1"}))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(out))
        code = run(words)
    out.seek(0)
    return f"$ toolgate {' '.join(words)}\n{out.read()}(exit {code})\n\n"


if __name__ == "__main__":
    FILE.write_text(rendered(), encoding="utf-8")
