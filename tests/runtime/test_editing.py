"""An edit is a new revision: judged as any call, started where nobody else is asked for, else parked; the old ref ends with it (I3)."""

from __future__ import annotations

import pytest

from toolgate_cli.core.digests import ref
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import Json

from . import texts
from .edits import RULES, SCHEMA, asked, edit, operator, stored, texts_of
from .kit import Home, payload
from .watch import changed

T = "TOOL_INVOCATION_"
TWO = texts.rule("ask.*", "require_approval", 'approver_scope = "desk"\napprovals = 2')


# ---- what starts ----
def test_an_edit_runs_as_a_revision_of_its_own(home: Home) -> None:
    run = asked(home)
    row = home.row(run)
    first = stored(home, row)
    assert edit(home, run, "ho", reason="better") == "approved"
    [started] = home.tools.starts
    second = stored(home, row)
    assert started.arguments == '{"text":"ho"}' and home.run(run).status == "COMPLETED"
    assert stored(home, row, 1) == first and (second.revision, second.arguments) == (2, '{"text":"ho"}')
    assert started.key == second.idempotency_key != first.idempotency_key
    assert (first.requested_by, second.requested_by) == ("ann", "bob")
    assert first._replace(
        **{name: getattr(second, name) for name in ("revision", "arguments", "arguments_digest", "idempotency_key", "requested_by")},
        created_at=second.created_at,
    ) == second  # fmt: skip


def test_both_digests_and_the_editor_are_on_record(home: Home) -> None:
    run = asked(home)
    row, before = home.row(run), len(home.events())
    edit(home, run, "ho", reason="better")
    events = home.events()[before:]
    assert [event.type for event in events[:5]] == [T + word for word in ("SUPERSEDED", "REQUESTED", "APPROVED", "STARTED", "COMPLETED")]
    superseded, requested, approved, started, _ = events[:5]
    told = payload(superseded)
    assert superseded.call_digest == row.call_digest != started.call_digest == approved.call_digest == told["digest"]
    assert (told["arguments_digest_before"], told["arguments_digest"]) == (
        stored(home, row, 1).arguments_digest,
        stored(home, row, 2).arguments_digest,
    )
    assert payload(requested)["revision"] == told["revision"] == 2 and payload(approved)["reason"] == told["reason"] == "better"
    assert [event.actor for event in events[:4]] == ["bob"] * 4 and payload(approved)["os_user"] == "os-bob"
    assert '"ho"' not in repr([event.payload for event in events[:4]]) and home.desk().verify().ok


def test_an_edit_to_what_the_call_has_already_is_an_approval(home: Home) -> None:
    run = asked(home)
    row = home.row(run)
    assert edit(home, run, "hi") == "approved"
    assert stored(home, row).revision == 1 and texts_of(home) == ["hi"] and T + "SUPERSEDED" not in home.types(run)


def test_an_edit_to_what_the_policy_allows_starts_cleared_by_the_policy(home: Home) -> None:
    run = asked(home, "big")
    assert edit(home, run, "gift") == "approved" and texts_of(home) == ["gift"]
    started = payload(home.events(run, T + "STARTED")[0])
    assert (started["cleared"], started["rule"]) == ("policy", "gift-allow") and home.run(run).status == "COMPLETED"


def test_an_edit_under_the_same_rule_of_one_approval_starts(home: Home) -> None:
    run = asked(home, ask=texts.rule("ask.*", "require_approval", 'approver_scope = "desk"'))
    assert edit(home, run, "ho", "mallory") == "scope" and home.tools.starts == []
    assert edit(home, run, "ho", "alice") == "approved" and texts_of(home) == ["ho"]
    assert payload(home.events(run, T + "STARTED")[0])["cleared"] == "approval"


def test_a_title_is_that_of_the_new_arguments(home: Home) -> None:
    titled = {"ask.send": texts.tool("ask.send", more='title = "send ${args.text}"')}
    home.write(texts.operator(titled, {"sep": texts.rule("ask.*", "require_approval", "separate_requester = true")}))
    run = home.start("ask")
    assert edit(home, run, "ho") == "superseded"
    assert stored(home, home.row(run)).title == "send ho"


# ---- what is parked ----
def test_a_refusal_says_that_the_edit_was_taken(home: Home) -> None:
    run = asked(home)
    id = home.row(run).id
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run, actor="bob", arguments={"text": "sep"})
    assert f"{id} as edited waits for approval: " in caught.value.message
    assert [choice.command for choice in caught.value.choices] == [
        f"toolgate {do} {ref(home.row(run))}" for do in ("pending show", "approve")
    ]


def test_an_edit_that_the_policy_denies_leaves_the_call_as_it_was(home: Home) -> None:
    run = asked(home, ask=TWO)
    home.decide("approve", run, actor="alice")
    row, before = home.row(run), home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run, actor="bob", arguments={"text": "evil"})
    assert (caught.value.kind, caught.value.message) == ("policy_denied", f"the policy denies {row.id} with these arguments: never")
    assert caught.value.hint == f"it still waits as it was: toolgate pending show {row.id}"
    assert changed(before, home.dump()) == ["events"] and home.types(run)[-1] == "DECISION_REFUSED"
    told = payload(home.events(run)[-1])
    assert (told["verb"], told["kind"]) == ("approve", "policy_denied") and "evil" not in repr(told)
    home.decide("approve", run, actor="bob")  # its ref and its votes are what they were
    assert texts_of(home) == ["hi"] and home.run(run).status == "COMPLETED"


def test_what_is_denied_stays_denied_whatever_the_new_arguments(home: Home) -> None:
    run = asked(home, "evil")
    row = home.row(run)
    assert edit(home, run, "hi") == "policy_denied" and home.row(run) == row and home.tools.starts == []
    assert home.types(run)[-1] == T + "OVERRIDE_REJECTED"


@pytest.mark.parametrize("text", ["big", "sep"])
def test_an_edit_that_the_policy_asks_more_of_is_parked_for_that(home: Home, text: str) -> None:
    run = asked(home)
    old = home.row(run)
    assert edit(home, run, text) == "superseded"
    row = home.row(run)
    assert (row.origin, row.version, row.revision, row.rule) == (
        "APPROVAL_REQUIRED",
        2,
        2,
        f"{text}-require-approval",
    ) and home.tools.starts == []
    assert (row.approvals_needed, row.separate_requester) == ((2, False) if text == "big" else (1, True))
    assert home.desk().pending(run, 10)[0][0].approvals == () and row.call_digest != old.call_digest
    assert home.types(run)[-3:] == [T + "SUPERSEDED", T + "REQUESTED", T + "APPROVAL_PENDING"]
    for actor in ("alice", "carol"):
        if home.rows(run):
            home.decide("approve", run, actor=actor)
    assert texts_of(home) == [text] and home.run(run).status == "COMPLETED"


@pytest.mark.parametrize(
    "now",
    [
        texts.rule("ask.*", "require_approval", 'approver_scope = "other"'),
        texts.rule("ask.*", "require_approval", 'approver_scope = "desk"\napprovals = 2'),
        texts.rule("ask.*", "require_approval", 'approver_scope = "desk"\nseparate_requester = true'),
        texts.rule("ask.*", "require_approval", 'approver_scope = "desk"').replace("ask-all", "another"),
        "",
    ],
    ids=["scope", "approvals", "separation", "rule", "default"],
)
def test_a_policy_that_asks_otherwise_now_is_asked_otherwise(home: Home, now: str) -> None:
    run = asked(home, ask=texts.rule("ask.*", "require_approval", 'approver_scope = "desk"'))
    home.write(operator(ask=now).replace(texts.APPROVERS, texts.APPROVERS + 'other = ["alice"]\n'))
    assert edit(home, run, "ho", "alice") == "superseded" and home.tools.starts == []
    assert home.row(run).revision == 2 and home.desk().pending(run, 10)[0][0].approvals == ()


def test_who_edits_has_asked_for_it_and_somebody_else_approves_it(home: Home) -> None:
    run = asked(home, "sep")
    assert edit(home, run, "sep2", "ann") == "self_approval"  # she asked for it as it was
    assert edit(home, run, "sep2", "bob") == "superseded" and home.tools.starts == []
    assert stored(home, home.row(run)).requested_by == "bob"
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run, actor="bob")
    assert caught.value.kind == "self_approval" and home.tools.starts == []
    home.decide("approve", run, actor="ann")  # she did not ask for it as it is
    assert texts_of(home) == ["sep2"]


def test_votes_for_the_old_ref_are_void_and_an_edit_is_one_for_the_new(home: Home) -> None:
    run = asked(home, ask=TWO)
    home.decide("approve", run, actor="alice")
    assert edit(home, run, "ho", "bob") == "voted" and home.tools.starts == []
    assert home.desk().pending(run, 10)[0][0].approvals == ("bob",)
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run, actor="bob")
    assert caught.value.kind == "wrong_state" and home.tools.starts == []
    assert edit(home, run, "ha", "alice") == "voted" and home.desk().pending(run, 10)[0][0].approvals == ("alice",)
    home.decide("approve", run, actor="carol")
    assert texts_of(home) == ["ha"] and home.run(run).status == "COMPLETED"


def test_a_quorum_of_another_rule_begins_without_a_vote(home: Home) -> None:
    run = asked(home, "big")
    assert edit(home, run, "bigger", "alice") == "superseded" and home.desk().pending(run, 10)[0][0].approvals == ()


def test_an_edit_of_a_tool_that_changed_is_shown_again(home: Home) -> None:
    run = asked(home)
    for text in ("ho", "gift"):
        home.write(operator().replace('description = "ask.send"', f'description = "new {text}"'))
        assert edit(home, run, text) == "superseded" and home.tools.starts == []
        assert "description" in (home.row(run).reason or "")
    assert home.row(run).revision == 3
    home.decide("approve", run, actor="bob")
    assert texts_of(home) == ["gift"]


def test_an_edit_under_a_limit_that_is_used_up_waits_for_the_limit(home: Home) -> None:
    both = texts.flow("both", texts.uses("a", "free.send"), texts.uses("b", "ask.send"))
    home.write(operator().replace("calls_per_run = 200", "calls_per_run = 1"), both=both)
    run = home.start("both")
    edit(home, run, "ho")
    row = home.row(run)
    assert (row.origin, row.cleared, row.revision) == ("EXECUTION_FAILED", "approval", 2) and home.tools.names() == ["free.send"]
    home.write(operator())
    home.decide("retry", run)
    assert texts_of(home) == ["hi", "ho"]


# ---- what is refused ----
@pytest.mark.parametrize(
    "arguments", [{}, {"text": 7}, {"text": "x" * 10}, {"text": "x" * 1001}, {"text": "hi", "more": 1}, {"text": None}], ids=str
)
def test_arguments_that_do_not_fit_change_nothing(home: Home, arguments: dict[str, Json]) -> None:
    needs = SCHEMA.replace("properties", 'required = ["text"], properties', 1)
    home.write(texts.operator({"ask.send": texts.tool("ask.send", schema=needs)}, RULES))
    run = home.start("ask")
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run, actor="bob", arguments=arguments)
    assert caught.value.kind == "invalid" and " at " in caught.value.message and "xxx" not in caught.value.message
    assert set(changed(before, home.dump())) == set() and home.tools.starts == []
    home.decide("approve", run, actor="bob")
    assert texts_of(home) == ["hi"]


@pytest.mark.parametrize("tool", ["", texts.tool("ask.send", more="enabled = false")], ids=["gone", "disabled"])
def test_an_edit_that_cannot_be_judged_changes_nothing(home: Home, tool: str) -> None:
    run = asked(home)
    home.write(texts.operator({"ask.send": tool}, RULES))
    before = home.dump()
    assert edit(home, run, "ho") == "invalid" and set(changed(before, home.dump())) <= {"checked"} and home.tools.starts == []


def test_an_editor_may_ask_only_for_what_they_may_call(home: Home) -> None:
    guarded = {"ask.send": texts.tool("ask.send", more='permission = "mail:send"')}
    home.write(texts.operator(guarded, more='[context]\npermissions = { ann = ["mail:send"] }'))
    run = home.start("ask")
    before = home.dump()
    assert edit(home, run, "ho", "bob") == "not_authorised"
    assert changed(before, home.dump()) == ["events"] and home.types(run)[-1] == "DECISION_REFUSED"
    assert payload(home.events(run)[-1])["kind"] == "not_authorised" and home.tools.starts == []
    assert edit(home, run, "ho", "ann") == "approved" and texts_of(home) == ["ho"]


def test_the_ref_that_was_edited_decides_nothing_more(home: Home) -> None:
    run = asked(home)
    desk, target = home.seen(run)
    edit(home, run, "sep")
    for act in (lambda: desk.approve(target), lambda: desk.reject(target), lambda: desk.approve(target, arguments={"text": "x"})):
        with pytest.raises(ToolgateError) as caught:
            act()
        assert caught.value.kind == "claim_lost"
    with pytest.raises(ToolgateError) as caught:
        home.desk().select([target.ref], "approve")
    assert caught.value.kind == "ref_mismatch" and home.tools.starts == []
