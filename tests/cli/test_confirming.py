"""The question before an answer to a tool that stopped half-way: yes and no are both answers."""

from __future__ import annotations

import pytest

from toolgate_cli.cli import ask
from toolgate_cli.cli.frame import Frame
from toolgate_cli.core.types import Effect

from .given import REF, waiting


@pytest.mark.parametrize(("verb", "origin", "doubt", "told"), [
    ("approve", "CONFIRMATION_REQUIRED", None, "yes answers the question of the tool; to answer no: "),
    ("approve", "CONFIRMATION_REQUIRED", "read_only", "yes answers the question of the tool; to answer no: "),
    ("approve", "CONFIRMATION_REQUIRED", "unsafe", "yes answers the question of the tool; to end the call without it: "),
    ("approve", "APPROVAL_REQUIRED", None, ""),
    ("reject", "CONFIRMATION_REQUIRED", None, ""),
])  # fmt: skip
def test_how_to_say_no_stands_above_the_question(
    verb: str, origin: str, doubt: Effect | None, told: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ask, "read_line", lambda prompt: "yes")
    asked = waiting(origin)
    ask.confirm(verb, asked._replace(row=asked.row._replace(doubt=doubt)), Frame(home="h").here)
    err = capfd.readouterr().err
    assert err.splitlines()[-1] == f"{told}toolgate -C h reject {REF}" if told else "the question of the tool" not in err
