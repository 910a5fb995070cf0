"""Keys that would keep the parser busy for seconds are found before it is asked, and nothing else is taken for one."""

from __future__ import annotations

import time
import tomllib

import pytest

from toolgate_cli.core.dotted import MOST, too_long

LONG = ".".join("a" * (MOST + 1))


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1",
        f"[{LONG}]",
        f"[[ {LONG} ]]",
        f"x = {{ {LONG} = 1 }}",
        " . ".join(["a"] * (MOST + 1)) + " = 1",
        ".".join(["'a.b'", '"\\".c"', "d"] * MOST) + " = 1",
        f'{LONG}."not closed',
    ],
)
def test_a_key_of_too_many_parts_is_found_with_its_line(text: str) -> None:
    assert too_long(text) == 1
    assert too_long(f"x = 1 # {LONG}\n\ny = '''\n{LONG}'''\n{text}\n") == 5


@pytest.mark.parametrize(
    "text",
    [
        ".".join("a" * MOST) + " = 1",
        f"x = '{LONG}'",
        f'x = "\\"{LONG}"',
        f"x = 1 # {LONG}",
        f'x = """\n{LONG} = "" \\""" {LONG}\n"""',
        f"x = '''\n{LONG} = 1'''",
        f'x = {{ "{LONG}" = 1 }}',
        f'"{LONG}".b = 1',
    ],
)
def test_a_text_a_comment_and_a_key_that_is_as_long_as_it_may_be_are_none(text: str) -> None:
    tomllib.loads(text)
    assert too_long(text) is None


@pytest.mark.parametrize("unit", ["a.", '"a".', "a ", '"', "'", '"""', "#", "\\", "'''\n", ". ", '"\\', '"""\\'])
def test_it_takes_time_in_the_length_of_the_text(unit: str) -> None:
    began = time.process_time()
    too_long(unit * (2_000_000 // len(unit)))
    assert time.process_time() - began < 4
