"""A person is shown a card as the files are now; a program is not made to wait for their reading."""

from __future__ import annotations

import pytest

from toolgate_cli.cli import ask

from .conftest import Say
from .given import HEAD, FakeDesk, waiting


@pytest.mark.parametrize("words", [["pending", "show", "-o", "table"], ["pending", "review", "-o", "table"]], ids=" ".join)
def test_what_a_person_is_shown_is_held_to_the_files(say: Say, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setattr(FakeDesk, "as_now", lambda self, target: target._replace(changed="/pinned/files/ship.py"))
    monkeypatch.setattr(ask, "must_ask", lambda *_: True)
    monkeypatch.setattr(ask, "answered", lambda _: "skip")
    monkeypatch.setattr(FakeDesk, "pending", lambda self, *_: ([waiting()._replace(expired=False)], HEAD), raising=False)
    code, out, err = say(*words)
    assert code == 0 and "its tool changed since (/pinned/files/ship.py)" in out + err


def test_a_program_is_shown_what_the_store_has(say: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeDesk, "as_now", None)
    assert [say("pending", "show", "-o", form).code for form in ("tsv", "json", "jsonl")] == [0, 0, 0]
