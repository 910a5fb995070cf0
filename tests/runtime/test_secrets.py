"""I12: what holds the value of a secret is refused before it is stored, whoever says it; what a tool says of one is not kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from toolgate_cli.core import spellings
from toolgate_cli.core.errors import Choice, ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.turns import Completion
from toolgate_cli.runtime.desk import Desk

from . import texts
from .fakes import COMPLETE, FAILED, LOST, OK, Started, call
from .kit import Home, payload

VALUE = 'sesame "open"'
HIDDEN = VALUE.replace('"', '\\"').replace("s", "\\u0073")  # in JSON
AHEAD = '[secrets]\nTOKEN = { file = "token" }\n'


@pytest.fixture(autouse=True)
def secret(home: Home) -> None:
    home.write(texts.operator(more=AHEAD))
    (home.folder / "token").write_text(VALUE + "\n")


def clean(home: Home) -> bool:
    """Whether nothing that is stored holds it, however it is spelled there."""
    stored = json.dumps(home.dump())
    return not any(part in stored for part in ("sesame", json.dumps("sesame")[1:-1], "\\u0073"))


def refused(act: Callable[[], object]) -> ToolgateError:
    with pytest.raises(ToolgateError) as caught:
        act()
    assert caught.value.kind == "invalid" and "the secret TOKEN" in caught.value.message, caught.value.message
    assert "sesame" not in caught.value.message + caught.value.hint
    return caught.value


# ---- what people give ----
SAYING: dict[str, tuple[str, Callable[[Desk, str], object]]] = {
    "approve": ("ask", lambda desk, run: desk.approve(desk.select([run], "approve"), reason=VALUE)),
    "an edit": ("ask", lambda desk, run: desk.approve(desk.select([run], "approve"), arguments={"n": [VALUE]})),
    "reject": ("ask", lambda desk, run: desk.reject(desk.select([run], "reject"), reason=f"no: {VALUE}")),
    "retry": ("failed", lambda desk, run: desk.retry(desk.select([run], "retry"), reason=VALUE)),
    "continue-tool": ("failed", lambda desk, run: desk.continue_tool(desk.select([run], "continue-tool"), reason=VALUE)),
    "an outcome": (
        "doubtful",
        lambda desk, run: desk.continue_tool(desk.select([run], "continue-tool"), outcome={"applied": True, "result": [{"k": VALUE}]}),
    ),
    "approve --step": ("gate", lambda desk, run: desk.approve_step(desk.select_step(run, "s", "approve"), reason=VALUE)),
    "reject --step": ("gate", lambda desk, run: desk.reject_step(desk.select_step(run, "s", "reject"), reason=VALUE)),
    "review": ("review", lambda desk, run: desk.review(desk.select_step(run, "s", "review"), note=VALUE)),
    "an answer": ("form", lambda desk, run: desk.answer(desk.select_step(run, None, "answer"), {"street": VALUE}, {})),
    "an answer of a file": ("form", lambda desk, run: desk.answer(desk.select_step(run, None, "answer"), {}, {"street": [VALUE]})),
    "cancel": ("ask", lambda desk, run: desk.cancel(run, VALUE)),
    "retry --step": ("fails", lambda desk, run: desk.retry_step(run, "s", VALUE)),
}


def begun(home: Home, state: str) -> str:
    if state in ("failed", "doubtful"):
        home.tools.plan["free.send"] = [FAILED if state == "failed" else LOST]
        return home.start("free")
    return home.start(state)


@pytest.mark.parametrize("saying", SAYING)
def test_what_a_person_says_is_refused_before_it_is_stored(home: Home, saying: str) -> None:
    state, act = SAYING[saying]
    run = begun(home, state)
    before, starts = home.dump(), len(home.tools.starts)
    desk = home.desk()
    refused(lambda: act(desk, run))
    assert home.dump() == before and len(home.tools.starts) == starts


@pytest.mark.parametrize(
    ("given", "typed"),
    [({"text": VALUE}, {}), ({}, {"text": VALUE}), ({"text": {"deep": [VALUE]}}, {}), ({VALUE: 1}, {}), ({}, {f"x{VALUE}": "1"})],
)
def test_an_input_is_refused_before_there_is_a_run(home: Home, given: Any, typed: Any) -> None:
    home.write(ask=texts.FLOWS["ask"])
    refused(lambda: home.desk().start("ask", given, typed))
    assert home.events() == []


def test_an_actor_is_refused(home: Home) -> None:
    run = home.start("ask")
    desk = home.desk(VALUE)
    refused(lambda: desk.approve(desk.select([run], "approve")))
    refused(lambda: home.desk(VALUE).cancel(run, None))
    assert clean(home)


def test_a_workflow_is_refused_before_it_is_pinned(home: Home) -> None:
    home.write(literal=texts.flow("literal", texts.step("s", "tool", tool="free.send", arguments={"text": VALUE})))
    refused(lambda: home.desk().start("literal", {}, {}))
    assert home.events() == [] and clean(home)


def test_a_cancel_needs_no_files_and_then_knows_no_secrets(home: Home) -> None:
    run = home.start("ask")
    home.write("broken [")
    assert home.desk().cancel(run, "enough").run.run.status == "CANCELLED"


# ---- what models say ----
TURNS: dict[str, Any] = {
    "arguments": [call("ask.send", text=VALUE), COMPLETE],
    "arguments as text": [{**call("ask.send"), "arguments": json.dumps({"text": VALUE})}],
    "a rationale": [{**call("ask.send"), "rationale": VALUE}],
    "a label": [{**call("ask.send"), "id": VALUE}],
    "a capability": [call(f"x {VALUE}")],
    "a context value": [{"type": "set_context", "values": {"a": {VALUE: 1}}}],
    "a question": [{"type": "ask", "question": VALUE}],
    "an escalation": [{"type": "escalate", "reason": VALUE}],
    "an output": [{"type": "complete", "output": VALUE}],
    "no command": [{"type": VALUE}],
    "no list": VALUE,
    "arguments that hide it": [{**call("ask.send"), "arguments": f'{{"text": "{HIDDEN}"}}', "rationale": "why not"}],
    "a raw answer": Completion(text=f"I found {VALUE}"),
    "a raw answer that hides it": Completion(text=f'[{{"type": "say", "message": "{HIDDEN}"}}]'),
}


@pytest.mark.parametrize("said", TURNS.values(), ids=TURNS.keys())
def test_a_turn_is_refused_whole(home: Home, said: Any) -> None:
    home.models.turns["s"] = [said]
    run = home.start("talk")
    error = home.run(run).error or ""
    assert home.run(run).status == "FAILED" and "the model's turn holds the value of the secret TOKEN" in error
    assert clean(home) and home.tools.starts == [] and "LLM_CALL_COMPLETED" not in home.types(run)


def test_what_an_adapter_says_beside_a_turn_is_scrubbed(home: Home) -> None:
    home.models.turns["s"] = [Completion(fault=f"withheld: {VALUE}", answered_by=VALUE)]
    run = home.start("talk")
    assert "withheld: ***TOKEN***" in (home.run(run).error or "") and clean(home)
    [told] = map(payload, home.events(run, "LLM_CALL_COMPLETED"))
    assert told["answered_by"] == "***TOKEN***"


def test_arguments_that_hide_a_long_one_are_refused_when_they_are_read(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spellings, "MOST", 0)  # every value is longer than what is searched for in any mixture
    home.models.turns["s"] = [[{**call("ask.send"), "arguments": f'{{"text": "{HIDDEN}"}}', "rationale": "why not"}]]
    run = home.start("talk")
    row = home.row(run)
    with home.store.read() as tx:
        [stored, _] = tx.call(row.id)
    assert (stored.arguments, stored.rationale, row.origin) == (None, None, "EXECUTION_FAILED")
    told = payload(home.events(run, "TOOL_INVOCATION_FAILED")[0])
    assert (told["phase"], told["code"]) == ("RECEIVE", "SECRET") and "TOKEN" in (row.reason or "")
    assert "sesame" not in json.dumps(home.dump())


def test_a_raw_turn_that_hides_a_long_one_is_refused_whole(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spellings, "MOST", 0)
    test_a_turn_is_refused_whole(home, TURNS["a raw answer that hides it"])


def test_a_key_that_is_named_in_a_refusal_is_not_told(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spellings, "MOST", 0)
    home.models.turns["s"] = [[{**call("ask.send"), "arguments": f'{{"{HIDDEN}": 1, "{HIDDEN}": 2}}'}]]
    row = home.row(home.start("talk"))
    assert "SECRET at '': the value of the secret TOKEN" in (row.reason or "") and "sesame" not in json.dumps(home.dump())


def test_what_an_adapter_says_of_its_failure_is_scrubbed(home: Home) -> None:
    def fails(_: object) -> Completion:
        raise ToolgateError("failed", f"401 at https://model/?key={VALUE}")

    home.models.turns["s"] = [fails]
    run = home.start("talk")
    assert "?key=***TOKEN***" in (home.run(run).error or "") and clean(home)


# ---- what steps put together ----
PARTS = {"a": VALUE[:6], "b": VALUE[6:]}


def joined(home: Home, step: dict[str, Any]) -> str:
    home.write(joins=texts.flow("joins", step, more='[inputs.a]\ntype = "string"\n[inputs.b]\ntype = "string"\n'))
    return home.desk().start("joins", PARTS, {}).run.run.id


def test_a_value_that_arguments_put_together_is_refused_when_it_comes_in(home: Home) -> None:
    run = joined(home, texts.step("s", "tool", tool="free.send", arguments={"text": "${inputs.a}${inputs.b}"}))
    row = home.row(run)
    told = payload(home.events(run, "TOOL_INVOCATION_FAILED")[0])
    assert (told["phase"], told["code"], home.tools.starts) == ("RECEIVE", "SECRET", [])
    with home.store.read() as tx:
        assert tx.call(row.id)[0].arguments is None
    assert VALUE not in str(home.dump()) and json.dumps(VALUE)[1:-1] not in str(home.dump())


def test_a_value_that_an_assignment_puts_together_fails_its_step(home: Home) -> None:
    run = joined(home, texts.step("s", "assign", set={"whole": "${inputs.a}${inputs.b}"}))
    assert home.run(run).status == "FAILED" and "what is written to whole holds the value of the secret TOKEN" in (
        home.run(run).error or ""
    )


def test_a_value_that_a_reason_puts_together_is_not_told(home: Home) -> None:
    run = joined(home, texts.step("s", "fail", reason="since ${inputs.a}${inputs.b}"))
    assert home.run(run).status == "FAILED" and "the step holds the value of the secret TOKEN" in (home.run(run).error or "")


def test_a_title_that_puts_it_together_is_left_out(home: Home) -> None:
    home.write(texts.operator({"ask.send": texts.tool("ask.send", more='title = "sesame ${args.text}"')}, more=AHEAD))
    home.write(ask=texts.FLOWS["ask"])
    row = home.desk().start("ask", {"text": '"open"'}, {}).pending[0].row.id
    with home.store.read() as tx:
        assert tx.call(row)[0].title is None


# ---- what tools say ----
ENDS = {
    "a result": ToolResult("answered", ok=True, code=0, output=json.dumps({"k": VALUE}), size=9),
    "a result that hides it": ToolResult("answered", ok=True, code=0, output=f'{{"{HIDDEN}": ["{HIDDEN}"]}}', size=9),
    "a text": ToolResult("answered", ok=True, code=0, output=f"token: {VALUE}!", size=9),
    "a failure": ToolResult("answered", ok=False, code=1, output=VALUE, message=f"401: {VALUE}"),
    "a business failure": ToolResult("answered", ok=False, code=3, message=VALUE),
    "a permanent failure": ToolResult("answered", ok=False, code=64, message=VALUE),
    "no end": ToolResult("uncertain", output=VALUE, message=f"timed out: {VALUE[:-1]}", survivors=(f"pid 1 ({VALUE})",)),
    "no start": ToolResult("not_dispatched", message=f"could not be started: {VALUE}"),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_of_what_a_tool_says_no_value_is_kept(home: Home, end: ToolResult) -> None:
    home.tools.plan["free.send"] = [end]
    run = home.start("free")
    assert len(home.tools.starts) == 1 and clean(home) and "***TOKEN***" in str(home.dump())
    assert home.run(run).status in ("COMPLETED", "AWAITING_TOOL_DECISION")


def test_of_what_a_provider_raises_no_value_is_kept(home: Home) -> None:
    def raises(_: Started) -> ToolResult:
        raise ToolgateError("failed", f"no route to https://x/?key={VALUE}")

    home.tools.plan["free.send"] = [raises]
    home.start("free")
    assert clean(home) and "***TOKEN***" in str(home.dump())


def test_of_a_result_that_comes_too_late_no_value_is_kept(home: Home) -> None:
    def cancelled(_: Started) -> ToolResult:
        home.desk("bob").cancel(home.events()[-1].run_id or "", None)
        return ENDS["a failure"]

    home.tools.plan["free.send"] = [cancelled]
    run = home.start("free")
    assert "TOOL_INVOCATION_LATE_RESULT" in home.types(run) and clean(home)


def test_a_provider_is_handed_the_values_and_nobody_else(home: Home) -> None:
    seen: list[str] = []

    def look(started: Started) -> ToolResult:
        seen.append(started.limits.secrets.value("TOKEN"))
        return OK

    home.tools.plan["ask.send"] = [look]
    run = home.start("ask")
    home.decide("approve", run)
    assert seen == [VALUE] and clean(home)


# ---- what changes meanwhile ----
def test_a_secret_that_changes_before_the_start_keeps_the_tool_from_being_called(home: Home) -> None:
    run = home.start("ask")
    desk = home.desk()
    target = desk.select([run], "approve")
    desk._load()  # what is known of the files is from before
    (home.folder / "token").write_text("another-value")
    desk.approve(target)
    assert home.tools.starts[0].limits.secrets.value("TOKEN") == "another-value"


def test_a_secret_without_a_value_parks_the_call_and_says_which(home: Home) -> None:
    more = '[tools."needs.it"]\nsafety = "write"\ninput_schema = "any-object"\n[tools."needs.it".command]\nargv = ["true"]\n'
    home.write(texts.operator(rules={"needs": texts.rule("needs.*", "allow")}, more=AHEAD + more + 'env = { T = "${secret.TOKEN}" }\n'))
    home.write(needs=texts.flow("needs", texts.uses("s", "needs.it")))
    (home.folder / "token").unlink()
    run = home.start("needs")
    told = payload(home.events(run, "TOOL_INVOCATION_FAILED")[0])
    assert (told["phase"], told["code"]) == ("RESOLVE", "secret") and "${secret.TOKEN}" in str(told["message"])
    assert home.tools.starts == [] and "TOOL_INVOCATION_STARTED" not in home.types(run)
    (home.folder / "token").write_text(VALUE)
    home.decide("retry", run)
    assert home.tools.names() == ["needs.it"] and home.run(run).status == "COMPLETED"


def test_an_approved_call_that_was_kept_from_starting_is_asked_for_again_and_one_that_failed_is_not(home: Home) -> None:
    more = '[tools."needs.it"]\ninput_schema = "any-object"\n[tools."needs.it".command]\nargv = ["true"]\nenv = { T = "${secret.TOKEN}" }\n'
    home.write(texts.operator(rules={"needs": texts.rule("needs.*", "require_approval")}, more=AHEAD + more))
    home.write(needs=texts.flow("needs", texts.uses("s", "needs.it")))
    run = home.start("needs")
    (home.folder / "token").unlink()
    home.decide("approve", run)
    (home.folder / "token").write_text(VALUE)
    with pytest.raises(ToolgateError, match="waits for approval"):
        home.decide("retry", run)
    assert home.tools.starts == [] and home.rows(run)[0].origin == "APPROVAL_REQUIRED"
    home.tools.plan["needs.it"] = [FAILED, OK]
    home.decide("approve", run)
    home.decide("retry", run)
    assert home.tools.names() == ["needs.it", "needs.it"] and home.run(run).status == "COMPLETED"


# ---- what is told of an error ----
def test_an_error_that_quotes_it_is_scrubbed_at_the_door(home: Home) -> None:
    each, choice = (f"one {VALUE}", f"not {VALUE}"), Choice("toolgate approve c1", f"for {VALUE}")
    error = ToolgateError("not_found", f"no call {VALUE}", f"did you mean {VALUE}", each=(each,), choices=[choice])
    home.desk().without_secrets(error)
    assert (error.message, error.hint) == ("no call ***TOKEN***", "did you mean ***TOKEN***")
    assert error.each == (("one ***TOKEN***", "not ***TOKEN***"),) and error.choices[0].about == "for ***TOKEN***"
