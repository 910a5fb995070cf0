"""What a server says of its tools: it only ever raises the risk."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core import effects, offered
from toolgate_cli.core.types import Effect, Json, Safety

SAFETIES: tuple[Safety, ...] = ("read_only", "write", "destructive")
EFFECTS: tuple[Effect, ...] = ("read_only", "idempotent", "unsafe")


@pytest.mark.parametrize(
    ("said", "hints", "counts"),
    [
        (("read_only", "read_only"), {}, ("read_only", "read_only")),
        (("read_only", "read_only"), {"readOnlyHint": True, "destructiveHint": False}, ("read_only", "read_only")),
        (("read_only", "read_only"), {"readOnlyHint": False}, ("write", "unsafe")),
        (("read_only", "read_only"), {"readOnlyHint": False, "idempotentHint": True}, ("write", "idempotent")),
        (("read_only", "read_only"), {"destructiveHint": True}, ("destructive", "unsafe")),
        (("read_only", "read_only"), {"readOnlyHint": True, "destructiveHint": True}, ("destructive", "unsafe")),
        (("write", "idempotent"), {"destructiveHint": True}, ("destructive", "unsafe")),
        (("write", "idempotent"), {"readOnlyHint": False, "idempotentHint": False}, ("write", "unsafe")),
        (("write", "idempotent"), {"readOnlyHint": True, "idempotentHint": False}, ("write", "idempotent")),
        (("destructive", "unsafe"), {"readOnlyHint": True, "idempotentHint": True, "destructiveHint": False}, ("destructive", "unsafe")),
        (("write", "idempotent"), {"destructiveHint": "yes", "readOnlyHint": 0}, ("write", "idempotent")),
        (("write", "idempotent"), "destructive", ("write", "idempotent")),
    ],
    ids=str,
)
def test_hints_raise_the_risk(said: tuple[Safety, Effect], hints: Json, counts: tuple[Safety, Effect]) -> None:
    assert offered.raised(*said, hints) == counts


@given(st.dictionaries(st.sampled_from(["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]), st.booleans()))
def test_and_never_lower_it(hints: dict[str, Json]) -> None:
    for safety, effect in product(SAFETIES, EFFECTS):
        more, again = offered.raised(safety, effect, hints)
        assert SAFETIES.index(more) >= SAFETIES.index(safety) and effects.stricter(again, effect) == again
        assert more == "read_only" or again != "read_only" or effect == "read_only" != safety, "what writes may not be repeated as a read"


def test_a_definition_is_its_parts_in_any_order_and_nothing_else() -> None:
    one = {"name": "a", "inputSchema": {"type": "object", "x": 1}, "title": None, "_meta": {"now": 1}, "icons": []}
    other = {"inputSchema": {"x": 1, "type": "object"}, "name": "a"}
    [first], [second] = offered.listed([one]), offered.listed([other])
    assert first.digest == second.digest == offered.digest(first.definition) and first.fault is None
    [third] = offered.listed([{**other, "annotations": {"readOnlyHint": True}}])
    assert third.digest != first.digest
