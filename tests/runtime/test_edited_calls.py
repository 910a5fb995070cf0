"""What comes after an edit: doubt stays, and whatever starts, is retried, recovered or shown is the revision of the row (I8, I13)."""

from __future__ import annotations

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .edits import RULES, asked, edit, operator, texts_of
from .fakes import COMPLETE, FAILED, LOST, UNSENT, call
from .kit import Home, dies
from .watch import changed


# ---- doubt ----
def doubtful(home: Home, effect: str) -> str:
    """A call that waits for approval again while an earlier start of it may have taken effect."""

    def tool(about: str) -> dict[str, str]:
        return {"ask.send": texts.tool("ask.send", effect, about=about)}

    home.write(texts.operator(tool("old"), RULES))
    home.tools.plan["ask.send"] = [dies]
    run = home.start("ask")
    home.killed(lambda: home.decide("approve", run))
    home.desk().pending(run, 10)
    assert home.row(run).doubt == effect
    home.write(texts.operator(tool("new"), RULES))
    with pytest.raises(ToolgateError):
        home.decide("retry", run, may_run_twice=True)
    assert home.row(run).origin == "APPROVAL_REQUIRED" and home.row(run).doubt == effect
    return run


@pytest.mark.parametrize(("effect", "doubt"), [("unsafe", "unsafe"), ("idempotent", "unsafe"), ("read_only", "read_only")])
def test_a_doubt_stays_through_an_edit_and_no_old_key_makes_it_harmless(home: Home, effect: str, doubt: str) -> None:
    run = doubtful(home, effect)
    before = home.dump()
    if doubt == "unsafe":
        assert edit(home, run, "ho") == "unknown_outcome" and len(home.tools.starts) == 1
        assert changed(before, home.dump()) == ["events"] and home.types(run)[-1] == "DECISION_REFUSED"
    home.tools.plan["ask.send"] = [FAILED] * 3
    edit(home, run, "ho", may_run_twice=doubt == "unsafe")
    assert (home.row(run).origin, home.row(run).doubt, home.row(run).revision) == ("EXECUTION_FAILED", doubt, 2)
    assert texts_of(home)[:2] == ["hi", "ho"]


def test_an_edit_that_only_parks_a_doubtful_call_keeps_the_doubt(home: Home) -> None:
    run = doubtful(home, "idempotent")
    assert edit(home, run, "sep") == "superseded"
    row = home.row(run)
    assert (row.doubt, row.starts, row.revision) == ("unsafe", 1, 2)
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run, actor="carol")
    assert caught.value.kind == "unknown_outcome" and len(home.tools.starts) == 1
    home.decide("approve", run, actor="carol", may_run_twice=True)
    assert texts_of(home) == ["hi", "sep"]


# ---- afterwards ----
def test_a_retry_replays_the_revision_that_was_started(home: Home) -> None:
    run = asked(home)
    home.tools.plan["ask.send"] = [FAILED, LOST]
    edit(home, run, "ho")
    home.decide("retry", run)
    home.decide("retry", run, may_run_twice=True)
    assert texts_of(home) == ["ho"] * 3 and len({started.key for started in home.tools.starts}) == 1
    assert home.run(run).status == "COMPLETED" and home.outcome(home.tools.starts[0].call).status == "succeeded"


def test_an_attempt_that_is_repeated_is_of_the_same_revision(home: Home) -> None:
    home.write(texts.operator({"ask.send": texts.tool("ask.send", "idempotent", 3)}, RULES))
    run = home.start("ask")
    home.tools.plan["ask.send"] = [UNSENT, FAILED]
    assert edit(home, run, "ho") == "approved"
    assert texts_of(home) == ["ho"] * 3 and len({started.key for started in home.tools.starts}) == 1


def test_a_crash_during_the_start_of_an_edit_leaves_a_doubt_of_that_revision(home: Home) -> None:
    run = asked(home)
    home.tools.plan["ask.send"] = [dies]
    home.killed(lambda: edit(home, run, "ho"))
    [shown] = home.desk().pending(run, 10)[0]
    assert (shown.row.origin, shown.row.revision, shown.row.starts) == ("OUTCOME_UNKNOWN", 2, 1)
    assert shown.call is not None and shown.call.arguments == '{"text":"ho"}'
    home.decide("retry", run, may_run_twice=True)
    assert texts_of(home) == ["ho", "ho"] and home.run(run).status == "COMPLETED"


def test_what_waits_shows_the_newest_revision_and_the_one_before(home: Home) -> None:
    run = asked(home)
    for text, actor in (("sep", "bob"), ("sep2", "carol")):
        edit(home, run, text, actor)
    desk = home.desk()
    for shown in (desk.pending(run, 10)[0][0], desk.show_pending([run])[0], desk.show_run(run)[1][0]):
        assert shown.call is not None and shown.before is not None
        assert (shown.call.arguments, shown.before.arguments) == ('{"text":"sep2"}', '{"text":"sep"}')
        assert (shown.call.revision, shown.row.version, shown.call.requested_by) == (3, 3, "carol")
        assert shown.call.idempotency_key != shown.before.idempotency_key  # the old one may have taken effect


def test_an_edited_call_of_a_turn_goes_on_with_its_batch(home: Home) -> None:
    home.write(operator())
    home.models.turns["s"] = [[call("ask.send", text="hi"), call("free.send", text="x")], [COMPLETE]]
    run = home.start("talk")
    assert home.tools.names() == ["free.send"]
    assert edit(home, run, "sep") == "superseded"
    home.decide("approve", run, actor="carol")
    assert texts_of(home) == ["x", "sep"] and home.run(run).status == "COMPLETED"


def test_a_cancel_closes_an_edited_call(home: Home) -> None:
    run = asked(home)
    edit(home, run, "sep")
    home.desk().cancel(run, None)
    assert home.rows(run) == [] and home.run(run).status == "CANCELLED" and home.desk().verify().ok
