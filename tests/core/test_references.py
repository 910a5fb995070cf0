"""References are filled once, and keep types where they stand alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.references import Reference, fill, names, split

VALUES: dict[str, Any] = {
    "n": 1,
    "f": 1.0,
    "s": "text",
    "null": None,
    "list": [1, "a"],
    "obj": {"b": 1, "a/b": {"c": [True]}},
    "evil": "${secret.KEY} $${x}",
    "inputs.order": "A-17",
    "tool.orders.lookup": {"items": [{"id": 7}]},
}


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("plain", "plain"),
        ("", ""),
        ("$", "$"),
        ("$$", "$$"),
        ("{}", "{}"),
        ("${n}", 1),
        ("${f}", 1.0),
        ("${null}", None),
        ("${obj}", VALUES["obj"]),
        ("${inputs.order}", "A-17"),
        ("${tool.orders.lookup#/items/0/id}", 7),
        ("${obj#/a~1b/c/0}", True),
        (" ${n}", " 1"),
        ("${n}${n}", "11"),
        ("${s}${s}", "texttext"),
        ("n=${n} f=${f} s=${s} null=${null} list=${list} ${obj#/b}", 'n=1 f=1.0 s=text null=null list=[1,"a"] 1'),
        ("${n}$", "1$"),
        ("$${$${", "${${"),
        ("$${${n}", "${1"),
        ("$${n}", "${n}"),
        ("$$${n}", "$${n}"),
        ("${n}$${n}", "1${n}"),
        ("a$${b}${s}c$${", "a${b}textc${"),
        ("${evil}", "${secret.KEY} $${x}"),
        ("<${evil}>", "<${secret.KEY} $${x}>"),
        (["${n}", {"${n}": "${s}"}], [1, {"${n}": "text"}]),
        ([1, None, True, 1.5], [1, None, True, 1.5]),
    ],
)
def test_a_template_is_filled(template: Any, value: Any) -> None:
    filled = fill(template, VALUES.__getitem__)
    assert (filled, type(filled)) == (value, type(value))


@pytest.mark.parametrize("template", ["${absent}", "x${absent}", "${obj#/zz}", "${list#/2}", {"a": ["${n#/x}"]}])
def test_a_reference_that_cannot_be_filled_is_named(template: Any) -> None:
    with pytest.raises(ToolgateError, match=r"\$\{\w+(#[^}]*)?\} cannot be filled") as caught:
        fill(template, VALUES.__getitem__)
    assert caught.value.kind == "invalid"


@pytest.mark.parametrize(
    "template",
    ["${", "${n", "a ${n", "${}", "${#/a}", "${ n}", "${n }", "${a${b}}", "${n#}", "${n#a}", "${n#/~2}", "$${n} ${", "${$n}", "${a{b}"],
)
def test_a_broken_reference_is_refused_when_loaded_and_when_filled(template: str) -> None:
    for function in (lambda: names({"a": [template]}), lambda: fill(template, lambda name: 1), lambda: split(template)):
        with pytest.raises(ToolgateError) as caught:
            function()
        assert caught.value.kind == "invalid"


def test_every_name_is_listed_once_in_order() -> None:
    assert names(["${b} ${a#/x}", {"k": "${b#/y}", "${no}": "$${no}"}, 1, None, "${c.d}"]) == ("b", "a", "c.d")
    assert names("plain") == ()


def test_a_text_is_split_into_literals_and_references() -> None:
    assert split("a$${b${c#/d}e") == ("a${b", Reference("c", "/d"), "e")
    assert split("") == ()
    assert str(Reference("c", "/d")) == "${c#/d}"
    assert str(Reference("c", "")) == "${c}"


@given(st.text(), st.text())
def test_what_a_value_brings_in_is_never_read_again(value: str, around: str) -> None:
    around = around.replace("$", "").replace("{", "")
    assert fill("${x}", lambda name: value) == value
    assert fill(around + "|${x}|", lambda name: value) == f"{around}|{value}|"


@given(st.text())
def test_an_escaped_text_fills_to_itself(text: str) -> None:
    text = text.replace("$", "")
    assert fill(text + "$${" + text, lambda name: 1) == text + "${" + text
