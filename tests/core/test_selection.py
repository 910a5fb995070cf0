"""What comes of a selector's answer, by tables: it only narrows, and whatever is wrong with it comes to what the operator wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core import selection
from toolgate_cli.core.config import Selection
from toolgate_cli.core.selection import Choice, Selected
from toolgate_cli.core.types import Json

TOOLS = ("a.one", "a.two", "b.one", "b.two", "c")
CHOICE = Choice(3, TOOLS, ("b.two",), 2, "throw")


def of(*, most: int = 2, always: tuple[str, ...] = (), on_failure: str = "throw") -> Selection:
    return Selection("picker", most, always, on_failure)  # type: ignore[arg-type]  # one of the words


def complete(output: Json) -> Json:
    return [{"type": "complete", "output": output}]


# ---- whether anybody is asked ----
@pytest.mark.parametrize(
    "given, exposed",
    [(None, TOOLS), (of(most=5), TOOLS), (of(most=9), TOOLS), (of(most=1), ("c",)), (of(most=1), ()), (of(most=2, always=("**",)), TOOLS)],
    ids=["no selection", "just as many", "fewer", "one", "none", "all of them are always shown"],
)
def test_where_there_is_nothing_to_choose_nobody_is_asked(given: Selection | None, exposed: tuple[str, ...]) -> None:
    assert selection.choice(given, exposed, 0) is None


@pytest.mark.parametrize(
    "always, shown", [((), ()), (("c",), ("c",)), (("b.*", "a.two"), ("a.two", "b.one", "b.two")), (("z.*", "C"), ()), (("*",), ("c",))]
)
def test_what_is_always_shown_is_of_what_is_exposed_in_its_order(always: tuple[str, ...], shown: tuple[str, ...]) -> None:
    made = selection.choice(of(always=always), TOOLS, 7)
    assert made is not None and made.always == shown and made.turn == 7 and made.exposed == TOOLS
    assert made.open == tuple(name for name in TOOLS if name not in shown)


def test_the_schema_of_the_answer_names_what_there_is_to_choose_from() -> None:
    schema = CHOICE.schema
    assert isinstance(schema, dict) and schema["items"] == {"type": "string", "enum": ["a.one", "a.two", "b.one", "c"]}
    assert schema["maxItems"] == 2


# ---- what an answer comes to ----
@pytest.mark.parametrize(
    "names, shown, unknown, over",
    [
        (["c", "a.one"], ("a.one", "b.two", "c"), 0, 0),
        (["a.one", "c"], ("a.one", "b.two", "c"), 0, 0),
        (["c", "c", "c", "a.one"], ("a.one", "b.two", "c"), 0, 0),
        (["c", "b.one", "a.one", "a.two"], ("b.one", "b.two", "c"), 0, 2),
        (["b.two", "c", "b.one"], ("b.one", "b.two", "c"), 0, 0),
        (["b.two"], ("b.two",), 0, 0),
        ([], ("b.two",), 0, 0),
        (["c", "z.drop", "C", "c ", "a.*", "**", "", "a.one\x00", "ｃ"], ("b.two", "c"), 8, 0),
    ],
    ids=["chosen", "in another order", "twice", "too many", "one that is there anyway", "only that one", "empty", "hostile names"],
)
@pytest.mark.parametrize("wrapped", [True, False])
def test_an_answer_is_cut_with_what_there_is(names: list[Json], shown: tuple[str, ...], unknown: int, over: int, wrapped: bool) -> None:
    assert selection.judge(CHOICE, complete(names) if wrapped else names) == Selected(shown, "selected", "chosen", unknown, over)


WRONG: list[tuple[Json, str]] = [
    ({"unparsed": "I would take a.one"}, "not_json"),
    ({"unparsed": ""}, "not_json"),
    (None, "not_names"),
    ("a.one", "not_names"),
    (True, "not_names"),
    ({"tools": ["a.one"]}, "not_names"),
    (complete("a.one"), "not_names"),
    (complete('["a.one"]'), "not_names"),
    (complete(None), "not_names"),
    ([{"type": "complete"}], "not_names"),
    (complete(["a.one", 1]), "not_names"),
    (complete([["a.one"]]), "not_names"),
    ([{"type": "say", "message": "a.one"}], "not_names"),
    ([{"type": "tool_invocation", "capability": "a.one"}], "not_names"),
    ([*complete(["a.one"]), *complete(["c"])], "not_names"),  # type: ignore[misc]  # both are lists
    (["a.one", {"type": "complete", "output": []}], "not_names"),
    (["z.drop"], "unknown_names"),
    (complete(["A.ONE", "a__one"]), "unknown_names"),
]


@pytest.mark.parametrize("answer, code", WRONG, ids=[f"{number}-{code}" for number, (_, code) in enumerate(WRONG)])
@pytest.mark.parametrize("on_failure, shown", [("throw", ()), ("always_include", ("b.two",)), ("all", TOOLS)])
def test_whatever_is_wrong_comes_to_what_the_operator_wrote(answer: Json, code: str, on_failure: str, shown: tuple[str, ...]) -> None:
    found = selection.judge(CHOICE._replace(on_failure=on_failure), answer)  # type: ignore[arg-type]  # one of the words
    assert (found.tools, found.action, found.code) == (shown, on_failure, code)


@given(
    st.lists(st.sampled_from(TOOLS), unique=True),
    st.lists(st.sampled_from(("a.*", "b.one", "z", "**", "c"))),
    st.integers(1, 6),
    st.sampled_from(("throw", "always_include", "all")),
    st.recursive(st.none() | st.booleans() | st.sampled_from((*TOOLS, "z", "*")), lambda inner: st.lists(inner, max_size=4), max_leaves=8),
)
def test_nothing_is_ever_shown_that_is_not_exposed(exposed: list[str], always: list[str], most: int, on_failure: str, answer: Json) -> None:
    choice = selection.choice(of(most=most, always=tuple(always), on_failure=on_failure), exposed, 0)
    if choice is None:
        return
    found = selection.judge(choice, answer)
    assert set(found.tools) <= set(exposed) and list(found.tools) == [name for name in exposed if name in found.tools]
    assert found.action == "throw" or set(choice.always) <= set(found.tools)
    assert found.action != "selected" or len(found.tools) <= most + len(choice.always)
