"""A person is asked once nothing refuses what they said, with nothing of it done; what is refused is refused without a question (I5)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import Json
from toolgate_cli.runtime.answers import Waiting

from . import texts
from .edits import asked
from .fakes import FAILED, LOST
from .kit import Home
from .watch import changed

TWO = texts.rule("ask.*", "require_approval", 'approver_scope = "desk"\napprovals = 2')


class No(Exception):
    """What was asked was not answered with yes."""


def no(_: Waiting) -> None:
    raise No


def never(_: Waiting) -> None:
    raise AssertionError("somebody was asked")


def stuck(home: Home, result: object) -> str:
    home.tools.plan["ask.send"] = [result]  # type: ignore[list-item]  # a result
    run = home.start("ask")
    home.decide("approve", run)
    return run


def two_votes(home: Home) -> str:
    run = asked(home, ask=TWO)
    home.decide("approve", run, actor="bob")
    return run


def changed_tool(home: Home) -> str:
    run = home.start("ask")
    home.write(texts.operator().replace('description = "ask.send"', 'description = "new"'))
    return run


REFUSED: list[tuple[str, Callable[[Home], str], str, dict[str, Json], str, str]] = [
    ("approve", lambda home: stuck(home, LOST), "bob", {}, "wrong_state", ""),
    ("approve", lambda home: stuck(home, FAILED), "bob", {}, "wrong_state", ""),
    ("approve", two_votes, "bob", {}, "wrong_state", "DECISION_REFUSED"),
    ("approve", two_votes, "mallory", {}, "scope", "DECISION_REFUSED"),
    ("reject", two_votes, "mallory", {}, "scope", "DECISION_REFUSED"),
    ("approve", lambda home: asked(home, "sep"), "ann", {}, "self_approval", "DECISION_REFUSED"),
    ("retry", lambda home: stuck(home, LOST), "bob", {}, "unknown_outcome", "DECISION_REFUSED"),
    ("retry", lambda home: home.start("ask"), "bob", {}, "wrong_state", ""),
    ("continue_tool", lambda home: home.start("ask"), "bob", {}, "wrong_state", ""),
    ("continue_tool", lambda home: stuck(home, FAILED), "bob", {"outcome": {"applied": True}}, "wrong_state", ""),
    ("continue_tool", lambda home: stuck(home, LOST), "bob", {"outcome": {"applied": 1}}, "invalid", ""),
    ("approve", lambda home: home.start("deny"), "bob", {}, "policy_denied", "TOOL_INVOCATION_OVERRIDE_REJECTED"),
    ("approve", asked, "bob", {"arguments": {"text": 7}}, "invalid", ""),
    ("approve", asked, "bob", {"arguments": {"text": "evil"}}, "policy_denied", "DECISION_REFUSED"),
]


@pytest.mark.parametrize(("verb", "begin", "actor", "said", "kind", "event"), REFUSED)
def test_what_is_refused_is_refused_without_a_question(
    home: Home, verb: str, begin: Callable[[Home], str], actor: str, said: dict[str, Json], kind: str, event: str
) -> None:
    run = begin(home)
    desk, target = home.seen(run, actor)
    before, starts = home.dump(), len(home.tools.starts)
    with pytest.raises(ToolgateError) as caught:
        getattr(desk, verb)(target, ask=never, **said)
    assert caught.value.kind == kind and len(home.tools.starts) == starts
    assert set(changed(before, home.dump())) - {"checked"} == ({"events"} if event else set())
    assert not event or home.types(run)[-1] == event


def test_what_came_too_late_is_told_so_without_a_question(home: Home) -> None:
    run = home.start("gone")
    desk, target = home.seen(run, "bob")
    home.clock.pass_time(3601)
    with pytest.raises(ToolgateError) as caught:
        desk.approve(target, ask=never)
    assert caught.value.kind == "expired" and home.tools.starts == [] and home.run(run).status == "COMPLETED"


@pytest.mark.parametrize("verb", ["approve_step", "reject_step", "review"])
def test_a_step_that_waits_for_something_else_is_refused_without_a_question(home: Home, verb: str) -> None:
    run = home.start("form")
    desk = home.desk()
    target = desk.select_step(run, None, "answer")
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        getattr(desk, verb)(target, ask=never, **({"note": ""} if verb == "review" else {}))
    assert caught.value.kind == "wrong_state" and home.dump() == before


ASKED: list[tuple[str, Callable[[Home], str], dict[str, Json]]] = [
    ("approve", lambda home: home.start("ask"), {}),
    ("approve", changed_tool, {}),
    ("approve", asked, {"arguments": {"text": "ho"}}),
    ("approve", asked, {"arguments": {"text": "sep"}}),
    ("reject", lambda home: home.start("ask"), {"reason": "no"}),
    ("retry", lambda home: stuck(home, FAILED), {}),
    ("retry", lambda home: stuck(home, LOST), {"may_run_twice": True}),
    ("continue_tool", lambda home: stuck(home, LOST), {"outcome": {"applied": True}}),
]


@pytest.mark.parametrize(("verb", "begin", "said"), ASKED)
def test_who_is_asked_and_does_not_agree_has_changed_nothing(
    home: Home, verb: str, begin: Callable[[Home], str], said: dict[str, Json]
) -> None:
    run = begin(home)
    desk, target = home.seen(run, "bob")
    before, starts = home.dump(), len(home.tools.starts)
    seen: list[Waiting] = []

    def ask(shown: Waiting) -> None:
        home.watch.outside("a person thinks")
        seen.append(shown)
        raise No

    with pytest.raises(No):
        getattr(desk, verb)(target, ask=ask, **said)
    assert set(changed(before, home.dump())) <= {"checked"} and len(home.tools.starts) == starts and home.desk().verify().ok
    [shown] = seen
    assert shown.ref == target.ref and shown.to_be_edited == ("arguments" in said)


def test_a_gate_whose_question_is_answered_with_no_still_waits(home: Home) -> None:
    run = home.start("gate")
    desk = home.desk()
    target = desk.select_step(run, "s", "approve")
    before = home.dump()
    with pytest.raises(No):
        desk.approve_step(target, ask=no)
    assert home.dump() == before
    desk.approve_step(target, ask=lambda _: None)
    assert home.run(run).status == "COMPLETED"


def test_an_edit_is_asked_about_as_it_would_be(home: Home) -> None:
    titled = {"ask.send": texts.tool("ask.send", more='title = "send ${args.text}"')}
    home.write(texts.operator(titled))
    run = home.start("ask", text="hi")
    desk, target = home.seen(run, "bob")
    seen: list[Waiting] = []
    desk.approve(target, arguments={"text": "ho"}, ask=seen.append)
    [shown] = seen
    assert shown.call is not None and shown.before is not None
    assert (shown.call.title, shown.call.arguments, shown.call.requested_by) == ("send ho", '{"text":"ho"}', "bob")
    assert (shown.before.title, shown.row, shown.ref) == ("send hi", target.row, target.ref)


def test_what_changed_while_somebody_was_asked_is_decided_as_it_is_then(home: Home) -> None:
    run = home.start("ask")
    desk, target = home.seen(run, "bob")

    def meanwhile(_: Waiting) -> None:
        home.decide("reject", run, actor="carol")

    with pytest.raises(ToolgateError) as caught:
        desk.approve(target, ask=meanwhile)
    assert caught.value.kind == "claim_lost" and home.tools.starts == []
    run = home.start("ask")
    desk, target = home.seen(run, "bob")
    with pytest.raises(ToolgateError) as caught:
        desk.approve(target, ask=lambda _: home.write(texts.operator(None, {"ask": texts.rule("ask.*", "deny")})))
    assert caught.value.kind == "policy_denied" and home.tools.starts == []
