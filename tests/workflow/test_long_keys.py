"""A key of thousands of parts is refused before the parser is asked, in whichever file it stands."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.models._script import load
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
    assert load(str(tmp_path), "s.toml") == ((), ("s.toml: line 2: a key has more than 64 parts",))
    assert time.process_time() - began < 2
