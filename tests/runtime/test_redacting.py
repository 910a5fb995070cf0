"""A redaction leaves nothing of what a call held, neither in the store nor in its files, and a log that verifies and says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolgate_cli.core import canonical, chain
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.quoting import Quotes
from toolgate_cli.core.results import ToolResult
from toolgate_cli.runtime.answers import Redaction

from . import texts
from .fakes import COMPLETE, FAILED, LOST, Started, call
from .kit import Home, dies, payload

ASKED = "the-account-of-marie"  # what goes into the call
TOLD = 'a "secret" of the bank'  # what comes out of it
ANSWER = ToolResult("answered", ok=True, code=0, output=json.dumps({"id": 7, "said": TOLD}), size=40)


def redact(home: Home, id: str, reason: str = "she asked for it", actor: str = "ann") -> Redaction:
    desk = home.desk(actor)
    return desk.redact(desk.redactable(id), reason)


def holding(home: Home, *words: str) -> list[str]:
    """The tables, and the files, in which one of the words stands in some spelling."""
    spelled = {
        spelling for word in words for spelling in (word, canonical.encode(word)[1:-1], canonical.encode(canonical.encode(word))[2:-2])
    }
    found = [name for name, table in home.dump().items() if any(word in text.replace("\\\\", "\\") for text in table for word in spelled)]
    if home.kind == "sqlite":
        files = [file for file in (home.folder / ".toolgate").iterdir() if file.is_file()]
        found += [file.name for file in files if any(word.encode() in file.read_bytes() for word in spelled)]
    return found


def settled(home: Home, flow: str = "ask", **how: Any) -> tuple[str, str]:
    """A run of one call that was approved; the run and the call."""
    home.tools.plan["ask.send"] = [ANSWER]
    run = home.start(flow, **how)
    id = home.row(run).id
    home.decide("approve", run)
    return run, id


def verified(home: Home) -> bool:
    return home.desk().verify().ok


def test_a_list_that_a_loop_copied_is_named_and_the_items_go(home: Home) -> None:
    home.tools.plan["ask.send"] = [ToolResult("answered", ok=True, code=0, output=json.dumps([TOLD, TOLD + "!"]), size=40)]
    loop = texts.step("all", "block", block="one", repeat={"until": "each", "each": "tool.ask.send", "item": "one"})
    body = texts.step("note", "assign", set={"copy": "${one}"})
    home.write(lists=texts.flow("lists", texts.uses("s", "ask.send"), loop, blocks={"one": [body]}))
    run = home.start("lists")
    id = home.row(run).id
    home.decide("approve", run)
    erased = redact(home, id)
    assert [still for still in erased.still if still.startswith("list ")] and "context" not in holding(home, TOLD)


def test_copies_in_a_workflow_inside_go_too(home: Home) -> None:
    home.tools.plan["ask.send"] = [ToolResult("answered", ok=False, code=3, output=json.dumps(TOLD), size=40, message=TOLD)]
    home.write(inside=texts.flow("inside", texts.uses("s", "ask.send"), texts.step("n", "assign", set={"copy": "${tool.ask.send.error}"})))
    home.write(outside=texts.flow("outside", texts.step("in", "workflow", workflow="inside", outputs={"out": "copy"})))
    run = home.start("outside")
    id = home.row(run).id
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and "context" in holding(home, TOLD)
    redact(home, id)
    assert "context" not in holding(home, TOLD) and verified(home)


# ---- what goes ----
def test_a_settled_call_loses_all_its_text_in_every_table_and_file(home: Home) -> None:
    run, id = settled(home, text=ASKED)
    assert "outcomes" in holding(home, TOLD) and "calls" in holding(home, ASKED)
    before = home.events(run)
    erased = redact(home, id)
    assert holding(home, TOLD) == [] and verified(home)
    assert set(holding(home, ASKED)) <= {"context", "toolgate.db"}  # it was an input of the run, and stays that
    assert erased.still == ("context inputs.text",) and erased.fault is None and erased.revisions == 1
    of_call = tuple(event.seq for event in before if event.call_id == id)
    assert erased.events == of_call and erased.steps == 1
    for event in home.events(run):
        assert (event.payload is None) == (event.seq in of_call) == (event.salt is None)
        assert chain.intact(event)


def test_the_log_says_who_erased_what_and_why_and_nothing_of_it(home: Home) -> None:
    run, id = settled(home)
    erased = redact(home, id, "she asked for it", actor="ann")
    [event] = home.events(run, "REDACTED")
    told = payload(event)
    assert (event.actor, event.call_id, event.capability, event.step_id) == ("ann", id, "ask.send", "s")
    assert told["reason"] == "she asked for it" and told["events"] == list(erased.events) and told["steps"] == ["s"] and "os_user" in told
    assert erased.head == f"{event.seq}:{event.hash}"


def test_who_decided_stays_on_record_and_why_does_not(home: Home) -> None:
    run = home.start("ask", text=ASKED)
    id = home.row(run).id
    home.decide("approve", run, actor="bob", reason=f"{ASKED} is a friend")
    [approved] = home.events(run, "TOOL_INVOCATION_APPROVED")
    was = payload(approved)
    erased = redact(home, id, actor="ann")
    assert approved.seq in erased.events and "a friend" not in canonical.encode([event.payload for event in home.events(run)])
    [decision] = payload(home.events(run, "REDACTED")[0])["decisions"]  # type: ignore[misc]  # a list of objects
    assert decision == {"seq": approved.seq, **{name: was[name] for name in was if name not in ("reason", "run")}}
    assert {"os_user", "uid", "host", "version", "origin", "may_run_twice"} <= set(decision)  # type: ignore[arg-type]
    assert home.events(run)[approved.seq - 1].actor == "bob" and verified(home)


def test_a_second_redaction_finds_nothing_and_writes_nothing(home: Home) -> None:
    _, id = settled(home)
    assert not redact(home, id).nothing
    before = home.dump()
    again = redact(home, id[:10])
    assert again.nothing and again.call_id == id and home.dump() == before


def test_what_came_in_after_a_redaction_is_erased_by_the_next(home: Home) -> None:
    home.tools.plan["free.send"] = [late(home)]
    run = home.start("free")
    id = home.events(run, "TOOL_INVOCATION_STARTED")[0].call_id or ""
    [event] = home.events(run, "TOOL_INVOCATION_LATE_RESULT")
    assert len(home.events(run, "REDACTED")) == 1 and event.payload is not None and verified(home)
    assert redact(home, id).events == (event.seq,) and verified(home)
    assert [len(payload(event)["events"]) for event in home.events(run, "REDACTED")][-1] == 1  # type: ignore[arg-type]


def late(home: Home) -> Any:
    """A call that is cancelled, settled and redacted while its tool still runs."""

    def tool(started: Started) -> ToolResult:
        run = home.events(type="RUN_STARTED")[0].run_id or ""
        home.desk().cancel(run, None)
        with home.store.write() as tx:
            [attempt] = tx.attempts(run)
            tx.finish(attempt)
        redact(home, started.call)
        return ANSWER

    return tool


def test_every_revision_is_erased(home: Home) -> None:
    _, id = settled(home)
    with home.store.write() as tx:
        newest = tx.call(id)[0]
        tx.add([newest._replace(revision=2, arguments=f'{{"text":"{ASKED}"}}', rationale=ASKED, label=ASKED)])
    assert redact(home, id).revisions == 2
    with home.store.read() as tx:
        for revision in (1, 2):
            stored = tx.call(id, revision)[0]
            assert (stored.arguments, stored.title, stored.rationale, stored.label) == (None,) * 4
            assert stored.arguments_digest and stored.capability == "ask.send"
    assert holding(home, ASKED) == []


def test_copies_of_its_result_go_with_it_and_what_only_looks_alike_stays(home: Home) -> None:
    flow = texts.flow(
        "copies",
        texts.uses("s", "ask.send"),
        texts.step("a", "assign", set={"copy": "${tool.ask.send}", "part": "it is ${tool.ask.send#/said}!", "id": "${tool.ask.send#/id}"}),
        texts.step("b", "tool", tool="free.send", arguments={"text": "${tool.ask.send#/said}"}),
        texts.step("f", "fail", reason="the bank said ${tool.ask.send#/said}"),
    )
    home.write(copies=flow)
    run, id = settled(home, "copies", text=ASKED)
    other = home.events(run, "TOOL_INVOCATION_STARTED")[-1].call_id or ""
    assert home.run(run).status == "FAILED" and TOLD in (home.run(run).error or "").replace("\\", "")
    erased = redact(home, id)
    assert (erased.context, erased.error) == (2, True) and verified(home)
    assert erased.still == ("context inputs.text", f"call {other}")
    assert set(holding(home, TOLD)) <= {"calls", "toolgate.db"}  # the other call has it on its own account
    assert home.value(run, "id") == 7
    error = canonical.parse(home.run(run).error or "")
    assert isinstance(error, dict) and error["message"] == "redacted" and error["step"] == "f"
    assert {event.type for event in home.events(run) if event.payload is None} >= {"STEP_FAILED", "RUN_FAILED"}
    redact(home, other)
    assert holding(home, TOLD) == [] and verified(home)


NOTE = "approved after a phone call with the treasurer"
SAID_OF_A_DECISION = {"origin": "STEP_APPROVAL", "a part of the note": "treasurer", "the note": NOTE}


@pytest.mark.parametrize("told", SAID_OF_A_DECISION.values(), ids=SAID_OF_A_DECISION.keys())
def test_no_result_takes_the_record_of_a_decision_with_it(home: Home, told: str) -> None:
    approved = texts.step("g", "assign", set={"a": "1"}, gate="approval")
    reviewed = texts.step("r", "assign", set={"b": "2"}, gate="review")
    home.write(decided=texts.flow("decided", texts.uses("s", "free.send"), approved, reviewed))
    home.tools.plan["free.send"] = [ToolResult("answered", ok=True, code=0, output=json.dumps(told), size=40)]
    run = home.start("decided")
    id = home.events(run, "TOOL_INVOCATION_STARTED")[0].call_id or ""
    desk = home.desk("ann")
    desk.approve_step(desk.select_step(run, "g", "approve"), reason=NOTE)
    desk.cancel(run, f"{NOTE}, again")
    before = {event.seq: event.payload for event in home.events(run) if event.call_id is None}
    erased = redact(home, id)
    assert {event.seq: event.payload for event in home.events(run) if event.seq in before} == before and verified(home)
    of_decisions = [event.seq for event in home.events(run) if event.seq in before and told in (event.payload or "")]
    assert of_decisions and set(erased.still) >= {f"event {seq}" for seq in of_decisions}


def test_no_name_of_the_definition_is_a_copy_of_a_result(home: Home) -> None:
    arm = texts.step("b", "branch", on="inputs.text", arms={"to-the-end": "end", "*": "end"})
    for told in ("to-the-end", "tool.free.send", "support_id"):
        failing = texts.step("f", "fail", reason="no more")
        home.write(names=texts.flow("names", texts.uses("s", "free.send"), failing if told == "support_id" else arm))
        home.tools.plan["free.send"] = [ToolResult("answered", ok=True, code=0, output=json.dumps(told), size=40)]
        run = home.start("names", text="to-the-end")
        id = home.events(run, "TOOL_INVOCATION_STARTED")[0].call_id or ""
        erased = redact(home, id)
        assert not erased.error and all(event.payload is not None for event in home.events(run) if event.call_id is None)


def test_what_a_result_only_repeats_of_what_was_asked_is_no_copy_of_it(home: Home) -> None:
    mine = texts.step("a", "assign", set={"mine": "${inputs.text}"})
    home.write(echo=texts.flow("echo", mine, texts.uses("s", "ask.send")))
    home.tools.plan["ask.send"] = [ToolResult("answered", ok=True, code=0, output=json.dumps({"for": ASKED, "said": TOLD}), size=40)]
    run = home.start("echo", text=ASKED)
    id = home.row(run).id
    home.decide("approve", run)
    erased = redact(home, id)
    assert home.value(run, "mine") == ASKED and erased.context == 0
    assert erased.still == ("context inputs.text", "context mine") and holding(home, TOLD) == []


def test_an_input_was_there_before_and_stays_and_an_answer_that_quotes_the_result_goes(home: Home) -> None:
    call = texts.step("s", "tool", tool="ask.send", arguments={"n": 1})
    home.write(quoted=texts.flow("quoted", call, texts.step("f", "input", form="ship"), more=texts.FORM))
    home.tools.plan["ask.send"] = [ANSWER]
    run = home.start("quoted", text=TOLD)
    id = home.row(run).id
    home.decide("approve", run)
    home.answer(run, {"street": f"{TOLD} street"}, {})
    erased = redact(home, id)
    assert home.value(run, "inputs.text") == TOLD and erased.still == ("context inputs.text",)
    with pytest.raises(KeyError):
        home.value(run, "ship.street")
    assert set(holding(home, TOLD)) <= {"context", "toolgate.db"} and verified(home)


def test_turns_with_the_call_are_erased_and_the_conversation_goes_on(home: Home) -> None:
    home.tools.plan["ask.send"] = [ANSWER]
    say = {"type": "say", "message": f"I pay {ASKED}"}
    home.models.turns["s"] = [[say, {**call("ask.send", to=ASKED), "rationale": ASKED, "id": ASKED}, call("late.send", n=1)], [COMPLETE]]
    run = home.start("talk")
    first, second = (event.call_id or "" for event in home.events(run, "TOOL_INVOCATION_REQUESTED"))
    home.decide("approve", run, first)
    erased = redact(home, first)
    assert erased.turns == 1 and verified(home)
    home.decide("approve", run, second)
    assert home.run(run).status == "COMPLETED" and verified(home)
    [past] = home.models.asked[1].history
    assert past.raw == ("succeeded: the result was redacted", '"done"') and past.results[0] == past.raw[0]
    assert [command["call"] for command in past.commands] == [first, second]  # type: ignore[union-attr,index,call-overload]
    assert redact(home, first).nothing  # said before the redaction in where the run stood, and gone with that
    assert holding(home, ASKED, TOLD) == []


# ---- how it shows ----
def test_a_run_shows_what_was_erased_of_it(home: Home) -> None:
    run, id = settled(home)
    redact(home, id)
    view = home.desk().show_run(run)[0]
    assert view.context is not None and view.context["tool.ask.send"] == (None, "tool") and view.erased == ("tool.ask.send",)
    assert view.outputs["s"] is None and [event.call_id for event in view.redactions] == [id]
    assert "after" in view.context and "after" not in view.erased


def test_a_gate_shows_that_the_output_it_asks_about_is_gone(home: Home) -> None:
    run = home.start("gate")
    id = home.events(run, "TOOL_INVOCATION_STARTED")[0].call_id or ""
    redact(home, id)
    assert home.desk().show_pending([run])[0].output == {"redacted": True}
    desk = home.desk()
    desk.approve_step(desk.select_step(run, "s", "approve"))
    assert home.run(run).status == "COMPLETED"


def test_a_run_that_needs_what_was_erased_fails_and_says_so(home: Home) -> None:
    """An error that is absent would read as "there was none" (I5)."""
    branch = texts.step("u", "branch", on="tool.ask.send.error", arms={"": "end", "*": "end"})
    ends = {"result": texts.step("u", "assign", set={"x": "${tool.ask.send}"}), "error": branch}
    for name, last in ends.items():
        home.tools.plan["ask.send"] = [ANSWER]
        home.write(**{name: texts.flow(name, texts.uses("s", "ask.send"), texts.uses("w", "late.send"), last)})
        run = home.start(name)
        id = home.row(run).id
        home.decide("approve" if name == "result" else "reject", run, **({} if name == "result" else {"reason": TOLD}))
        redact(home, id)
        home.decide("approve", run)
        assert home.run(run).status == "FAILED" and f"erased when {id} was redacted" in (home.run(run).error or "")
        assert holding(home, TOLD) == []
        home.desk().show_run(run)


# ---- what is refused ----
REFUSED = {
    "an approval": ("ask", [], "toolgate approve"),
    "a failure": ("free", [FAILED], "toolgate retry"),
    "a doubt": ("free", [LOST], "toolgate continue-tool"),
    "a denial": ("deny", [], "toolgate continue-tool"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_waits_is_refused_with_the_verb_that_works(home: Home, name: str) -> None:
    flow, plan, hint = REFUSED[name]
    home.tools.plan["free.send"] = list(plan)
    run = home.start(flow)
    id = home.row(run).id
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        redact(home, id)
    assert caught.value.kind == "wrong_state" and caught.value.hint.startswith(f"{hint} {id}") and home.dump() == before
    home.desk().cancel(run, None)
    if name != "a doubt":
        assert not redact(home, id).nothing  # nothing of it can run any more


def test_a_call_that_runs_or_is_still_to_run_is_refused(home: Home) -> None:
    seen: list[ToolgateError] = []

    def tool(started: Started) -> ToolResult:
        later = [event.call_id for event in home.events(type="TOOL_INVOCATION_REQUESTED")][-1] or ""
        for id in (started.call, later):
            with pytest.raises(ToolgateError) as caught:
                redact(home, id)
            seen.append(caught.value)
        return ANSWER

    home.tools.plan["free.send"] = [tool]
    home.models.turns["s"] = [[call("free.send", n=1), call("free.send", n=2), COMPLETE]]
    home.start("talk")
    assert [error.kind for error in seen] == ["wrong_state"] * 2 and len(home.tools.starts) == 2
    assert all(error.hint.startswith("toolgate wait r") for error in seen)


def test_a_call_of_a_dead_process_is_a_doubt_first(home: Home) -> None:
    home.tools.plan["free.send"] = [dies]
    home.write(free=texts.FLOWS["free"])
    home.killed(lambda: home.desk().start("free", {}, {}))
    id = home.events(type="TOOL_INVOCATION_STARTED")[0].call_id or ""
    with pytest.raises(ToolgateError, match="OUTCOME_UNKNOWN"):
        redact(home, id)
    home.decide("continue_tool", home.events()[0].run_id or "", outcome={"applied": True, "result": TOLD})
    redact(home, id)
    assert holding(home, TOLD) == [] and verified(home)


@pytest.mark.parametrize(("word", "hint"), [("cnone", "8 characters"), ("cnone0000", "events"), ("c0@12", "8 characters"), ("", "events")])
def test_a_call_that_is_not_there_is_not_found(home: Home, word: str, hint: str) -> None:
    settled(home)
    with pytest.raises(ToolgateError) as caught:
        redact(home, word)
    assert caught.value.kind == "not_found" and hint in caught.value.hint


def test_a_call_may_be_named_by_any_ref_that_it_had_and_by_no_other(home: Home) -> None:
    _, id = settled(home, text=ASKED)
    [had] = [payload(event)["ref"] for event in home.events(type="TOOL_INVOCATION_APPROVAL_PENDING")]
    with pytest.raises(ToolgateError) as caught:
        redact(home, f"{id}@{'0' * 12}")
    assert caught.value.kind == "ref_mismatch" and holding(home, TOLD)
    assert redact(home, had).call_id == id and holding(home, TOLD) == []
    assert redact(home, had).nothing  # what would tell the refs is erased


@pytest.mark.parametrize(
    ("text", "stands"),
    [("ann", True), ("50", True), ("5", False), ("an", False), ("-", False), ("", False)],
    ids=["word", "number", "digit", "part", "mark", "none"],
)
def test_a_short_text_is_named_where_it_stands_as_a_word(home: Home, text: str, stands: bool) -> None:
    assert Quotes([text]).stands_in(json.dumps({"an-x": ["paid 50 to ann", {"number": 50}]})) is stands
    assert Quotes([text]).stands_in("paid 50 to ann") is stands


def test_a_short_text_that_stays_is_named_too(home: Home) -> None:
    _, id = settled(home, text="bob")
    assert redact(home, id).still == ("context inputs.text",)


def test_it_is_a_persons_word_not_a_tools_and_needs_no_files(home: Home) -> None:
    _, id = settled(home)
    before = home.dump()
    home.host.inside = "c0"
    with pytest.raises(ToolgateError) as caught:
        redact(home, id)
    assert caught.value.kind == "self_approval" and home.dump() == before
    home.host.inside = None
    (home.folder / "toolgate.toml").write_text("this is no TOML")
    assert not redact(home, id).nothing


def test_a_fault_at_any_point_leaves_everything_or_nothing(home: Home) -> None:
    _, id = settled(home, text=ASKED)
    before = home.dump()
    for point in range(100):
        left = [point]

        def fault(name: str, values: tuple[Any, ...], left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise ToolgateError("storage", "the disk failed")

        home.watch.fault = fault
        try:
            redact(home, id)
            break
        except ToolgateError:
            assert home.dump() == before
        finally:
            home.watch.fault = None
    assert point > 10 and home.dump() != before and verified(home)


def test_files_that_could_not_be_cleaned_are_said_and_the_next_redaction_cleans_them(home: Home) -> None:
    _, id = settled(home)
    desk = home.desk()
    found, real = desk.redactable(id), desk._ports.store

    class Busy:
        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def scrub(self) -> None:
            raise ToolgateError("storage", "somebody looks at it")

    desk._ports = desk._ports._replace(store=Busy())  # type: ignore[arg-type]  # as the store, but for one thing
    erased = desk.redact(found, "why")
    assert erased.fault is not None and erased.fault.kind == "storage" and not erased.nothing and verified(home)
    assert "outcomes" not in holding(home, TOLD)
    again = redact(home, id)
    assert again.nothing and again.fault is None and holding(home, TOLD) == []
