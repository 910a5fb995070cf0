"""Canonical JSON: strict in, one spelling out."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core import canonical
from toolgate_cli.core.config import Limits
from toolgate_cli.core.errors import ToolgateError

LIMITS = Limits()
texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=20)


def refusal(function: Any, *arguments: Any) -> str:
    with pytest.raises(ToolgateError) as caught:
        function(*arguments)
    assert caught.value.kind == "invalid"
    return caught.value.message


def code(function: Any, *arguments: Any) -> str:
    return refusal(function, *arguments).partition(":")[0]


def typed(value: Any) -> Any:
    """A value in which 1, 1.0, -0.0 and True differ."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return [typed(item) for item in value] if isinstance(value, list) else (type(value).__name__, repr(value))


@given(values)
def test_what_was_encoded_parses_to_the_same_value_with_the_same_types(value: Any) -> None:
    assert typed(canonical.parse(canonical.encode(value))) == typed(value)


odd = st.sampled_from(
    [
        '{"a":1,"a":2}',
        "NaN",
        "1e999",
        "0.1000000000000000055",
        "9" * 1001,
        '"\\ud800"',
        "[" * 201 + "]" * 201,
        "01",
        "[1] 2",
        "\ufeff1",
        '"\ud800"',
        "",
        "\u00a01",
    ]
)


@given(st.one_of(values.map(json.dumps), odd), st.sampled_from(["", " ", "\r\n\t ", "\f"]), st.sampled_from(["%s", "[0,%s]", '{"k":%s}']))
def test_a_text_is_read_as_it_is_when_each_part_of_its_value_is_looked_at(text: str, space: str, around: str) -> None:
    text = f"{space}{around % text}{space}"

    def read() -> tuple[str, Any]:
        try:
            return "value", typed(canonical.parse(text))
        except ToolgateError as error:
            return "refusal", error.message

    with pytest.MonkeyPatch.context() as patch:
        quickly = read()
        patch.setattr(canonical, "_is_plain", lambda _text: False)
        assert quickly == read()


@given(values)
def test_canonical_text_is_a_fixed_point(value: Any) -> None:
    text = canonical.encode(value)
    assert canonical.encode(canonical.parse(text)) == text
    assert canonical.encode(canonical.parse(json.dumps(value, indent=3))) == text


@given(values, values)
def test_two_values_have_the_same_text_exactly_if_they_are_the_same_with_their_types(left: Any, right: Any) -> None:
    assert (canonical.encode(left) == canonical.encode(right)) == (typed(left) == typed(right))


@given(values)
def test_the_text_is_what_the_standard_encoder_writes(value: Any) -> None:
    assert canonical.encode(value) == json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
        ({"\U0001f600": 1, "\uffff": 2, "z": 3, "Z": 4}, '{"Z":4,"z":3,"\uffff":2,"\U0001f600":1}'),  # by code point, not by UTF-16 unit
        ([1, 1.0, True], "[1,1.0,true]"),
        ([0, -0.0, 0.0], "[0,-0.0,0.0]"),
        (1e16, "1e+16"),
        (5e-324, "5e-324"),
        (9007199254740993, "9007199254740993"),
        ('ä\n\t"\\\x00\x7f\u2028', '"ä\\n\\t\\"\\\\\\u0000\x7f\u2028"'),
        ([], "[]"),
        ({}, "{}"),
        ([None, False], "[null,false]"),
    ],
)
def test_the_spelling_is_fixed(value: Any, text: str) -> None:
    assert canonical.encode(value) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-0", 0),
        ("-0.0", -0.0),
        ("0.10", 0.1),
        ("1E2", 100.0),
        ("0.1e1", 1.0),
        ("0.010", 0.01),
        ("1200e-2", 12.0),
        ("0.00012E+3", 0.12),
        ("-120.50e-1", -12.05),
        ("1e16", 1e16),
        ("10000000000000000.0", 1e16),
        ("0e99999999999999999999", 0.0),
        ("0.000e-5", 0.0),
        ("1e0000000000000000000000000005", 100000.0),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        (b'"\xc3\xa4"', "ä"),
        (" [ ] ", []),
    ],
)
def test_these_texts_are_these_values(text: str | bytes, value: Any) -> None:
    assert typed(canonical.parse(text)) == typed(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "INVALID_JSON at ''"),
        ("[1] x", "INVALID_JSON at ''"),
        ("[1,]", "INVALID_JSON at ''"),
        ("{'a':1}", "INVALID_JSON at ''"),
        ('"\t"', "INVALID_JSON at ''"),
        ("01", "INVALID_JSON at ''"),
        ("+1", "INVALID_JSON at ''"),
        ("1.", "INVALID_JSON at ''"),
        ("\u0663", "INVALID_JSON at ''"),
        ("\ufeff1", "INVALID_JSON at ''"),
        (b"\xef\xbb\xbf1", "INVALID_JSON at ''"),
        (b'"\xff"', "INVALID_JSON at ''"),
        ("\u00a01", "INVALID_JSON at ''"),
        ("NaN", "NON_FINITE at ''"),
        ("[0,Infinity]", "NON_FINITE at /1"),
        ('{"a":-Infinity}', "NON_FINITE at /a"),
        ("1e999", "NON_FINITE at ''"),
        ("-1e999", "NON_FINITE at ''"),
        ("1e99999999999999999999", "NON_FINITE at ''"),
        ("1e-400", "INEXACT_NUMBER at ''"),
        ("1e-99999999999999999999", "INEXACT_NUMBER at ''"),
        ("9007199254740993.0", "INEXACT_NUMBER at ''"),
        ("0.1000000000000000055511151231257827", "INEXACT_NUMBER at ''"),  # the double's exact value, but not its shortest spelling
        ('{"a":{"b":1,"b":1}}', "DUPLICATE_KEY at /a/b"),
        ('{"a/~":1,"x":0,"a/~":2}', "DUPLICATE_KEY at /a~1~0"),
        ('{"x":0,"b":1,"c":2,"b":3,"c":4}', "DUPLICATE_KEY at /b"),
        ('[{"a":1,"\\u0061":2}]', "DUPLICATE_KEY at /0/a"),
        ('"\\ud800"', "LONE_SURROGATE at ''"),
        ('{"a":["\\udc00\\ud800"]}', "LONE_SURROGATE at /a/0"),
        ('{"\\ud800":1}', "LONE_SURROGATE at ''"),
        ('"\ud800"', "LONE_SURROGATE at ''"),
        ("[" * 100_000, "TOO_DEEP at ''"),
        ('{"a":' * 100_000, "TOO_DEEP at ''"),
        ("[" * 5000 + "]" * 5000, "TOO_DEEP at ''"),
    ],
)
def test_these_texts_are_refused_with_code_and_place(text: str | bytes, expected: str) -> None:
    assert code(canonical.parse, text) == expected


def test_a_number_of_a_thousand_digits_is_exact_and_one_more_is_refused() -> None:
    for sign in ("", "-"):
        text = sign + "123456789" * 111 + "1"
        assert len(text.lstrip("-")) == 1000
        assert canonical.encode(canonical.parse(text)) == text
        assert canonical.encode(canonical.parse(f"[{text}]")) == f"[{text}]"
        assert code(canonical.parse, text + "0") == "INTEGER_TOO_LONG at ''"
        assert code(canonical.parse, f'{{"a":{text}0}}') == "INTEGER_TOO_LONG at /a"
    assert canonical.encode(10**1000 - 1) == "9" * 1000
    assert code(canonical.encode, 10**1000) == "INTEGER_TOO_LONG at ''"
    assert code(canonical.encode, [-(10**1000)]) == "INTEGER_TOO_LONG at /0"
    assert code(canonical.parse, "9" * 5000) == "INTEGER_TOO_LONG at ''"


def test_long_integers_do_not_depend_on_how_the_interpreter_was_started() -> None:
    program = """
from toolgate_cli.core import canonical
text = '{"a":[-1%s,true,null,1.5,"x"],"b":{"k":%s}}' % ("0" * 999, "987654321" * 111)
assert canonical.encode(canonical.parse(text)) == text
"""
    subprocess.run([sys.executable, "-X", "int_max_str_digits=640", "-c", program], check=True)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), "NON_FINITE at ''"),
        ({"a": [float("inf")]}, "NON_FINITE at /a/0"),
        ([date(2026, 1, 1)], "INVALID_TYPE at /0"),
        ((1, 2), "INVALID_TYPE at ''"),
        ({"a": {1, 2}}, "INVALID_TYPE at /a"),
        (b"x", "INVALID_TYPE at ''"),
        ({1: 2}, "INVALID_KEY at ''"),
        ({"a": {None: 2}}, "INVALID_KEY at /a"),
        ({"a": {True: 2, "b": 1}}, "INVALID_KEY at /a"),
        (["\ud800"], "LONE_SURROGATE at /0"),
        ({"\udfff": 1}, "LONE_SURROGATE at ''"),
        ([object()], "INVALID_TYPE at /0"),
    ],
)
def test_what_is_not_json_is_not_encoded(value: Any, expected: str) -> None:
    assert code(canonical.encode, value) == expected


def nested(depth: int) -> Any:
    value: Any = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def test_no_value_is_deeper_than_two_hundred() -> None:
    canonical.encode(nested(200))
    canonical.parse("[" * 200 + "]" * 200)
    assert code(canonical.encode, nested(201)).startswith("TOO_DEEP at /")
    assert code(canonical.parse, "[" * 201 + "]" * 201).startswith("TOO_DEEP at /")
    circle: list[Any] = []
    circle.append(circle)
    assert code(canonical.encode, circle).startswith("TOO_DEEP at /")


def test_no_value_appears_in_a_refusal() -> None:
    for text in ('{"a":"hush","a":"hush"}', '{"a":"hush', '["hush", NaN]', '{"s":"hush\\ud800"}'):
        assert "hush" not in refusal(canonical.parse, text)
    assert "hush" not in refusal(canonical.receive, "hush", True, LIMITS)
    assert "hush" not in refusal(canonical.receive, '["hush"]', True, LIMITS)


def test_a_long_pointer_is_cut() -> None:
    message = refusal(canonical.parse, '{"%s":NaN}' % ("k" * 5000))
    assert message == "NON_FINITE at /" + "k" * 199 + "...: not a finite number"
    assert refusal(canonical.parse, '{"%s":NaN}' % ("k" * 199)) == "NON_FINITE at /" + "k" * 199 + ": not a finite number"


def test_a_late_duplicate_among_many_keys_is_found_at_once() -> None:
    pairs = ",".join(f'"{number}":0' for number in range(100_000))
    began = time.perf_counter()
    assert code(canonical.parse, "{" + pairs + ',"99999":1}') == "DUPLICATE_KEY at /99999"
    assert time.perf_counter() - began < 2


# ---- receiving arguments ----
def test_arguments_come_back_as_canonical_text() -> None:
    assert canonical.receive({"b": 1, "a": "ä"}, False, LIMITS) == '{"a":"ä","b":1}'
    assert canonical.receive(' {"b": 1, "a": "\\u00e4"} ', True, LIMITS) == '{"a":"ä","b":1}'


def test_what_came_as_text_is_remembered_as_its_canonical_text_is_read() -> None:
    text = canonical.receive('{"b": [{"d": 1, "c": 1.50}], "a": {"z": null, "y": -0.0}}', True, LIMITS)
    assert repr(canonical.shared(text)) == repr(canonical.parse(text))


@pytest.mark.parametrize("value", [[], "{}", 1, None, True])
def test_arguments_that_are_no_object_are_refused(value: Any) -> None:
    assert code(canonical.receive, value, False, LIMITS) == "INVALID_TYPE at ''"
    assert code(canonical.receive, json.dumps(value), True, LIMITS) == "INVALID_TYPE at ''"


def test_raw_arguments_are_text() -> None:
    assert code(canonical.receive, {}, True, LIMITS) == "INVALID_TYPE at ''"


def test_a_broken_root_is_named_for_what_it_is() -> None:
    assert code(canonical.receive, '{"a":1,"a":2}', True, LIMITS) == "DUPLICATE_KEY at /a"
    assert code(canonical.receive, "NaN", True, LIMITS) == "NON_FINITE at ''"
    assert code(canonical.receive, "[" * 20_000, True, LIMITS) == "TOO_DEEP at ''"


def test_the_byte_limit_counts_canonical_bytes_up_to_and_including_the_limit() -> None:
    for letter, width in (("a", 1), ("ä", 2)):
        fits: Any = {"a": letter * ((65536 - 8) // width)}
        text = canonical.receive(fits, False, LIMITS)
        assert len(text.encode()) == 65536
        assert canonical.receive(text, True, LIMITS) == text
        assert code(canonical.receive, {"b": "", **fits}, False, LIMITS) == "ARGS_TOO_LARGE at ''"
        assert code(canonical.receive, {"a": fits["a"] + "a"}, False, LIMITS) == "ARGS_TOO_LARGE at ''"


def test_raw_text_over_the_limit_is_refused_before_it_is_parsed() -> None:
    assert code(canonical.receive, "x" * 65537, True, LIMITS) == "ARGS_TOO_LARGE at ''"
    assert code(canonical.receive, "x" * 65536, True, LIMITS) == "INVALID_JSON at ''"
    assert code(canonical.receive, "\ud800" * 30_000, True, LIMITS) == "ARGS_TOO_LARGE at ''"


def test_sixty_four_levels_are_accepted_and_sixty_five_refused() -> None:
    assert canonical.check_limits(nested(64), LIMITS)
    assert code(canonical.check_limits, nested(65), LIMITS).startswith("TOO_DEEP at /")
    assert canonical.receive('{"a":' * 64 + "1" + "}" * 64, True, LIMITS)
    assert code(canonical.receive, '{"a":' * 65 + "1" + "}" * 65, True, LIMITS) == "TOO_DEEP at " + "/a" * 64
    assert canonical.receive('{"a":"%s"}' % ("[{" * 20_000), True, LIMITS)  # brackets in a text are no levels


def test_a_collection_holds_a_thousand_entries_and_no_more() -> None:
    assert canonical.check_limits({"a": [1] * 1000, "b": dict.fromkeys(map(str, range(1000)))}, LIMITS)
    assert code(canonical.check_limits, {"a": [1] * 1001}, LIMITS) == "TOO_MANY_ITEMS at /a"
    assert code(canonical.check_limits, {"a": [1] * 1000, "b": [1] * 1001}, LIMITS) == "TOO_MANY_ITEMS at /b"
    assert code(canonical.check_limits, dict.fromkeys(map(str, range(1001))), LIMITS) == "TOO_MANY_ITEMS at ''"


def test_the_limits_are_the_operators() -> None:
    limits = Limits(arguments_bytes=10, arguments_depth=2, arguments_items=2)
    assert canonical.check_limits([[1], [2]], limits) == "[[1],[2]]"
    assert code(canonical.check_limits, [[[]]], limits) == "TOO_DEEP at /0/0"
    assert code(canonical.check_limits, [1, 2, 3], limits) == "TOO_MANY_ITEMS at ''"
    assert code(canonical.check_limits, ["1234567"], limits) == "ARGS_TOO_LARGE at ''"
    assert code(canonical.check_limits, nested(201), Limits(arguments_depth=10_000)).startswith("TOO_DEEP at /")


@given(st.binary(max_size=60) | st.text(max_size=60))
def test_no_input_raises_anything_but_a_clean_refusal(text: str | bytes) -> None:
    try:
        value = canonical.parse(text)
    except ToolgateError as error:
        assert error.kind == "invalid"
    else:
        assert canonical.parse(canonical.encode(value)) == value
