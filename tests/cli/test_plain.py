"""What the plain reading of a line takes, Typer takes the same; and every decision of a script is plain."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate_cli.cli import catalogue, plain
from toolgate_cli.cli.declared import Argument, Option, Parameter, parameters
from toolgate_cli.cli.invoke import build
from toolgate_cli.cli.options import frame

COMMANDS = sorted(catalogue.names().items())
TEXTS = [
    "",
    "-",
    "--",
    "x",
    "r1",
    "-1",
    "7",
    "0",
    "007",
    "1000001",
    "９",
    "json",
    "decided",
    "k=v",
    "=",
    "a b",
    "-m",
    "--no",
    "\N{SNOWMAN}",
]


def taken_by(module: str) -> list[Parameter]:
    return [*parameters(catalogue.load(module).run), *parameters(frame)]


def by_typer(name: catalogue.Name, module: str, words: list[str]) -> dict[str, Any]:
    command = build(name, module)
    with command.make_context("toolgate", words) as context:
        given: dict[str, Any] = command.invoke(context)
        return given


def lines(taken: list[Parameter]) -> st.SearchStrategy[list[str]]:
    spellings = [spelling for one in taken if isinstance(one.declared, Option) for spelling in one.declared.spellings]
    choices = [word for one in taken for word in one.choices]
    word = st.sampled_from([*spellings, *spellings, *choices, *TEXTS]) | st.builds(
        "{}={}".format, st.sampled_from(spellings), st.sampled_from(TEXTS)
    )
    right = st.sampled_from(taken).map(_said)
    return st.lists(right | word.map(lambda one: [one]), max_size=6).map(lambda parts: [one for part in parts for one in part])


def _said(one: Parameter) -> list[str]:
    value = one.choices[-1] if one.choices else "7"
    if isinstance(one.declared, Argument):
        return [value]
    return [one.declared.spellings[0]] if one.kind is bool else [one.declared.spellings[-1], value]


@pytest.mark.parametrize(("name", "module"), COMMANDS, ids=[" ".join(name) for name, _ in COMMANDS])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_typer_reads_a_plain_line_the_same(name: catalogue.Name, module: str, data: st.DataObject) -> None:
    taken = taken_by(module)
    words = data.draw(lines(taken))
    read = plain.read(taken, words)
    if read is not None:
        assert _same(read) == _same(by_typer(name, module, words))


def _same(given: dict[str, Any]) -> dict[str, Any]:
    """Typer gives an empty list or None where nothing was said, and so may we."""
    return {key: (type(value).__name__, value) if value != [] else ("NoneType", None) for key, value in given.items()}


@pytest.mark.parametrize(("name", "module"), COMMANDS, ids=[" ".join(name) for name, _ in COMMANDS])
def test_each_option_alone_is_plain(name: catalogue.Name, module: str) -> None:
    taken = taken_by(module)
    needed = [word for one in taken if one.default is ... and isinstance(one.declared, Argument) for word in _said(one)]
    for one in taken:
        if isinstance(one.declared, Option):
            for spelling in one.declared.spellings:
                words = [*needed, spelling, *([] if one.kind is bool else _said(one)[1:])]
                read = plain.read(taken, words)
                assert read is not None and read[one.name] not in (None, False), words
                assert _same(read) == _same(by_typer(name, module, words)), words


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["-h"],
        ["--nothing"],
        ["-qv"],
        ["-mwhy"],
        ["--"],
        ["-m"],
        ["-m", "-y"],
        ["--yes=1"],
        ["--output", "JSON"],
        ["-m", "a", "--reason", "b"],
    ],
    ids=" ".join,
)
def test_what_is_not_plain_is_left_to_typer(words: list[str]) -> None:
    assert plain.read(taken_by(catalogue.names()[("approve",)]), words) is None
