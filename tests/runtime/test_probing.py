"""Read-only commands that the gate asks about a call: outside every transaction, afresh for every pass, and never a start."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core import canonical
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.types import Json

from . import texts
from .fakes import FAILED, LOST, Started, call
from .kit import Home, payload

NO = ToolResult("answered", ok=False, code=1, message="only 2 are left")
YES = ToolResult("answered", ok=True, code=0)
PRECHECK = '[tools."{name}".precheck]\nargv = ["true", "--check", "${{args.text}}"]\n'
TENANT = 'tenant_of = { command = ["true", "--whose", "${args.text}"] }\n'
CONTEXT = '[context]\ntenant = { issuer = "iam", id = "acme" }\n'


def says(value: Json) -> ToolResult:
    text = canonical.encode(value)
    return ToolResult("answered", ok=True, code=0, output=text, size=len(text))


def checked(home: Home, *names: str, more: str = "", **tools: str) -> None:
    """These tools have a precheck."""
    made = {name: texts.tool(name, more=PRECHECK.format(name=name)) for name in names}
    home.write(texts.operator({**made, **tools}, more=more))


def asked(home: Home, name: str = "precheck") -> int:
    return sum(1 for probe, _ in home.tools.asked if probe == name)


def test_a_refused_call_is_failed_before_a_person_is_asked(home: Home) -> None:
    checked(home, "ask.send")
    home.tools.answers["precheck"] = [NO]
    run = home.start("ask")
    row = home.row(run)
    assert (row.origin, row.starts, row.cleared, row.doubt) == ("EXECUTION_FAILED", 0, "none", None)
    [failed] = home.events(run, "TOOL_INVOCATION_FAILED")
    told = payload(failed)
    assert (told["phase"], told["code"]) == ("PRECHECK", "precheck_refused") and "only 2 are left" in str(told["message"])
    assert home.tools.starts == [] and "TOOL_INVOCATION_APPROVAL_PENDING" not in home.types(run)


def test_it_is_asked_before_a_person_is_and_again_before_the_start(home: Home) -> None:
    checked(home, "ask.send")
    run = home.start("ask")
    assert home.row(run).origin == "APPROVAL_REQUIRED" and asked(home) == 1
    home.decide("approve", run)
    assert asked(home) == 2 and home.tools.names() == ["ask.send"] and home.run(run).status == "COMPLETED"
    assert len(home.events(run, "TOOL_INVOCATION_STARTED")) == 1 and home.run(run).started == 1
    probed = [started for _, started in home.tools.asked]
    [tool] = home.tools.starts
    assert {(one.call, one.key, one.arguments) for one in probed} == {(tool.call, tool.key, tool.arguments)}
    assert all(one.limits.asks for one in probed) and not tool.limits.asks


def test_one_that_changes_the_home_is_not_asked_for_ever(home: Home) -> None:
    checked(home, "ask.send")

    def changes(_started: Started) -> ToolResult:
        file = home.folder / "toolgate.toml"
        file.write_text(file.read_text() + "# once more\n")
        return YES

    home.tools.answers["precheck"] = [changes] * 9
    run = home.start("ask")
    assert asked(home) == 3 and home.tools.starts == [] and home.rows(run) == []
    home.tools.answers["precheck"] = [YES]
    home.processes[-1].end()
    home.desk().continue_run(run)
    assert home.row(run).origin == "APPROVAL_REQUIRED" and asked(home) == 4


def test_a_refusal_after_the_approval_uses_it_up_and_starts_nothing(home: Home) -> None:
    checked(home, "ask.send")
    home.tools.answers["precheck"] = [YES, NO]
    run = home.start("ask")
    home.decide("approve", run)
    row = home.row(run)
    assert (row.origin, row.starts, home.tools.starts) == ("EXECUTION_FAILED", 0, [])
    [refused] = home.events(run, "DECISION_REFUSED")
    assert payload(refused)["verb"] == "approve" and payload(refused)["kind"] == "precheck_refused"
    home.decide("retry", run)
    assert home.tools.names() == ["ask.send"] and home.run(run).status == "COMPLETED"


@pytest.mark.parametrize(
    "answer", [LOST, ToolResult("not_dispatched", message="gone"), ToolResult("answered", ok=True, survivors=("9 x",))]
)
def test_a_precheck_without_an_answer_is_a_refusal(home: Home, answer: ToolResult) -> None:
    checked(home, "free.send")
    home.tools.answers["precheck"] = [answer]
    run = home.start("free")
    assert home.row(run).origin == "EXECUTION_FAILED" and home.tools.starts == []
    assert payload(home.events(run, "TOOL_INVOCATION_FAILED")[0])["code"] == "precheck_unavailable"


def test_a_precheck_that_breaks_the_provider_is_a_refusal(home: Home) -> None:
    def breaks(_started: Any) -> ToolResult:
        raise RuntimeError("of the provider")

    checked(home, "free.send")
    home.tools.answers["precheck"] = [breaks]
    run = home.start("free")
    assert home.row(run).origin == "EXECUTION_FAILED" and home.tools.starts == []


def test_a_denied_call_is_not_asked_about(home: Home) -> None:
    checked(home, "deny.send")
    run = home.start("deny")
    assert home.row(run).origin == "POLICY_DENIED" and home.tools.asked == []


def test_arguments_that_do_not_validate_are_not_asked_about(home: Home) -> None:
    schema = '{ type = "object", properties = { text = { type = "integer" } } }'
    tool = texts.tool("free.send", schema=schema, more=TENANT + PRECHECK.format(name="free.send"))
    home.write(texts.operator({"free.send": tool}, more=CONTEXT))
    run = home.start("free")
    assert payload(home.events(run, "TOOL_INVOCATION_FAILED")[0])["phase"] == "VALIDATE" and home.tools.asked == []


def test_every_attempt_is_asked_about_anew(home: Home) -> None:
    home.write(texts.operator({"idem.put": texts.tool("idem.put", "idempotent", 3, more=PRECHECK.format(name="idem.put"))}))
    home.tools.plan["idem.put"] = [FAILED, FAILED]
    home.tools.answers["precheck"] = [YES, YES, NO]
    run = home.start("idem")
    assert len(home.tools.starts) == 2 and asked(home) == 3
    assert home.row(run).starts == 2 and payload(home.events(run, "TOOL_INVOCATION_FAILED")[-1])["phase"] == "PRECHECK"


def test_nothing_of_a_batch_starts_before_all_of_it_was_asked_about(home: Home) -> None:
    checked(home, "free.send", "ask.send")
    home.models.turns["s"] = [[call("free.send", text="1"), call("ask.send", text="2"), call("free.send", text="3")], []]
    order: list[str] = []
    home.tools.answers["precheck"] = [lambda started: order.append(started.arguments) or YES] * 9  # type: ignore[func-returns-value]  # None
    home.tools.plan["free.send"] = [lambda started: order.append("start") or YES] * 9  # type: ignore[func-returns-value]  # None
    run = home.start("talk")
    assert order[:4] == ['{"text":"1"}', '{"text":"2"}', '{"text":"3"}', "start"]
    assert home.row(run).origin == "APPROVAL_REQUIRED" and home.tools.names() == ["free.send", "free.send"]
    assert order[4:] == ['{"text":"3"}', "start"]  # once more before its own start


def test_a_call_is_on_record_before_anything_is_asked_about_it(home: Home) -> None:
    def dies(started: Any) -> ToolResult:
        result: ToolResult = started.process.die()
        return result

    checked(home, "free.send")
    home.tools.answers["precheck"] = [dies]
    home.killed(lambda: home.start("free"))
    [event] = home.events(type="TOOL_INVOCATION_REQUESTED")
    assert event.run_id is not None and home.tools.starts == []
    home.desk().continue_run(event.run_id)
    assert home.run(event.run_id).status == "COMPLETED" and home.tools.names() == ["free.send"] and asked(home) == 2


def test_an_answer_counts_no_more_once_a_person_was_asked(home: Home) -> None:
    checked(home, "ask.send")
    run = home.start("ask")
    home.tools.answers["precheck"] = [YES, NO]
    desk = home.desk()
    desk.approve(desk.select([run], "approve"), ask=lambda _waiting: None)
    assert home.tools.starts == [] and home.row(run).origin == "EXECUTION_FAILED"


def test_an_answer_about_other_files_counts_for_nothing(home: Home) -> None:
    checked(home, "free.send")

    def changes(_started: Any) -> ToolResult:
        checked(home, "free.send", more="# changed\n")
        return YES

    home.tools.answers["precheck"] = [changes, NO]
    run = home.start("free")
    assert asked(home) == 2 and home.tools.starts == [] and home.row(run).origin == "EXECUTION_FAILED"


def test_nothing_is_asked_under_a_file_that_was_just_changed(home: Home) -> None:
    checked(home, "free.send")
    home.models.turns["s"] = [[call("free.send", text="1"), call("free.send", text="2")], []]

    def changes(_started: Any) -> ToolResult:
        checked(home, "free.send", more="# changed\n")
        return YES

    home.tools.answers["precheck"] = [changes]
    home.start("talk")
    assert [canonical.parse(started.arguments)["text"] for _, started in home.tools.asked] == ["1", "1", "2", "2"]  # type: ignore[index, call-overload]


def test_only_what_is_on_record_is_asked_about(home: Home) -> None:
    """The second turn needs a tool that was not used yet, beside one that is ready to be asked about."""
    checked(home, "free.send", "ask.send")
    home.models.turns["s"] = [[call("free.send", text="1")], [call("free.send", text="2"), call("ask.send", text="3")], []]
    run = home.start("talk")
    assert home.row(run).origin == "APPROVAL_REQUIRED"
    requested = home.events(run, "TOOL_INVOCATION_REQUESTED")
    with home.store.read() as tx:
        stored = {tx.call(event.call_id)[0] for event in requested}
    assert {(started.call, started.key) for _, started in home.tools.asked} == {(call.id, call.idempotency_key) for call in stored}


def test_an_edited_call_is_asked_about_under_the_key_that_it_starts_with(home: Home) -> None:
    checked(home, "ask.send")
    run = home.start("ask")
    home.decide("approve", run, arguments={"text": "other"})
    [tool] = home.tools.starts
    last = home.tools.asked[-1][1]
    assert (tool.key, tool.arguments) == (last.key, last.arguments) and tool.key != home.tools.asked[0][1].key


def test_an_edit_that_the_precheck_refuses_leaves_the_row_as_it_was(home: Home) -> None:
    checked(home, "ask.send")
    run = home.start("ask")
    before = home.row(run)
    home.tools.answers["precheck"] = [NO]
    with pytest.raises(ToolgateError, match="only 2 are left"):
        home.decide("approve", run, arguments={"text": "other"})
    assert home.row(run) == before and home.tools.starts == []


@pytest.mark.parametrize("probe", ["precheck", "tenant_of"])
def test_behind_the_deadline_of_the_run_nothing_is_asked(home: Home, probe: str) -> None:
    tool = texts.tool("ask.send", more=TENANT if probe == "tenant_of" else PRECHECK.format(name="ask.send"))
    home.write(texts.operator({"ask.send": tool}, more=CONTEXT + 'deadline = "10s"\n'))
    home.tools.answers[probe] = [NO]
    run = home.start("ask")
    assert (home.row(run).origin, home.row(run).cleared, asked(home, probe)) == ("EXECUTION_FAILED", "none", 1)
    home.clock.pass_time(20)
    home.decide("retry", run)
    told = payload(home.events(run, "TOOL_INVOCATION_DENIED")[-1])
    assert (told["code"], asked(home, probe)) == ("limit_exceeded", 1) and home.row(run).origin == "EXECUTION_FAILED"


def test_a_deadline_that_passes_before_a_probe_could_be_asked_is_what_refuses(home: Home) -> None:
    tool = texts.tool("ask.send", more=TENANT + PRECHECK.format(name="ask.send"))
    home.write(texts.operator({"ask.send": tool}, more=CONTEXT + 'deadline = "10s"\n'))

    def slow(_started: Any) -> ToolResult:
        home.clock.pass_time(20)
        return says("acme")

    home.tools.answers["tenant_of"] = [slow]
    run = home.start("ask")
    assert payload(home.events(run, "TOOL_INVOCATION_DENIED")[-1])["code"] == "limit_exceeded" and asked(home) == 0


def test_of_two_calls_the_second_is_not_asked_about_behind_the_deadline(home: Home) -> None:
    checked(home, "free.send", more='[context]\ndeadline = "10s"\n')
    home.models.turns["s"] = [[call("free.send", text="1"), call("free.send", text="2")], []]

    def slow(_started: Any) -> ToolResult:
        home.clock.pass_time(20)
        return YES

    home.tools.answers["precheck"] = [slow]
    run = home.start("talk")
    assert asked(home) == 1 and home.tools.starts == []
    assert {payload(event)["code"] for event in home.events(run, "TOOL_INVOCATION_DENIED")} == {"limit_exceeded"}


def test_beyond_the_calls_that_a_run_may_make_nothing_is_asked(home: Home) -> None:
    tool = texts.tool("free.send", more=PRECHECK.format(name="free.send"))
    home.write(texts.operator({"free.send": tool}, head=texts.HEAD.replace("calls_per_run = 200", "calls_per_run = 1")))
    home.models.turns["s"] = [[call("free.send", text="1")], [call("free.send", text="2")], []]
    run = home.start("talk")
    told = payload(home.events(run, "TOOL_INVOCATION_DENIED")[-1])
    assert told["code"] == "limit_exceeded" and home.tools.names() == ["free.send"]
    assert [started.arguments for _, started in home.tools.asked] == [home.tools.starts[0].arguments] * asked(home)


def test_of_what_a_probe_says_no_value_of_a_secret_is_kept(home: Home) -> None:
    checked(home, "free.send", more='[secrets]\nTOKEN = { file = "token" }\n')
    (home.folder / "token").write_text("sesame-open\n")
    home.tools.answers["precheck"] = [NO._replace(message="no account sesame-open", output="sesame-open")]
    run = home.start("free")
    assert home.row(run).reason == "the precheck refused: no account ***TOKEN***" and "sesame" not in str(home.dump())


# ---- whose the resource is ----
WHOSE = [
    (says("acme"), None),
    (says({"issuer": "iam", "id": "acme"}), None),
    (says({"issuer": "other", "id": "acme"}), "tenant_mismatch"),
    (says("evil"), "tenant_mismatch"),
    (says(None), "tenant_unknown"),
    (says(7), "tenant_unknown"),
    (LOST, "tenant_unknown"),
    (FAILED, "tenant_unknown"),
]


@pytest.mark.parametrize(("answer", "refusal"), WHOSE)
def test_a_command_says_whose_the_resource_is_and_what_it_does_not_say_is_refused(
    home: Home, answer: ToolResult, refusal: str | None
) -> None:
    home.write(texts.operator({"free.send": texts.tool("free.send", more=TENANT)}, more=CONTEXT))
    home.tools.answers["tenant_of"] = [answer]
    run = home.start("free")
    if refusal is None:
        assert home.run(run).status == "COMPLETED" and home.tools.names() == ["free.send"]
        return
    [denied] = home.events(run, "TOOL_INVOCATION_DENIED")
    told = payload(denied)
    assert told["code"] == "auth_denied" and refusal in str(told["reason"]) and "evil" not in str(told["reason"])
    assert home.tools.starts == [] and home.row(run).origin == "EXECUTION_FAILED"


def test_whose_it_is_is_asked_before_the_precheck_and_both_count_in_one_pass(home: Home) -> None:
    tool = texts.tool("free.send", more=TENANT + PRECHECK.format(name="free.send"))
    home.write(texts.operator({"free.send": tool}, more=CONTEXT))
    home.tools.answers["tenant_of"] = [says("acme")] * 9
    run = home.start("free")
    assert [name for name, _ in home.tools.asked] == ["tenant_of", "precheck"] and home.run(run).status == "COMPLETED"


def test_without_a_tenant_of_ones_own_nobody_is_asked(home: Home) -> None:
    home.write(texts.operator({"free.send": texts.tool("free.send", more=TENANT)}, more="[context]\n"))
    run = home.start("free")
    assert home.tools.asked == [] and payload(home.events(run, "TOOL_INVOCATION_DENIED")[0])["code"] == "auth_denied"
