"""What is shown: complete, in the shapes that are promised, and harmless whatever is in it."""

from __future__ import annotations

import json
import re
import time
from unicodedata import category, east_asian_width

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate_cli.cli.folding import fold
from toolgate_cli.cli.output import ascii_json, write_lines
from toolgate_cli.cli.safe import Safe, is_mark, line, show_json, unescape
from toolgate_cli.cli.streams import OUT
from toolgate_cli.cli.tables import draw
from toolgate_cli.cli.views import card, events, pending, runs, tools, workflows
from toolgate_cli.cli.views import run as one
from toolgate_cli.cli.views.shapes import READ, Column, Sheet, readable
from toolgate_cli.core.config import Condition, ExitRules, FailWhen
from toolgate_cli.runtime.answers import Checked

from .given import CALL, COMMANDS, HEAD, HOSTILE, REF, RUN, FakeDesk, answer, edited, event, tool, view, waiting

CSI = re.compile(r"\x1b\[[0-9;]*m")
SHEETS = {
    "pending": lambda: pending.sheet([waiting(text=HOSTILE), waiting("REVIEW", HOSTILE)]),
    "runs": lambda: runs.sheet([view(text=HOSTILE), view("FAILED", HOSTILE)]),
    "events": lambda: events.sheet([event(HOSTILE)]),
    "answers": lambda: one.answer_sheet([answer("approved", "FAILED", waiting(text=HOSTILE), text=HOSTILE)]),
    "workflows": lambda: workflows.sheet([Checked(HOSTILE, HOSTILE, (HOSTILE,), (HOSTILE,))]),
    "tools": lambda: tools.sheet([tool(HOSTILE)]),
}


def harmless(text: str) -> bool:
    return all(char == "\n" or char == "\t" or char.isprintable() for char in text)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("form", ["tsv", "table", "json", "jsonl"])
def test_hostile_text_in_every_field_is_harmless_in_every_command(desk, say, words, form):
    desk.text = HOSTILE
    code, out, err = say(*words, "-o", form)
    assert code in (0, 1, 7, 9), err
    assert harmless(out) and harmless(err) and out
    assert not any(text.startswith(("[/foo]", "toolgate approve")) for text in (out + err).splitlines())
    if "json" in form:
        assert out.isascii() and [json.loads(text) for text in out.splitlines()]


@pytest.mark.parametrize("width", [20, 80, 200])
@pytest.mark.parametrize("name", SHEETS)
def test_a_table_is_harmless_fits_and_keeps_its_ids_whole(name, width):
    plain = draw(SHEETS[name](), OUT, False, width)
    assert harmless(plain)
    assert harmless(CSI.sub("", draw(SHEETS[name](), OUT, True, width)))
    if name in ("pending", "runs", "events") and width >= 80:
        assert max(map(len, plain.splitlines())) <= width
    for id in {"pending": (REF, RUN), "runs": (RUN,), "events": (CALL,), "answers": (RUN,)}.get(name, ()):
        assert id in plain


@settings(max_examples=5_000, deadline=None)
@given(st.text("[]/=#:()ab redlinkbold@skull", min_size=1, max_size=60))
def test_brackets_and_emoji_names_are_shown_as_they_are(text):
    sheet = Sheet((Column("id"), Column("text")), [(line("i"), line("|" + text + "|"))])
    shown = draw(sheet, OUT, False, 200).splitlines()[-1]
    assert "|" + text + "|" in shown


def test_a_table_loses_no_letter():
    long = "漢" * 100 + "q" * 300 + "END"
    drawn = draw(pending.sheet([waiting(text=long)]), OUT, False, 80)
    assert drawn.count("q") == 300 and drawn.count("漢") == 100 and "…" not in drawn and "..." not in drawn


@pytest.mark.parametrize("word", ["word ", "x", "漢"])
def test_of_megabytes_a_listing_shows_what_is_read_there_at_once_and_says_how_much_more_there_is(word):
    text = word * (3_000_000 // len(word))
    asked = waiting("ESCALATION", "t")
    asked = asked._replace(call=None, row=asked.row._replace(reason=text))
    [row] = [tuple(row) for row in pending.sheet([asked]).rows]
    began = time.process_time()
    drawn = draw(Sheet(pending.sheet([]).columns, [row]), OUT, False, 80)
    assert time.process_time() - began < 1  # folding all of it took ten seconds
    assert f"({len(row[-1]) - READ:,} more characters: -o json)" in " ".join(drawn.split()) and len(drawn) < 3 * READ
    assert readable(line("y" * READ)) == "y" * READ
    [wide] = [tuple(row) for row in pending.wide_sheet([asked]).rows]
    assert wide[-1] == text and pending.to_json(asked)["reason"] == text


def test_what_has_no_end_shows_no_more_of_an_event_than_a_table(monkeypatch):
    written = []
    monkeypatch.setattr(OUT, "line", lambda text: written.append(text) or True)
    write_lines(Sheet((Column("seq"), Column("payload")), [(line("1"), line("x" * 100_000))]))
    assert written == [f"1  {'x' * READ}... (96,000 more characters: -o json)"]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_folded_line_is_whole_and_only_its_first_piece_stands_at_the_left(width):
    text = line("arguments: " + HOSTILE + "漢字" * 30 + "e\u0301" * 20)
    pieces = fold(text, width)
    assert "".join(piece if index == 0 else piece[8:] for index, piece in enumerate(pieces)) == text
    assert all(piece.startswith(" " * 8) for piece in pieces[1:]) and len(pieces) > 1


@pytest.mark.parametrize("text", ["word " * 700_000, "w" * 3_500_000], ids=["words", "one word"])
def test_a_text_of_megabytes_is_folded_at_once(text):
    began = time.monotonic()
    pieces = fold(line(text), 100)
    assert time.monotonic() - began < 3
    assert "".join(piece if index == 0 else piece[8:] for index, piece in enumerate(pieces)) == text


UNLIKE = {  # drawn wider by terminals than Rich counts: spacing marks, the tones of a skin, numbers in circles
    "spacing marks": "\u0915\u0903\u0903\u0903\u0903" * 40,
    "tones": "x\U0001f3fb" * 60,
    "circles": "\u3248" * 90,
    "jamo": "\u1161" * 90,
    "syllables": "\u1100\u1161\u11a8" * 90 + "x" + "\u1100\u1161\u11a8" * 90,
}


def drawn(text: str) -> int:
    """Cells, as the C library counts them, or more."""
    wide = "\u3248\U0001f3fb"
    return sum(0 if category(one) in ("Mn", "Me") else 2 if east_asian_width(one) in "WF" or one in wide else 1 for one in text)


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize("text", UNLIKE.values(), ids=UNLIKE)
def test_nothing_is_wrapped_by_a_terminal_that_counts_otherwise(text, width):
    whole = line(f"reason: {text}approvals: 2 of 2 {text}")
    pieces = fold(whole, width)
    assert all(drawn(piece) <= width for piece in pieces) and not any(is_mark(ord(piece[8])) for piece in pieces[1:])
    assert "".join(piece if index == 0 else piece[8:] for index, piece in enumerate(pieces)) == whole
    table = draw(pending.sheet([waiting(text=f"{text} origin: REVIEW {text}")]), OUT, False, width).splitlines()
    assert all(drawn(row) <= width for row in table if not row.replace("─", "").isascii())


def test_the_card_shows_everything_and_cuts_nothing():
    long = HOSTILE + "y" * 2000 + "; rm -rf ~"
    target = waiting("OUTCOME_UNKNOWN", long)
    shown = {(group, name): value for name, value, group in card.fields(target)}
    row, call = target.row, target.call
    assert call is not None and shown["arguments", show_json(long)] == show_json(long) and shown["arguments", "n"] == "1.0"
    for name, value in {
        "run": RUN,
        "workflow": long,
        "step": long,
        "capability": long,
        "title": long,
        "rationale": long,
        "reason": long,
        "rule": long,
        "scope": long,
        "safety": "write",
        "effect": "unsafe",
        "requested by": long,
        "ref": REF,
        "digest": row.call_digest,
        "agent": long,
    }.items():
        assert unescape(shown["", name]) == value, name
    assert "may run twice" in shown["", "doubt"] and "alive" in shown["", "still running"]
    assert "past" in shown["", "expires"]


def test_a_card_counts_approvals_where_one_moves_the_row():
    for origin in ("APPROVAL_REQUIRED", "STEP_APPROVAL", "ESCALATION", "INPUT", "REVIEW", "EXECUTION_FAILED", "OUTCOME_UNKNOWN"):
        names = {name for name, _, _ in card.fields(waiting(origin))}
        assert ("approvals" in names) == (origin in ("APPROVAL_REQUIRED", "STEP_APPROVAL", "ESCALATION")), origin


def test_a_card_of_a_step_shows_what_it_wrote_where_it_has_no_output():
    gate = waiting("STEP_APPROVAL")
    assert ("output", "null", "") in card.fields(gate)
    told = card.fields(gate._replace(values={HOSTILE: HOSTILE, "n": 1}))
    assert ("n", "1", "values") in told and (show_json(HOSTILE), show_json(HOSTILE), "values") in told
    assert ("n", "2", "output") in card.fields(gate._replace(output={"n": 2}))


def test_the_card_of_an_edit_shows_both_arguments_and_where_they_differ():
    target = waiting(text=HOSTILE)
    shown = {(group, name): value for name, value, group in card.fields(edited(target, {HOSTILE: "new\x1b", "n": 1}, "to new\x1b"))}
    before = "arguments before the edit"
    assert shown["arguments", show_json(HOSTILE)] == show_json("new\x1b") and shown["arguments", "n"] == "1"
    assert shown[before, show_json(HOSTILE)] == show_json(HOSTILE) and shown[before, "n"] == "1.0"
    assert unescape(shown["", "changed by the edit"]).count("/") >= 2 and "/n" in shown["", "changed by the edit"]
    assert unescape(shown["", "title"]) == "to new\x1b"
    assert shown["", "ref"] == f"{REF}, as it is now: with this edit the call gets another"
    assert shown["", "digest"] == f"{target.row.call_digest}, as it is now: with this edit the call gets another"
    assert shown["", "revision"] == "2" and all(harmless(text) for text in shown.values())


def test_the_card_of_an_edit_names_five_places_and_says_that_there_are_more():
    for many, more in ((4, False), (9, True)):
        target = edited(waiting(), {"pay": "pay", "n": 1.0, **{f"k{n}": n for n in range(many)}})
        [told] = [value for name, value, _ in card.fields(target) if name == "changed by the edit"]
        assert told.endswith(" and more") == more


def test_an_edit_that_changes_nothing_is_the_card_as_it_was():
    target = waiting()
    assert target.call is not None
    assert target.decided_as(target.call) == target and not target.to_be_edited
    gone = target._replace(before=target.call._replace(arguments=None))
    assert "not stored" in {name: value for name, value, _ in card.fields(gone)}["arguments before the edit"]


def test_the_json_of_a_pending_row_has_the_promised_fields():
    promised = [
        "id",
        "run_id",
        "workflow",
        "step",
        "kind",
        "capability",
        "title",
        "arguments",
        "rationale",
        "reason",
        "origin",
        "approver_scope",
        "approvals_needed",
        "approvals",
        "safety",
        "effect",
        "agent",
        "digest",
        "ref",
        "version",
        "attempts",
        "requested_by",
        "doubt",
        "still_running",
        "created_at",
        "expires_at",
    ]
    shown = pending.to_json(waiting())
    assert list(shown) == promised
    assert shown["attempts"] == 3 and shown["arguments"] == {"n": 1.0, "pay": "pay"} and shown["kind"] == "tool"
    assert pending.to_json(waiting("INPUT"))["kind"] == "input" and "form" in pending.to_json(waiting("INPUT"))


def test_the_title_of_a_call_falls_back_to_its_capability():
    target = waiting()
    assert target.call is not None
    bare = target._replace(call=target.call._replace(title=None, arguments=None))
    assert pending.to_json(bare)["title"] == "pay" and pending.to_json(bare)["arguments"] is None
    assert "not stored" in {name: value for name, value, _ in card.fields(bare)}["arguments"]


def test_the_json_of_an_answer_has_the_promised_fields():
    shown = one.answer_json(answer("approved", "FAILED", waiting()))
    assert list(shown) == ["schema", "effect", "run", "pending", "head", "next"] and shown["schema"] == "toolgate.run/1"
    run = shown["run"]
    assert isinstance(run, dict)
    promised = [
        "id",
        "workflow",
        "title",
        "status",
        "step",
        "requester",
        "created_at",
        "updated_at",
        "definition_digest",
        "error",
        "outputs",
        "context",
    ]
    assert list(run) == [*promised, "redactions"]  # the last only where something was erased
    assert run["error"] == {"message": "pay", "step": "pay", "support_id": 9}
    erased = {"value": None, "provenance": "tool", "redacted": True}
    assert run["context"] == {"pay": {"value": {"pay": ["pay"]}, "provenance": "tool"}, "paypay": erased}


def test_the_json_of_an_event_has_the_promised_fields():
    promised = ["seq", "at", "run_id", "step", "call_id", "capability", "call_digest", "attempt", "type", "actor", "payload", "hash"]
    assert list(events.to_json(event())) == promised
    assert events.to_json(event()._replace(payload=None, salt=None))["payload"] is None


def test_json_is_printable_ascii():
    text = ascii_json({HOSTILE: HOSTILE})
    assert text.isascii() and text.isprintable() and json.loads(text) == {HOSTILE: HOSTILE}


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_list_has_one_shape_for_none_one_and_many(desk, say, monkeypatch, rows):
    monkeypatch.setattr(FakeDesk, "pending", lambda self, run, limit: ((waiting(),) * rows, HEAD), raising=False)
    found = json.loads(say("pending", "list", "--json").out)
    assert list(found) == ["schema", "items", "head"] and len(found["items"]) == rows and found["head"] == HEAD


def test_columns_have_a_header_and_as_many_cells_in_every_row(desk, say):
    desk.text = HOSTILE
    for words in COMMANDS:
        lines = say(*words, "-o", "tsv").out.splitlines()
        assert len(lines) >= 2 and len({text.count("\t") for text in lines}) == 1, words


def test_a_vote_says_who_voted_and_who_may_still_approve():
    target = waiting()
    [told] = [value for name, value, group in one.answer_fields(answer("voted", "AWAITING_TOOL_APPROVAL", target)) if group == "pending"]
    assert told == "APPROVAL_REQUIRED: pay: 1 of 2 approvals (pay); may approve: pay, but not pay"
    free = target._replace(row=target.row._replace(approver_scope=None, separate_requester=False), approvals=())
    [told] = [value for name, value, group in one.answer_fields(answer("voted", "AWAITING_TOOL_APPROVAL", free)) if group == "pending"]
    assert told == "APPROVAL_REQUIRED: pay: 0 of 2 approvals; may approve: anybody"


def test_a_tool_is_told_in_the_words_of_its_file():
    told = {name: value for name, value, _ in tools.fields(tool()._replace(timeout=0.25, permission=None, enabled=False))}
    assert told["timeout"] == "250ms" and told["enabled"] == "false" and "permission" not in told


@pytest.mark.parametrize("width", [40, 60, 80])
def test_columns_that_do_not_fit_stand_under_their_row_by_name(width):
    drawn = draw(pending.sheet([waiting(text="word " * 30)]), OUT, False, width)
    rows = drawn.splitlines()
    assert rows[2].startswith(REF) and max(map(len, rows)) <= width
    under = [row for row in rows[3:] if row.startswith("    ") and not row.startswith(" " * 8)]
    assert [row.split(":")[0].strip() for row in under] == {40: ["run_id", "origin", "title"], 60: ["origin", "title"], 80: ["title"]}[
        width
    ]
    assert drawn.count("word") == 30


def test_a_head_is_never_broken_where_it_fits_on_a_line():
    head = f"12345:{'ab' * 32}"
    for name in ("head", "goes on from", "a name that is much longer than the others are"):
        pieces = fold(Safe(f"{name}: {head}"), 80)
        assert any(head in piece for piece in pieces) and all(len(piece) <= 80 for piece in pieces)
        assert "".join(piece.strip() for piece in pieces).replace(" ", "") == f"{name}: {head}".replace(" ", "")
        assert not any(piece.startswith(head) for piece in pieces[1:])  # what is folded is always indented
    assert all(len(piece) <= 40 for piece in fold(Safe(f"head: {head}"), 40))


def test_digests_are_short_for_people_alone():
    told = event("x")._replace(payload=json.dumps({"row": "ab" * 32, "list": ["cd" * 32], "text": "ab" * 31, "more": "ab" * 33}))
    [row] = list(events.sheet([told]).rows)
    assert "abababababab..." in row[-1] and "cdcdcdcdcdcd..." in row[-1] and "ab" * 32 not in row[-1].replace("ab" * 33, "")
    assert "ab" * 31 in row[-1] and "ab" * 33 in row[-1]
    assert "ab" * 32 in next(iter(events.wide_sheet([told]).rows))[-1] and events.to_json(told)["payload"]["row"] == "ab" * 32


@pytest.mark.parametrize("width", [80, 140])
def test_an_event_of_a_call_says_which_tool_on_a_terminal_too(width):
    told = event()._replace(capability="deploy.ship")
    lines = draw(events.sheet([told, told._replace(capability=None, call_id=None)]), OUT, False, width).splitlines()
    assert sum("deploy.ship" in text for text in lines) == 1
    assert ("    capability: deploy.ship" in lines) == (width == 80) and ("capability" in lines[0]) == (width == 140)


def test_the_calls_of_a_run_are_told_with_how_each_ended():
    said = [("c1", "REQUESTED"), ("c1", "APPROVAL_PENDING"), ("c2", "STARTED"), ("c1", "STARTED"), ("c2", "FAILED"), ("c1", "COMPLETED"),
            ("c2", "OVERRIDE_REJECTED"), ("c1", "LATE_RESULT")]  # fmt: skip
    told = [event()._replace(call_id=id, type=f"TOOL_INVOCATION_{type}", capability=f"tool.{id}", step_id="s") for id, type in said]
    assert [*one.call_lines(told)] == ["calls:", "  c1: COMPLETED: tool.c1, s", "  c2: FAILED: tool.c2, s"]
    assert [*one.call_lines([event()._replace(type="REDACTED")])] == []


def test_a_tool_is_shown_with_what_it_starts():
    shown = tools.fields(tool()._replace(provider="command", declared={"table": {"argv": ["git", "tag"], "cwd": "."}}))
    assert [(field.group, field.name, field.value) for field in shown if field.group] == [
        ("command", "argv", '["git","tag"]'),
        ("command", "cwd", '"."'),
    ]


def test_a_tool_is_shown_with_how_its_ends_are_told_as_its_file_says_it() -> None:
    rules = ExitRules((75,), (64, 65), {3: "DECLINED"}, 70)
    fails = FailWhen(Condition("/status", "eq", "declined"), "REFUND_DECLINED")
    made = tool()._replace(exit=rules, fail_when=(fails,), tenant_of="/tenant", output_schema={"type": "object"})
    shown = [(f"{field.group}.{field.name}" if field.group else field.name, field.value) for field in tools.fields(made)]
    assert [one for one in shown if one[0].startswith(("exit", "may", "fail", "tenant", "output"))] == [
        ("tenant of", "/tenant"),
        ("may confirm", "true"),
        ("exit.not_dispatched", "[75]"),
        ("exit.permanent", "[64,65]"),
        ("exit.business", '{"3":"DECLINED"}'),
        ("exit.confirm", "70"),
        ("fail when", '{"at":"/status","eq":"declined","code":"REFUND_DECLINED","on_missing":"fail"}'),
        ("output schema", '{"type":"object"}'),
    ]
    assert not [field for field in tools.fields(tool()) if field.group == "exit" or field.name in ("may confirm", "fail when")]


PATH = "/home/ada/projects/ledger/workflows/a-workflow-that-refunds.toml"


def test_a_path_goes_to_the_next_line_whole_where_that_holds_it() -> None:
    assert [*fold(Safe(f"error: {'it ' * 5}{PATH}"), 80)] == [f"error: {'it ' * 5}", f"        {PATH}"]
    assert [*map(len, fold(Safe(f"error: {'y' * 100}"), 80))] == [80, 8 + 27]  # no line holds it: it is broken where it stands
    sheet = Sheet(
        (Column("result", True), Column("message"), Column("what to do")), [(Safe("error"), Safe(f"see {PATH}"), Safe("mend it"))]
    )
    assert PATH in draw(sheet, OUT, False, 80)
    endless = draw(Sheet((Column("id", True), Column("path")), [(Safe("c1"), Safe("y" * 100))]), OUT, False, 80)
    assert [*map(len, endless.splitlines()[2:])] == [80, 4 + 24]  # no line holds it: it is broken beside its id


def test_a_row_says_which_step_waits_and_what_a_tool_asks() -> None:
    review, call = waiting("REVIEW"), waiting("CONFIRMATION_REQUIRED")
    asked = (review._replace(row=review.row._replace(reason="seen?"), call=None, workflow="refund", expired=False),
             call._replace(row=call.row._replace(reason="twice?"), expired=False))  # fmt: skip
    first, second = (text.rpartition("title: ")[2] for text in draw(pending.sheet(asked), OUT, False, 80).splitlines() if "title: " in text)
    assert first == f"refund, {review.row.step}: seen?" and second.endswith(": twice?")
