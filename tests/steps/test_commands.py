"""Whatever a model answers, it is a list of commands that can be carried out, or it is refused by a reason: nothing else comes of it."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.steps.fake_view import COMMANDS, FakeView, agent
from toolgate_cli.core import canonical
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.intents import AskModel, AskPerson, CallTools, Done, Escalate, Fail
from toolgate_cli.core.records import Turn
from toolgate_cli.core.types import Json
from toolgate_cli.steps import _commands, spar
from toolgate_cli.steps import agent as kind

FIELDS = ("type", "capability", "arguments", "rationale", "id", "call", "values", "question", "items", "message", "reason", "output")
WORDS = st.sampled_from(
    [*COMMANDS, *FIELDS, "TEXT", "SINGLE_CHOICE", "wants_another_round", "options", "label", "required", "__x", "tool.a", ""]
)
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | WORDS | st.text(max_size=3)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4), max_leaves=8)
ITEM = st.fixed_dictionaries(
    {"id": st.sampled_from(["a", "b", "A"]), "type": WORDS}, optional={"options": VALUES, "label": VALUES, "required": VALUES}
)
COMMAND = st.one_of(
    VALUES,
    st.dictionaries(WORDS, VALUES, max_size=4),
    st.builds(lambda word, rest: {**rest, "type": word}, WORDS, st.dictionaries(WORDS, VALUES, max_size=3)),
    st.builds(lambda items: {"type": "ask", "items": items}, st.lists(ITEM | VALUES, max_size=3)),
    st.builds(lambda values: {"type": "set_context", "values": values}, st.dictionaries(WORDS, VALUES, max_size=3)),
    st.just({"type": "say", "message": "x"}),
    st.just({"type": "tool_invocation", "capability": "a", "arguments": {}}),
)
ANSWERS = st.lists(COMMAND, max_size=4) | VALUES | st.builds(lambda text: {"unparsed": text}, VALUES)
WANTED = (Done, Fail, CallTools, AskModel, AskPerson, Escalate)


@settings(max_examples=200, deadline=None)
@given(answer=ANSWERS, again=ANSWERS)
def test_any_answer_is_carried_out_or_refused_by_a_reason(answer: Json, again: Json) -> None:
    steps: list[tuple[Any, Any]] = [(kind, kind.Fields("clerk", writes=("*",))), (spar, spar.Fields("clerk", "clerk"))]
    for step, fields in steps:
        view = FakeView(agents={"clerk": agent()})
        intent = step.plan(fields, view)
        for number, said in enumerate((answer, again)):
            view = view.after(intent, Turn("r1", "s", number, canonical.encode(said)))
            intent = step.plan(fields, view)
            assert isinstance(intent, WANTED) and canonical.encode([dict(getattr(intent, "memo", {}))])
            if not isinstance(intent, AskModel):
                break


@settings(max_examples=200, deadline=None)
@given(answer=ANSWERS, allowed=st.sets(st.sampled_from(COMMANDS)))
def test_what_is_accepted_holds_allowed_commands_and_writes_no_reserved_key(answer: Json, allowed: set[str]) -> None:
    try:
        commands = _commands.read(canonical.encode(answer), sorted(allowed), ("*",))
    except ToolgateError as refused:
        assert refused.kind == "invalid" and refused.message.startswith("the model's turn is refused: ")
        return
    assert commands and {command["type"] for command in commands} <= allowed
    keys = [key for command in commands if command["type"] == "set_context" for key in command["values"]]  # type: ignore[union-attr]
    assert not [key for key in keys if key.startswith(("inputs.", "tool.", "loop.", "user.", "__"))]
