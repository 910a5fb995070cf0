"""What holds for every step kind, found by its file: its fields can be checked and built, its plan is pure, its memo survives a store."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

import toolgate_cli.steps
from tests.steps.fake_view import FakeView, agent, call, reply, turn
from toolgate_cli.core import fields as markers
from toolgate_cli.core.definition import COMMON
from toolgate_cli.core.intents import Done, Fail, Intent
from toolgate_cli.core.tables import defaults, hints, is_fields, is_json, is_union, table, without_markers

KINDS = sorted(path.stem for path in Path(toolgate_cli.steps.__path__[0]).glob("*.py") if not path.stem.startswith("_"))
FORM = [{"id": "street", "type": "TEXT", "label": "Street", "required": True}]
MOST = 50  # plans of one step
NAMED = {"block": "pay", "form": "address", "agent": "clerk", "tool": "orders.lookup", "step": "decide", "earlier step": "decide"}
NAMED |= {"workflow": "refund"}


def sample(hint: Any, outer: tuple[object, ...] = ()) -> Any:
    """A raw value that a field of this type may have."""
    bare, own = without_markers(hint)
    marks = (*own, *outer)
    for mark in own:
        if isinstance(mark, markers.When):
            return [{"key": "decision", "eq": "yes"}]
        if isinstance(mark, markers.Schema):
            return {"type": "string"}
    if is_json(bare):
        return "${decision}"
    if is_union(bare):
        return sample(next(part for part in get_args(bare) if part is not type(None)), marks)
    if is_fields(bare):
        return raw(bare, everything=True)
    origin, inner = get_origin(bare), get_args(bare)
    if origin is Literal:
        return inner[0]
    if origin is tuple:
        return [sample(inner[0], marks)]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"yes": sample(inner[1], marks)}
    if bare is str and any(isinstance(mark, markers.Pointer) for mark in marks):
        return ""
    if bare is str:
        return next((NAMED[mark.what] for mark in marks if isinstance(mark, markers.Names)), "decision")
    bounds = next((mark for mark in marks if isinstance(mark, markers.Between)), markers.Between())
    return True if bare is bool else bare(bounds.least or 1)


def raw(fields: type, everything: bool) -> dict[str, Any]:
    return {name: sample(hint) for name, hint in hints(fields).items() if everything or name not in defaults(fields)}


def play(kind: Any, fields: Any) -> Iterator[tuple[FakeView, Intent]]:
    """The step from its beginning to its end, with whatever it asks for given to it."""
    turns = [
        turn(
            {"type": "set_context", "values": {"decision": "yes"}},
            call(call="c7"),
            call(id="mine"),
            {"type": "say", "message": "hm"},
            {"type": "ask", "question": "sure?"},
            {"type": "escalate", "reason": "unsure"},
            call(),
            {"type": "continue", "wants_another_round": True, "reason": "more"},
        ),
        turn({"type": "complete", "output": "fine"}, number=1),
    ]
    values = {"decision": "yes"}
    view = FakeView(values=values, forms={"address": FORM}, agents={"clerk": agent()})
    for _ in range(MOST):
        intent = kind.plan(fields, view)
        yield view, intent
        arrived = reply(intent, turns)
        if arrived is None:
            return
        view = view.after(intent, arrived)
    raise AssertionError(f"no end after {MOST} plans")


@pytest.fixture(params=[(name, everything) for name in KINDS for everything in (False, True)], ids=lambda p: f"{p[0]}-{p[1]}")
def step(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    name, everything = request.param
    kind = importlib.import_module(f"toolgate_cli.steps.{name}")
    return kind, table(kind.Fields, raw(kind.Fields, everything))


def test_there_are_step_kinds_to_look_at() -> None:
    assert {"tool", "agent", "assign", "branch", "input", "block", "fail"} <= set(KINDS)


def test_it_says_what_it_is_for_and_declares_its_fields_as_an_annotated_table(step: tuple[Any, Any]) -> None:
    kind, fields = step
    assert kind.__doc__ and is_fields(kind.Fields)
    assert set(hints(kind.Fields)) == set(kind.Fields._fields)
    assert not set(kind.Fields._fields) & {*COMMON}
    assert isinstance(fields, kind.Fields)


def test_the_same_view_gives_the_same_intent_and_nothing_of_it_is_changed(step: tuple[Any, Any]) -> None:
    kind, fields = step
    before = deepcopy(fields)
    for view, intent in play(kind, fields):
        seen = deepcopy((dict(view.memo), view.values, view.forms, view.arrived))
        assert kind.plan(fields, view) == intent
        assert (dict(view.memo), view.values, view.forms, view.arrived) == seen
    assert fields == before


def test_every_intent_is_one_of_the_closed_set_and_the_last_one_ends_the_step(step: tuple[Any, Any]) -> None:
    intents = [intent for _, intent in play(*step)]
    assert all(type(intent) in get_args(Intent) for intent in intents)
    assert isinstance(intents[-1], (Done, Fail))


def test_a_memo_is_json_and_the_step_goes_on_from_it_after_a_restart(step: tuple[Any, Any]) -> None:
    kind, fields = step
    for view, intent in play(kind, fields):
        memo = dict(getattr(intent, "memo", {}))
        assert json.loads(json.dumps(memo, allow_nan=False)) == memo
        again = replace(view, memo=json.loads(json.dumps(dict(view.memo))), arrived=deepcopy(view.arrived))
        assert kind.plan(fields, again) == intent


def test_no_step_writes_a_key_that_is_not_its_own_to_write(step: tuple[Any, Any]) -> None:
    for _, intent in play(*step):
        for write in getattr(intent, "writes", ()):
            assert write.provenance == "tool" or not write.key.startswith(markers.RESERVED_PREFIXES)
            assert write.call_id is None or write.value is None
