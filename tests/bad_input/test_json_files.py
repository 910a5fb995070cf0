"""Inputs, answers and outcomes from a file or from standing input: one strict JSON object, or a refusal with its place (CASES G)."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from toolgate_cli.cli.places import line_of

from .homes import Home, check_refusal


class Bad(NamedTuple):
    """`said`: what the message has to say behind the name of the file."""

    content: str | bytes
    said: str


NOT_JSON = [
    Bad("", ":1: not JSON"), Bad("  \n", ":2: not JSON"), Bad("nope", ":1: not JSON"), Bad("{'a': 1}", ":1: not JSON"),
    Bad('{\n"a": 1,\n}', ":3: not JSON"), Bad('{"a": 1}\nx', ":2: not JSON"), Bad("{}{}", ":1: not JSON"), Bad('{"a": 01}', ":1: not JSON"),
    Bad("\ufeff{}", ":1: the file begins with a byte order mark"), Bad(b'{\n"a": "\xe9"}', ":2: the file is not UTF-8"),
    Bad('{"a": "x"}'.encode("utf-16"), ":1: the file is not UTF-8"), Bad(b'{"a": "x\x00"}', ":1: not JSON"),
    Bad("[" * 100_000, ":1: nested more than 200 deep"), Bad('{"a":' * 100_000, ":1: nested more than 200 deep"),
    Bad('{"a":\n' + "[" * 201 + "]" * 201 + "}", ":2: /a/0/0/0"),
    Bad('{"b": 1,\n"a": 1,\n"a": 2}', ":3: /a: the key is there twice"),
    Bad('{"a": {"b": 1,\n"b": 2}}', ":2: /a/b: the key is there twice"),
    Bad('{\n"a": NaN}', ":2: /a: not a finite number"), Bad('{"a": [1,\n-Infinity]}', ":2: /a/1: not a finite number"),
    Bad('{"a": 1e400}', ":1: /a: not a finite number"), Bad('{"a": 0.10000000000000000555}', ":1: /a: a double cannot hold"),
    Bad('{"a": ' + "9" * 5000 + "}", ":1: /a: more than 1000 digits"), Bad('{"a": "\\ud800"}', ":1: /a: half of a surrogate"),
    Bad('{"\\udfff": 1}', ":1: half of a surrogate"), Bad('{"a": "' + "x" * 5_000_000 + '"}', ": larger than 4 MiB"),
    Bad("[]", ":1: a JSON object is wanted"), Bad('"x"', ":1: a JSON object is wanted"), Bad("null", ":1: a JSON object is wanted"),
    Bad("5", ":1: a JSON object is wanted"), Bad("true", ":1: a JSON object is wanted"),
]  # fmt: skip


def takers(home: Home) -> list[tuple[str, ...]]:
    """Commands that want one more word: a file."""
    return [
        ("start", "pay", "--inputs"),
        ("answer", home.runs["form"], "--answers"),
        ("continue-tool", home.calls["doubtful"], "--outcome-file"),
        ("approve", home.calls["asked"], "--arguments"),
    ]


@pytest.mark.parametrize("bad", NOT_JSON, ids=range(len(NOT_JSON)))
def test_what_is_not_one_strict_object_is_refused_with_its_line(spoilt: Home, bad: Bad) -> None:
    spoilt.write("given.json", bad.content)
    content = bad.content if isinstance(bad.content, bytes) else bad.content.encode()
    before = spoilt.stand()
    for words in takers(spoilt):
        for name, said in (("given.json", spoilt.say(*words, "given.json")), ("stdin", spoilt.say(*words, "-", stdin=content))):
            check_refusal(said, 7)
            assert said.message.startswith(name + bad.said) and said.hint, said
    assert spoilt.stand() == before


def test_a_file_that_cannot_be_read_is_refused(spoilt: Home) -> None:
    (spoilt.path / "loop").symlink_to("loop")
    before = spoilt.stand()
    for words in takers(spoilt):
        for name in ("none.json", ".", "loop", "toolgate.toml/x", "x" * 300, "\udcff.json", "/dev/zero", "/proc/self/mem"):
            said = spoilt.say(*words, name)
            check_refusal(said, 7)
            assert said.hint, said
        check_refusal(spoilt.say(*words, ""), 2)
        check_refusal(spoilt.say(*words, "-", closed=[0]), 7)
        check_refusal(spoilt.say(*words), 2)
    assert spoilt.stand() == before


INPUTS = [
    Bad('{"to": "ann",\n"two": 1}', "given.json:2: there is no input two"),
    Bad('{"two": 1,\n"too": 1}', "given.json:2: there is no input too"),
    Bad('{"to":\n1}', "given.json:1: to: must be of type string"), Bad('{\n"amount": "5"}', "given.json:2: amount: must be of type number"),
    Bad('{"amount": true}', "given.json:1: amount: must be of type number"),
    Bad('{"to": null}', "given.json:1: to: must be of type string"),
    Bad('{"tags": ["a", 1]}', "given.json:1: tags: does not validate: INVALID_TYPE at /1"), Bad('{"tags": {}}', "given.json:1: tags: "),
    Bad('{"\\u001b[31m\\u202e": 1}', "there is no input \\x1b[31m\\u202e"), Bad('{"' + "k" * 3000 + '": 1}', "there is no input k"),
]  # fmt: skip


@pytest.mark.parametrize("bad", INPUTS, ids=range(len(INPUTS)))
def test_inputs_that_do_not_fit_start_no_run(spoilt: Home, bad: Bad) -> None:
    spoilt.write("given.json", bad.content)
    before = spoilt.stand()
    said = spoilt.say("start", "pay", "--inputs", "given.json")
    check_refusal(said, 7)
    assert bad.said in said.message and said.hint and spoilt.stand() == before, said


ANSWERS = [
    Bad('{"street": "x",\n"stret": 1}', "given.json:2: stret: the form has no such item"), Bad("{}", "street: an answer is required"),
    Bad('{"how": "post"}', "street: an answer is required"), Bad('{"street":\n1}', "given.json:1: street: a text"),
    Bad('{"street": "a\\nb"}', "given.json:1: street: a text of one line"),
    Bad('{"street": " "}', "given.json:1: street: an answer is required"),
    Bad('{"street": null}', "given.json:1: street: a text"),
    Bad('{"street": "x",\n\n"how": "pots"}', "given.json:3: how: one of post, courier"),
    Bad('{"street": "x", "how": ["post"]}', "how: one of post"), Bad('{"street": "x", "days": "mon"}', "days: some of mon, tue"),
    Bad('{"street": "x", "days": ["mon", "sun"]}', "days: some of"), Bad('{"street": "x", "days": [["mon"]]}', "days: some of"),
    Bad('{"street": "x", "fast": "yes"}', "fast: yes or no"), Bad('{"street": "x", "fast": 1}', "fast: yes or no"),
    Bad('{"street": "x", "weight": "1"}', "weight: a number"), Bad('{"street": "x", "weight": true}', "weight: a number"),
    Bad('{"street": "x", "day": "2026-02-30"}', "day: a date"), Bad('{"street": "x", "day": "20260131"}', "day: a date"),
    Bad('{"street": "x", "day": 5}', "day: a date"), Bad('{"street": "x", "note": {}}', "note: a text"),
]  # fmt: skip


@pytest.mark.parametrize("bad", ANSWERS, ids=range(len(ANSWERS)))
def test_answers_that_do_not_fit_the_form_answer_nothing(spoilt: Home, bad: Bad) -> None:
    spoilt.write("given.json", bad.content)
    before = spoilt.stand()
    said = spoilt.say("answer", spoilt.runs["form"], "--answers", "given.json")
    check_refusal(said, 7)
    assert bad.said in said.message and "items: street (TEXT)" in said.hint and spoilt.stand() == before, said


OUTCOMES = ["{}", '{"result": 1}', '{"applied": "yes"}', '{"applied": 1, "result": 1}', '{"applied": null}', '{"applied": true, "more": 1}']


@pytest.mark.parametrize("content", OUTCOMES)
def test_an_outcome_that_says_nothing_definite_settles_nothing(spoilt: Home, content: str) -> None:
    spoilt.write("given.json", content)
    before = spoilt.stand()
    said = spoilt.say("continue-tool", spoilt.calls["doubtful"], "--outcome-file", "given.json")
    check_refusal(said, 7)
    assert "the outcome: /" in said.message and '{"applied": true | false, "result": ...}' in said.hint and spoilt.stand() == before


ARGUMENTS = [
    Bad("{}", "given.json:1: the new arguments cannot be taken: arguments do not validate: "),
    Bad('{"amount": 1,\n"to": 5}', "given.json:2: the new arguments cannot be taken"),
    Bad('{"to": "ann",\n"amount": "1"}', "given.json:2: "), Bad('{"to": "ann", "amount": 1,\n"more": 1}', "given.json:2: "),
    Bad('{"to": null, "amount": 1}', "at /to"), Bad('{"to": "ann", "amount": true}', "at /amount"),
    Bad('{"amount": 1, "to": "' + "x" * 70 * 1024 + '"}', "given.json:1: the new arguments cannot be taken: ARGS_TOO_LARGE"),
    Bad('{"amount": 1,\n"to": ' + "[" * 70 + "]" * 70 + "}", "TOO_DEEP"),
    Bad('{"to": "ann", "amount": [' + "1," * 1000 + "1]}", "TOO_MANY_ITEMS"),
    Bad('{"\\u001b[31m\\u202e": 1, "to": "ann", "amount": 1}', "\\x1b[31m\\u202e"),
]  # fmt: skip


@pytest.mark.parametrize("bad", ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_arguments_that_do_not_fit_the_tool_change_nothing(spoilt: Home, bad: Bad) -> None:
    spoilt.write("given.json", bad.content)
    before = spoilt.stand()
    said = spoilt.say("approve", spoilt.calls["asked"], "--arguments", "given.json")
    check_refusal(said, 7)
    assert bad.said in said.message and "still waits as it was" in said.hint and spoilt.stand() == before, said


@pytest.mark.parametrize(("name", "use"), [("failing", "use retry"), ("doubtful", "use continue-tool"), ("denied", "denies")])
def test_other_arguments_for_a_call_that_waits_for_no_approval_are_refused(home: Home, name: str, use: str) -> None:
    home.write("given.json", '{"to": "bob", "amount": 1}')
    before = home.stand()[1]
    said = home.say("approve", home.calls[name], "--arguments", "given.json")
    check_refusal(said, 6 if name == "denied" else 5)
    assert use in said.message and home.stand()[1] == before


def test_arguments_of_70_kib_are_received_by_nobody(home: Home) -> None:
    home.write("given.json", '{"to": "' + "x" * 70 * 1024 + '"}')
    before = home.stand()[1]
    said = home.say("start", "pay", "--inputs", "given.json", "--json")
    assert said.code == 1 and '"origin": "EXECUTION_FAILED"' in said.out and home.stand()[1] == before, said
    assert home.say("audit", "verify").code == 0


def test_a_place_is_found_in_any_text() -> None:
    text = '{"a": {"b~/": [1,\n2, {"c": "]}\\",:",\n"d": 3}]},\n"d": 4}'
    assert [line_of(text, pointer) for pointer in ("", "/a", "/a/b~0~1/1", "/a/b~0~1/2/d", "/d", "/a/x", "no")] == [1, 1, 2, 3, 4, 1, 1]
    for broken in ("", "{", "}}]]::,,", '"', '{"a', "[" * 50_000, "\n" * 9, '{"\\x": 1}'):
        assert line_of(broken, "/a/0") >= 1
