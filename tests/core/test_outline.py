"""The tree of a workflow, and where a run stands in it."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli import plugins
from toolgate_cli.core import canonical
from toolgate_cli.core.cursor import GATE, INSIDE, Frame
from toolgate_cli.core.definition import Definition
from toolgate_cli.core.outline import MOST, Node, Way, outline
from toolgate_cli.core.progress import Finished, plain, progress

STEPS = [
    {"id": "ask", "type": "input", "form": "who", "writes": ["name"], "title": "Ask"},
    {"id": "route", "type": "branch", "on": "who.kind", "arms": {"": "fail", "a": "left", "b": "right", "*": "left"}},
    {"id": "again", "type": "block", "block": "pair", "repeat": {"until": "count", "max": 3}, "gate": "review"},
    {"id": "end", "type": "fail", "reason": "no ${name}"},
]
BLOCKS = {
    "left": [{"id": "say", "type": "assign", "set": {"x": 1}}],
    "right": [{"id": "say", "type": "assign", "set": {"x": 2}}, {"id": "pay", "type": "tool", "tool": "ledger.pay"}],
    "pair": [{"id": "one", "type": "assign", "set": {"x": 1}}, {"id": "two", "type": "assign", "set": {"y": 2}}],
}
IF = [{"key": "k", "at": "/x", "eq": "v"}, {"key": "m", "exists": True}]
FORMS = {"who": [{"id": "kind", "type": "TEXT"}]}


def definition(steps: Any = STEPS, blocks: Any = BLOCKS) -> Definition:
    flow = {"id": "w", "title": None, "inputs": {}, "steps": steps, "blocks": blocks, "forms": FORMS}
    return Definition(canonical.encode({"root": "w", "workflows": {"w": flow}}))


def tree(*given: Any) -> tuple[Node, ...]:
    return outline(definition(*given), lambda kind: plugins.step_kind(kind).Fields)


def test_a_step_says_what_its_fields_name() -> None:
    ask, route, again, end = tree()
    assert (ask.kind, ask.title, ask.says, ask.items) == ("input", "Ask", (("form", "who"), ("writes", "name")), (FORMS["who"][0],))
    assert route.says == (("on", "who.kind"),) and end.says == (("reason", "no ${name}"),)
    assert (again.gate, again.says) == ("review", (("repeat", "max 3, until count"),))
    assert [(way.label, way.target, way.steps and [step.id for step in way.steps]) for way in (*route.ways, *again.ways)] == [
        ("", "fail", None),
        ("*", "left", ["say"]),
        ("a", "left", ["say"]),
        ("b", "right", ["say", "pay"]),
        (None, "pair", ["one", "two"]),
    ]


def test_a_bound_that_is_not_written_is_told() -> None:
    each = {"id": "again", "type": "block", "block": "pair", "repeat": {"until": "each", "each": "k"}}
    [told] = tree([each])
    assert told.says == (("repeat", "each k, max 10000, until each"),)
    [told] = tree([{**each, "repeat": {**each["repeat"], "max": 2}}])  # type: ignore[dict-item]  # it is one
    assert told.says == (("repeat", "each k, max 2, until each"),)


def test_a_kind_that_is_gone_and_a_key_that_it_does_not_know_are_told() -> None:
    [gone, odd] = tree([{"id": "a", "type": "count", "of": "x"}, {"id": "b", "type": "fail", "reason": "r", "if": IF, "odd": 1}], {})
    assert gone == Node("a", "count", None, "none", (("of", '"x"'),), (), ())
    assert odd.says == (("reason", "r"), ("if", 'k#/x eq "v" and m exists true'), ("odd", "1"))


def test_blocks_that_double_at_every_level_are_drawn_up_to_a_bound() -> None:
    def two(target: str) -> list[Any]:
        return [{"id": f"s{number}", "type": "block", "block": target} for number in (1, 2)]

    drawn = plain(tree(two("b0"), {f"b{n}": two(f"b{n + 1}") for n in range(30)} | {"b30": [{"id": "x", "type": "fail", "reason": "r"}]}))
    assert MOST // 2 < len([line for line in drawn if isinstance(line.what, Node)]) <= MOST + 2 * 32
    assert any(isinstance(line.what, Way) and line.what.steps is None for line in drawn)


def states(cursor: Any, finished: Any, status: Any = "RUNNING") -> str:
    """Each step, and each arm, with the first letter of its state."""
    found = progress(tree(), cursor, {path: Finished(arm) for path, arm in finished.items()}, status)
    words = (f"{line.what.id if isinstance(line.what, Node) else '>' + str(line.what.label)}:{line.state[0]}" for line in found)
    return " ".join(word for word in words if not word.startswith(">None"))


BEFORE = {"ask": None}
LATER = "again:t one:t two:t end:t"
PAIR = {"again/one": None, "again/two": None}
RIGHT = {"ask": None, "route/say": None, "route/pay": None, "route": "b"}
PASSED = "ask:d route:d >:s >*:s say:s >a:s say:s >b:d say:d pay:d"


@pytest.mark.parametrize(
    ("cursor", "finished", "status", "shown"),
    [
        ((Frame("", 0),), {}, "AWAITING_INPUT", f"ask:h route:t >:t >*:t say:t >a:t say:t >b:t say:t pay:t {LATER}"),
        (
            (Frame("", 1, 0, INSIDE, {"arm": "b"}), Frame("right", 1)),
            BEFORE | {"route/say": None},
            "RUNNING",
            f"ask:d route:h >:s >*:s say:s >a:s say:s >b:h say:d pay:h {LATER}",
        ),
        (
            (Frame("", 1, 0, INSIDE, {"arm": "a"}), Frame("left", 0)),
            BEFORE,
            "FAILED",
            "ask:d route:f >:s >*:s say:s >a:f say:f >b:s say:s pay:s again:n one:n two:n end:n",
        ),
        ((Frame("", 2, 0, INSIDE, {}), Frame("pair", 0, 2)), RIGHT | PAIR, "RUNNING", f"{PASSED} again:h one:h two:t end:t"),
        ((Frame("", 2, 0, GATE),), RIGHT | PAIR | {"again": None}, "AWAITING_REVIEW", f"{PASSED} again:h one:d two:d end:t"),
        ((Frame("", 4),), BEFORE, "COMPLETED", "ask:d route:s >:s >*:s say:s >a:s say:s >b:s say:s pay:s again:s one:s two:s end:s"),
        ((Frame("", 1),), BEFORE, "CANCELLED", "ask:d route:s >:n >*:n say:n >a:n say:n >b:n say:n pay:n again:n one:n two:n end:n"),
    ],
    ids=["at the first", "in an arm", "failed in an arm", "in a second iteration", "at a gate", "over", "cancelled"],
)  # fmt: skip
def test_a_run_stands_in_the_tree(cursor: Any, finished: Any, status: Any, shown: str) -> None:
    assert states(cursor, finished, status) == shown


def test_a_step_that_was_passed_over_is_no_finished_one() -> None:
    [first, *_] = progress(tree(), (Frame("", 1),), {"ask": Finished(skipped=True)}, "RUNNING")
    assert first.state == "skipped"


# ---- what runs inside, what is chosen by conditions, what is run again ----
MORE = [
    {
        "id": "pick",
        "type": "branch",
        "cases": [{"to": "left", "when": [{"key": "k", "gt": 1}]}, {"to": "right", "when": IF}, {"to": "end"}],
    },
    {"id": "sub", "type": "workflow", "workflow": "inner", "outputs": {"x": "y"}},
    {"id": "again", "type": "retry_previous", "step": "pick", "mode": "from", "fallback": "left"},
    {"id": "gone", "type": "workflow", "workflow": "nothing"},
]
INNER = [{"id": "on", "type": "block", "block": "left"}]


def larger() -> tuple[Node, ...]:
    flows = {
        "w": {"id": "w", "title": None, "inputs": {}, "steps": MORE, "blocks": BLOCKS, "forms": FORMS},
        "inner": {"id": "inner", "title": None, "inputs": {}, "steps": INNER, "blocks": {"left": BLOCKS["pair"]}, "forms": {}},
    }
    found = Definition(canonical.encode({"root": "w", "workflows": flows}))
    return outline(found, lambda kind: plugins.step_kind(kind).Fields)


def test_cases_workflows_inside_and_fallbacks_are_drawn() -> None:
    pick, sub, again, gone = larger()
    assert [(way.label, way.target) for way in pick.ways] == [
        ("case 1 if k gt 1", "left"),
        ('case 2 if k#/x eq "v" and m exists true', "right"),
        ("case 3", "end"),
    ]
    [inside] = sub.ways
    assert (inside.label, inside.target) == (None, "inner") and [node.id for node in inside.steps or ()] == ["on"]
    assert [node.id for node in (inside.steps or ())[0].ways[0].steps or ()] == ["one", "two"]  # a block of that workflow, not of this one
    assert sub.says == (("outputs", "x"),) and again.says == (("step", "pick"),)
    assert [(way.label, way.target) for way in again.ways] == [("fallback", "left")] and gone.ways == (Way(None, "nothing", None),)


def more_states(cursor: Any, finished: Any) -> str:
    found = progress(larger(), cursor, finished, "RUNNING")
    return " ".join(f"{line.what.id}:{line.state[0]}" for line in found if isinstance(line.what, Node))


DONE = Finished()


@pytest.mark.parametrize(
    ("cursor", "finished", "shown"),
    [
        (
            (Frame("", 0, 0, INSIDE, {"case": 1}), Frame("right", 1)),
            {"pick/say": DONE},
            "pick:h say:s say:d pay:h sub:t on:t one:t two:t again:t say:t gone:t",
        ),
        (
            (Frame("", 1, 0, INSIDE), Frame("", 0, 0, INSIDE, workflow="inner"), Frame("left", 1)),
            {"pick": Finished(0), "pick/say": DONE, "sub/on/one": DONE},
            "pick:d say:d say:s pay:s sub:h on:h one:d two:h again:t say:t gone:t",
        ),
        (
            (Frame("", 2, 0, INSIDE), Frame("", 0, 0, INSIDE, {"case": 0}, stop=2), Frame("left", 0)),
            {"pick": Finished(1), "sub": DONE, "sub/on": DONE, "sub/on/one": DONE, "sub/on/two": DONE},
            "pick:h say:h say:s pay:s sub:d on:d one:d two:d again:h say:t gone:t",
        ),
        (
            (Frame("", 2, 0, INSIDE), Frame("left", 0)),
            {"pick": Finished(2), "sub": DONE},
            "pick:d say:s say:s pay:s sub:d on:s one:s two:s again:h say:h gone:t",
        ),
    ],
    ids=["in a case", "in a workflow inside", "in a replay", "in a fallback"],
)
def test_a_run_stands_in_what_is_inside(cursor: Any, finished: Any, shown: str) -> None:
    assert more_states(cursor, finished) == shown


def test_a_loop_says_its_iteration() -> None:
    found = progress(tree(), (Frame("", 2, 0, INSIDE, {}), Frame("pair", 0, 2)), {}, "RUNNING")
    here = [(line.what.id, line.iteration) for line in found if isinstance(line.what, Node) and line.state == "here"]
    assert here == [("again", 2), ("one", 0)]
