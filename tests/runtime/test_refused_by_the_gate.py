"""What a person said stays on record where the gate did not let the call through, and the policy judges what will really run (I4, I5)."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .fakes import COMPLETE, FAILED, OK, call
from .kit import Home, payload

ENDINGS: dict[str, tuple[str, str | None, str, str]] = {  # what changed -> the decision event, refusal, its kind, the row that is left
    "disabled": ("DECISION_REFUSED", None, "disabled", "EXECUTION_FAILED"),
    "gone": ("DECISION_REFUSED", None, "unknown_tool", "EXECUTION_FAILED"),
    "invalid now": ("DECISION_REFUSED", None, "INVALID_TYPE", "EXECUTION_FAILED"),
    "permission": ("DECISION_REFUSED", None, "auth_denied", "EXECUTION_FAILED"),
    "limit": ("DECISION_REFUSED", None, "limit_exceeded", "EXECUTION_FAILED"),
    "denied now": ("DECISION_REFUSED", "policy_denied", "policy_denied", "POLICY_DENIED"),
    "changed": ("TOOL_INVOCATION_SUPERSEDED", "superseded", "", "APPROVAL_REQUIRED"),
}
TIGHT = '{ type = "object", properties = { text = { type = "number" } } }'


def change(home: Home, what: str) -> None:
    if what == "limit":
        return home.write(texts.operator(head=texts.HEAD.replace("calls_per_run = 200", "calls_per_run = 1")))
    tools = {
        "disabled": texts.tool("ask.send", more="enabled = false"),
        "gone": "",
        "invalid now": texts.tool("ask.send", schema=TIGHT),
        "permission": texts.tool("ask.send", more='permission = "mail:send"'),
        "changed": texts.tool("ask.send", about="new"),
    }
    rules = {"no": texts.rule("ask.*", "deny", 'reason = "stopped"')} if what == "denied now" else {}
    other = {"ask.other": texts.tool("ask.other")}  # else an agent's pattern would be of nothing
    return home.write(texts.operator({**other, "ask.send": tools[what]} if what in tools else {}, rules))


@pytest.mark.parametrize("what", ENDINGS)
def test_an_approval_that_the_gate_does_not_let_through_is_on_record_with_its_reason(home: Home, what: str) -> None:
    type, refusal, kind, origin = ENDINGS[what]
    home.write(both=texts.flow("both", texts.uses("a", "free.send"), texts.uses("b", "ask.send")))
    run = home.start("both")
    change(home, what)
    found = None
    try:
        home.decide("approve", run, actor="bob", reason="it is agreed")
    except ToolgateError as error:
        found = error.kind
    assert found == refusal and home.tools.names() == ["free.send"] and home.row(run).origin == origin
    [event] = home.events(run, type)
    assert event.actor == "bob" and payload(event)["reason"] == "it is agreed" and payload(event)["os_user"] == "os-bob"
    assert payload(event).get("kind", "") == kind and "TOOL_INVOCATION_APPROVED" not in home.types(run)
    assert event.seq + 1 == home.row(run).parked_by  # said, and then parked again


def test_an_approval_that_is_let_through_is_one_event_with_its_reason(home: Home) -> None:
    run = home.start("ask")
    home.decide("approve", run, actor="bob", reason="it is agreed")
    assert payload(home.events(run, "TOOL_INVOCATION_APPROVED")[0])["reason"] == "it is agreed"
    assert "DECISION_REFUSED" not in home.types(run)


# ---- how a retry ends that starts nothing ----
def test_a_retry_that_parks_for_approval_is_superseded(home: Home) -> None:
    home.tools.plan["free.send"] = [FAILED]
    run = home.start("free")
    home.write(texts.operator({"free.send": texts.tool("free.send", about="new")}, {"free": texts.rule("free.*", "require_approval")}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run)
    assert caught.value.kind == "superseded" and home.row(run).origin == "APPROVAL_REQUIRED" and len(home.tools.starts) == 1


def test_a_retry_of_what_never_passed_the_policy_is_superseded_where_that_asks(home: Home) -> None:
    change(home, "permission")
    run = home.start("ask")
    home.write(texts.operator())
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run)
    assert caught.value.kind == "superseded" and home.row(run).origin == "APPROVAL_REQUIRED" and home.tools.starts == []


@pytest.mark.parametrize("changed", [False, True])
def test_a_retry_of_an_approval_that_expired_asks_again_and_is_no_refusal(home: Home, changed: bool) -> None:
    run = home.start("late")
    home.clock.pass_time(3601)
    if changed:
        home.write(texts.operator({"late.send": texts.tool("late.send", about="new")}))
    answer = home.decide("retry", run)
    assert answer.effect == "retried" and [waiting.row.origin for waiting in answer.pending] == ["APPROVAL_REQUIRED"]
    assert answer.fault is None and not answer.pending[0].expired and home.tools.starts == []


# ---- defaults of the schema ----
AMOUNT = """{ type = "object", properties = {
  text = { type = "string" }, amount = { type = "integer", default = 1000 },
  to = { type = "object", properties = { limit = { type = "integer", default = 1000 } } } } }""".replace("\n", " ")
NESTED = AMOUNT.replace("to = { type", "to = { default = {}, type")
DEEPER = AMOUNT.replace("to = { type", "to = { default = { limit = 3 }, type")
# schema, pointer, arguments, whether they are denied
ASKED: list[tuple[str, str, dict[str, object], bool]] = [
    (AMOUNT, "/amount", {}, True),
    (AMOUNT, "/amount", {"amount": 500}, False),
    (AMOUNT, "/amount", {"amount": 501}, True),
    (AMOUNT, "/to/limit", {}, False),  # nothing is there that could hold it
    (AMOUNT, "/to/limit", {"to": {}}, True),
    (AMOUNT, "/to/limit", {"to": {"limit": 500}}, False),
    (NESTED, "/to/limit", {}, True),
    (DEEPER, "/to/limit", {}, False),
]


@pytest.mark.parametrize(("schema", "at", "arguments", "denied"), ASKED)
def test_the_policy_sees_the_defaults_of_the_schema_and_nobody_else_does(
    home: Home, schema: str, at: str, arguments: dict[str, object], denied: bool
) -> None:
    over = texts.rule("free.*", "deny", f'when = [{{ arg = "{at}", gt = 500 }}]')
    home.write(texts.operator({"free.send": texts.tool("free.send", schema=schema)}, {"over": over.replace("free-all", "over")}))
    home.models.turns["s"] = [[call("free.send", **arguments)], [COMPLETE]]  # type: ignore[arg-type]  # JSON
    run = home.start("talk")
    calls = [event.call_id or "" for event in home.events(run, "TOOL_INVOCATION_REQUESTED")]
    with home.store.read() as tx:
        stored = tx.call(calls[0])[0].arguments
    assert "1000" not in stored and [row.origin for row in home.rows(run)] == (["POLICY_DENIED"] if denied else [])
    assert [started.arguments for started in home.tools.starts] == ([] if denied else [stored])


def test_a_default_makes_an_allow_rule_ask_too(home: Home) -> None:
    small = texts.rule("free.*", "allow", 'when = [{ arg = "/amount", lt = 500 }]')
    home.write(texts.operator({"free.send": texts.tool("free.send", schema=AMOUNT)}, {"free": small}))
    run = home.start("free")
    assert home.row(run).origin == "APPROVAL_REQUIRED" and home.tools.starts == []
    home.decide("approve", run)
    assert [started.arguments for started in home.tools.starts] == ['{"text":"hi"}']


# ---- files at the last moment ----
def keeping_its_times(home: Home, name: str, old: str, new: str) -> Callable[[], None]:
    """An edit in place after which the file has its size and its time of change again."""
    path = home.folder / name
    assert len(old) == len(new)

    def edit() -> None:
        if home.types()[-1] != "TOOL_INVOCATION_STARTED":
            return
        home.watch.committed = None
        was = path.stat()
        with path.open("r+") as file:
            text = file.read().replace(old, new)
            file.seek(0)
            file.write(text)
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
        now = path.stat()
        assert (now.st_size, now.st_mtime_ns, now.st_ino) == (was.st_size, was.st_mtime_ns, was.st_ino)

    return edit


def pinned(home: Home, attempts: int = 1) -> str:
    (home.folder / "rates.csv").write_text("eur,1\n")
    return texts.tool("free.send", "unsafe", attempts).replace('argv = ["true"]', 'argv = ["true"]\npin = ["rates.csv"]')


@pytest.mark.parametrize("file", ["rates.csv", "toolgate.toml"])
def test_a_file_that_is_edited_between_the_record_and_the_start_keeps_the_tool_from_being_called(home: Home, file: str) -> None:
    home.write(texts.operator({"free.send": pinned(home)}))
    old, new = ("eur,1", "eur,9") if file == "rates.csv" else ('argv = ["true"]', 'argv = ["TRUE"]')
    home.watch.committed = keeping_its_times(home, file, old, new)
    run = home.start("free")
    assert home.tools.starts == [] and home.types(run).count("TOOL_INVOCATION_STARTED") == 1
    row = home.row(run)
    assert (row.origin, row.doubt) == ("EXECUTION_FAILED", None)
    told = payload(home.events(run, "TOOL_INVOCATION_FAILED")[0])
    assert (told["dispatched"], told["effect_applied"]) == ("no", "no") and "changed between" in str(told["message"])


def test_the_next_attempt_is_judged_with_the_file_as_it_is_then(home: Home) -> None:
    home.write(texts.operator({"free.send": pinned(home, 3)}))
    home.watch.committed = keeping_its_times(home, "rates.csv", "eur,1", "eur,9")
    run = home.start("free")
    first, second = home.events(run, "TOOL_INVOCATION_STARTED")
    assert first.call_digest != second.call_digest and len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED"


def test_an_approved_call_whose_file_was_edited_waits_for_another_approval(home: Home) -> None:
    home.write(texts.operator({"ask.send": pinned(home, 3).replace("free.send", "ask.send")}))
    run = home.start("ask")
    home.watch.committed = keeping_its_times(home, "rates.csv", "eur,1", "eur,9")
    home.decide("approve", run)
    assert home.tools.starts == [] and home.row(run).origin == "APPROVAL_REQUIRED"
    home.tools.plan["ask.send"] = [OK]
    home.decide("approve", run)
    assert len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED"


def test_a_file_that_is_read_again_unchanged_keeps_nothing_from_running(home: Home) -> None:
    home.write(texts.operator({"free.send": pinned(home)}))
    home.watch.committed = lambda: (home.folder / "rates.csv").read_text()  # type: ignore[assignment, return-value]  # looked at
    assert home.run(home.start("free")).status == "COMPLETED" and len(home.tools.starts) == 1


def test_a_file_edited_in_place_while_a_person_thinks_is_shown_again(home: Home) -> None:
    home.write(texts.operator({"ask.send": pinned(home).replace("free.send", "ask.send")}))
    run = home.start("ask")
    desk, target = home.seen(run)
    desk.tools()  # read before
    path = home.folder / "rates.csv"
    was = path.stat()
    path.write_text("eur,9\n")
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    with pytest.raises(ToolgateError) as caught:
        desk.approve(target)
    assert caught.value.kind == "superseded" and home.tools.starts == []


@pytest.mark.parametrize("again", [False, True], ids=["the first question", "a later one"])
def test_a_file_of_the_command_that_appears_while_a_person_thinks_is_shown_before_it_runs(home: Home, again: bool) -> None:
    tool = texts.tool("ask.send").replace('argv = ["true"]', 'argv = ["true", "pay.py", "also here"]')
    home.write(texts.operator({"ask.send": tool}))
    run = home.start("ask")
    desk, target = home.seen(run)
    if again:  # what was pinned for another question of the same session does not count any more either
        with pytest.raises(EOFError):
            desk.approve(target, ask=_nobody_answers)
        (home.folder / "pay.py").write_text("print('mine')\n")

    def appears(_: object) -> None:
        (home.folder / ("also here" if again else "pay.py")).write_text("print('mine')\n")

    with pytest.raises(ToolgateError) as caught:
        desk.approve(target, ask=appears)
    assert caught.value.kind == "superseded" and home.tools.starts == []


def _nobody_answers(_: object) -> None:
    raise EOFError
