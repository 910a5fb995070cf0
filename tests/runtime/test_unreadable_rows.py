"""A row that other hands made unreadable is named, and keeps nobody from the others (I6)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.runtime import standing

from . import texts
from .fakes import FAILED, LOST, OK, Started
from .kit import Home, dies
from .test_parking_digests import raw
from .test_reconciling import UNKNOWN, write


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path, "sqlite")
    yield made
    made.close()


def sql(home: Home, *statements: str) -> None:
    with raw(home) as db:
        db.execute("PRAGMA ignore_check_constraints = 1")
        for statement in statements:
            db.execute(statement)
        db.commit()


def goes_on(home: Home, other: str, broken: str) -> None:
    """The other run is listed and decided; what is broken is named."""
    desk = home.desk()
    found, _ = desk.pending(None, 9)
    assert other in [waiting.row.run_id for waiting in found]
    said = [fault.message for fault in desk.unread] + [remark.message for remark in home.desk().examine() if remark.level == "error"]
    assert any(broken in text for text in said) and all(fault.kind == "storage" for fault in desk.unread)
    assert home.decide("approve", other).run.run.status == "COMPLETED"


@pytest.mark.parametrize("row", ["junk", "{}", "[]", "null", '{"id":"x"}', "[" * 5000, '{"starts":"many"}'])
def test_an_attempt_that_is_none(home: Home, row: str) -> None:
    home.tools.plan["free.send"] = [dies]
    other = home.start("ask")
    home.killed(lambda: home.start("free"))
    if row == '{"starts":"many"}':
        sql(home, "UPDATE attempts SET row = json_set(row, '$.starts', 'many')")
    else:
        sql(home, f"UPDATE attempts SET row = '{row}'")
    run = next(event.run_id for event in home.events(type="TOOL_INVOCATION_STARTED")) or ""
    goes_on(home, other, "in the table attempts")
    for act in (lambda: home.desk().show_run(run), lambda: home.desk().continue_run(run)):
        with pytest.raises(ToolgateError, match="in the table attempts") as caught:
            act()
        assert caught.value.kind == "storage"


@pytest.mark.parametrize("value", ["owner = ''", "owner = 'o1'", "cursor = 'junk'", "cursor = '[]'", "cursor = '[[1]]'", "error = '{'",
                                   "cursor = '[[\"none\",9,0,\"\",{},[],false,null]]'"])  # fmt: skip
def test_a_run_that_is_none(home: Home, value: str) -> None:
    run, other = home.start("pauses"), home.start("ask")
    sql(home, f"UPDATE runs SET {value} WHERE id = '{run}'")
    desk = home.desk()
    views, _ = desk.runs(None, 9)
    assert [view.run.id for view in views] == [other] and len(desk.unread) == 1
    with pytest.raises(ToolgateError):
        home.desk().continue_run(run)
    assert home.decide("approve", other).run.run.status == "COMPLETED"


@pytest.mark.parametrize("origin", ["JUNK", ""])
def test_a_row_of_an_origin_that_nothing_makes_can_be_cancelled_and_nothing_else(home: Home, origin: str) -> None:
    run, other = home.start("ask"), home.start("ask")
    row = home.row(run)
    columns = ", ".join(f"'{origin}'" if name == "origin" else name for name in row._fields)
    sql(home, f"CREATE TEMP TABLE k AS SELECT {columns} FROM pending WHERE id = '{row.id}'", f"DELETE FROM pending WHERE id = '{row.id}'",
        "INSERT INTO pending SELECT * FROM k")  # fmt: skip
    for verb in ("approve", "reject", "retry", "continue_tool"):
        with pytest.raises(ToolgateError) as caught:
            home.decide(verb, run)
        assert caught.value.kind == "storage" and caught.value.hint == f"toolgate cancel {run}"
    desk = home.desk()
    found, _ = desk.pending(None, 9)
    assert {waiting.row.run_id for waiting in found} == {run, other} and desk.show_run(run)
    assert home.desk().cancel(run, None).run.run.status == "CANCELLED"
    assert home.decide("approve", other).run.run.status == "COMPLETED"


def take_away(home: Home, call: str) -> None:
    sql(home, "PRAGMA foreign_keys = 0", "DROP TRIGGER calls_stay", f"DELETE FROM calls WHERE id = '{call}'")


def test_a_doubt_of_a_call_that_is_in_no_table_of_calls_keeps_no_other_one_of_its_run(home: Home) -> None:
    home.write(both=texts.flow("both", texts.uses("a", "free.send"), texts.uses("b", "ask.send")))
    home.tools.plan["free.send"] = [LOST]
    run = home.start("both")
    gone = home.row(run).id
    home.decide("reject", run)
    take_away(home, gone)
    assert home.decide("approve", run).run.run.status == "COMPLETED" and home.tools.names() == ["free.send", "ask.send"]


def test_a_failed_call_that_is_in_no_table_of_calls_keeps_nobody_from_the_others(home: Home) -> None:
    home.tools.plan["free.send"] = [FAILED]
    failed, other = home.start("free"), home.start("ask")
    gone = home.row(failed).id
    take_away(home, gone)
    with pytest.raises(ToolgateError) as caught:
        home.desk().select([], "approve")
    assert caught.value.kind == "ambiguous" and f"{gone} is EXECUTION_FAILED" in caught.value.hint
    assert home.decide("approve", other).run.run.status == "COMPLETED"


@pytest.mark.parametrize("change", ["UPDATE definitions SET body = body || ' '", "DELETE FROM definitions"])
def test_no_step_is_named_of_a_failed_run_whose_definition_is_not_the_one_it_started_with(home: Home, change: str) -> None:
    id = home.start("gate")
    home.desk().reject_step(home.desk().select_step(id, "s", "reject"))
    sql(home, "PRAGMA foreign_keys = 0", change)
    run, ports = home.run(id), home.desk()._ports
    with home.store.read() as tx:
        seen = standing.moment(tx, ports)
        assert standing.again(tx, run, seen) == () and standing.state(tx, run, None, seen) == "FAILED"


def test_a_database_without_its_id_and_without_a_log_says_so(home: Home) -> None:
    with home.store.write():
        pass
    sql(home, "DELETE FROM identity")
    with pytest.raises(ToolgateError, match="has lost its id") as caught:
        home.start("free")
    assert caught.value.kind == "storage" and home.tools.starts == []


def test_where_there_is_a_log_its_first_event_has_the_id(home: Home) -> None:
    run = home.start("ask")
    home.tools.plan["ask.send"] = [OK]
    sql(home, "DELETE FROM identity")
    home.decide("approve", run)
    assert home.tools.names() == ["ask.send"]
    with pytest.raises(ToolgateError, match="has lost its id"):
        home.desk().verify()


@pytest.mark.parametrize("last", ["null", "'junk'", "'[1]'", "'{}'"])
@pytest.mark.parametrize("when", ["before the reconciler is asked", "while it is asked"])
def test_an_attempt_that_does_not_say_any_more_how_the_last_one_ended(home: Home, last: str, when: str) -> None:
    def change() -> None:
        sql(home, f"UPDATE attempts SET row = json_set(row, '$.last', {last})")

    def asked(_: Started) -> ToolResult:
        if when == "while it is asked":
            change()
        return UNKNOWN

    if when != "while it is asked":
        home.clock.while_asleep = change
    write(home)
    home.tools.plan["rec.put"], home.tools.answers["reconcile"] = [LOST], [asked]
    answer = home.desk().start("rec", {}, {})
    fault = answer.fault
    assert fault is not None and (fault.kind, "no event of the log tells of the attempt" in fault.message) == ("storage", True)
    assert len(home.tools.starts) == 1 and [waiting.row.origin for waiting in answer.pending] == ["OUTCOME_UNKNOWN"]
