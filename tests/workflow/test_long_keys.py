"""A key of thousands of parts is refused before the parser is asked, in whichever file it stands."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from toolgate_cli.core import marks
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.fields import Defect, Key
from toolgate_cli.core.types import Json
from toolgate_cli.models._script import load
from toolgate_cli.steps import assign
from toolgate_cli.workflow.document import parse_strictly
from toolgate_cli.workflow.reading import Source, stamp

LONG = "x = 1\ny" + ".a" * 20_000 + " = 1\n"


def test_a_file_of_the_home_is_refused_at_once_with_its_line() -> None:
    began = time.process_time()
    with pytest.raises(ToolgateError, match=r"a\.toml:2: a key has more than 64 parts"):
        parse_strictly(Source("a.toml", LONG.encode(), stamp("/nowhere")))
    assert time.process_time() - began < 2


def test_a_script_of_turns_too(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(LONG)
    began = time.process_time()
    assert load(str(tmp_path), "s.toml") == ((), (Defect((), "line 2: a key has more than 64 parts"),))
    assert time.process_time() - began < 2


def test_what_may_be_anything_is_gone_through_without_a_look_at_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short line of dots makes a great many values: what each costs is what a file of them costs."""
    deep: dict[str, Json] = {"a": 1}
    for _ in range(60):
        deep = {"a": deep}
    looks = []
    real = marks.without_markers
    monkeypatch.setattr(marks, "without_markers", lambda hint: looks.append(hint) or real(hint))
    found = [*marks.marked(assign.Fields, {"set": {f"k{n}": deep for n in range(10)}})]
    assert len(looks) < 30 and len(found) == 10 * 62


def test_every_key_and_text_of_it_is_found_in_its_order() -> None:
    found = [*marks.marked(assign.Fields, {"set": {"k": {"x": ["t", {"y": 1}]}, "l": "u"}})]
    keys = [(one.path, one.text) for one in found if isinstance(one.marker, Key)]
    assert keys == [(("set", "k"), "k"), (("set", "l"), "l"), (("set", "k", "x"), "x"), (("set", "k", "x", 1, "y"), "y")]
