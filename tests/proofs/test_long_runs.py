"""What long runs cost: counted in transactions, in steps of SQLite's own machine and in sizes, which repeat; times are in tests/bench.

A stretch of steps is one transaction and little more than its events; an iteration costs the same whichever it is; a step that was
finished costs nothing when the run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime import texts
from tests.runtime.fakes import COMPLETE
from tests.runtime.kit import Home
from tests.runtime.test_growth import steps
from tests.runtime.texts import step
from toolgate_cli.core.records import Event
from toolgate_cli.runtime.advance import STRETCH

STEPS = 1_000  # finished before a run goes on, against ten
MOST_OF_RAW = 4  # of what the same events cost alone
LONGEST = 256  # characters of a cursor in a loop, whatever the number of its iterations
MOST = 1.3  # of what it costs where ten are finished
TURNS = {name: [[{"type": "escalate", "reason": "x"}, COMPLETE]] for name in ("a", "b", "c", "d")}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path, "sqlite")
    yield made
    made.close()


def assigns(first: int, behind: int) -> list[dict[str, object]]:
    """Each with a key of its own."""
    return [step(f"n{n}", "assign", set={f"k{n}": f"v{n}"}) for n in range(first, behind)]


def raw(home: Home, events: list[Event]) -> int:
    """What it costs to put these events into an empty table with the same indexes."""
    connection = home.store._file._connection
    told = "SELECT sql FROM sqlite_schema WHERE tbl_name = 'events' AND type IN ('table', 'index') AND sql IS NOT NULL"
    made = [sql for (sql,) in connection.execute(told).fetchall()]
    connection.execute("ATTACH ':memory:' AS plain")
    for sql in made:
        connection.execute(sql.replace("TABLE ", "TABLE plain.").replace("INDEX ", "INDEX plain."))
    insert = f"INSERT INTO plain.events VALUES ({', '.join('?' * len(Event._fields))})"
    return steps(home, lambda: [connection.execute(insert, event) for event in events])


@pytest.mark.parametrize("number", [STRETCH - 1, STRETCH, STRETCH + 1])
def test_a_stretch_of_a_thousand_steps_is_one_transaction(home: Home, number: int) -> None:
    home.write(many=texts.flow("many", *assigns(0, number)))
    run = home.start("many")
    assert home.run(run).status == "COMPLETED" and home.watch.commits == (1 if number <= STRETCH else 2)
    assert len(home.events(run)) == 3 * number + 2


@pytest.mark.parametrize("before", [STRETCH - 2, STRETCH - 1, STRETCH])
def test_a_run_that_waits_at_the_end_of_a_stretch_goes_on(home: Home, before: int) -> None:
    home.write(many=texts.flow("many", *assigns(0, before), texts.uses("a", "ask.send")))
    run = home.start("many")
    pass_on(home, run, "tool")
    assert home.run(run).status == "COMPLETED"


def test_it_costs_little_more_than_its_events(home: Home) -> None:
    home.write(many=texts.flow("many", *assigns(0, STEPS)))
    home.start("many")  # the definition and the file are known
    mine = steps(home, lambda: home.start("many"))
    events = list(home.events())
    floor = raw(home, events[len(events) // 2 :])
    assert mine <= MOST_OF_RAW * floor, f"{mine / floor:.2f} times the raw insertion"


def iterations(home: Home, number: int, until: str) -> tuple[int, int, int]:
    """What a loop costs, how many transactions it takes, and the size of its cursor."""
    sizes: list[int] = []
    repeat: dict[str, Any] = {"until": until, **({"max": number} if until == "count" else {"each": "items", "item": "one"})}
    items = step("items", "assign", set={"items": [7] * number})
    body = {"body": [step("note", "assign", set={"last": "x"})]}
    home.write(rounds=texts.flow("rounds", items, step("loop", "block", block="body", repeat=repeat), blocks=body))
    home.watch.fault = lambda name, values: sizes.append(len(values[0].cursor)) if name == "put_run" else None
    before = home.watch.commits
    cost = steps(home, lambda: home.start("rounds"))
    home.watch.fault = None
    return cost, home.watch.commits - before, max(sizes)


@pytest.mark.parametrize("until", ["count", "each"])
def test_an_iteration_costs_the_same_whichever_it_is(home: Home, until: str, long: bool) -> None:
    few, many = (1_000, 10_000) if long else (300, 3_000)
    home.start("free")  # the store is open
    small, big = iterations(home, few, until), iterations(home, many, until)
    assert big[0] <= 10 * 1.2 * small[0], f"{big[0] / small[0]:.1f} times for ten times as many"
    assert big[1] <= many * 3 // STEPS + 1, f"{big[1]} transactions"  # an iteration is planned, its step, and its end
    assert max(small[2], big[2]) < LONGEST, (small, big)


def waits(kind: str) -> Callable[[str], dict[str, object]]:
    """A step at which a run waits for a person."""
    return {
        "tool": lambda name: texts.uses(name, "ask.send"),
        "gate": lambda name: step(name, "assign", set={"x": "y"}, gate="approval"),
        "review": lambda name: step(name, "assign", set={"x": "y"}, gate="review"),
        "form": lambda name: step(name, "input", form="ship"),
        "agent": lambda name: step(name, "agent", agent="clerk", reads=["x"], writes=["x"]),
    }[kind]


def pass_on(home: Home, run: str, kind: str) -> None:
    desk = home.desk()
    if kind == "tool":
        desk.approve(desk.select([run], "approve"))
    elif kind == "form":
        desk.answer(desk.select_step(run, None, "answer"), {"street": "x"}, {})
    elif kind == "review":
        desk.review(desk.select_step(run, None, "review"), note="")
    else:
        desk.approve_step(desk.select_step(run, None, "approve"))


@pytest.mark.parametrize("kind", ["tool", "gate", "review", "form", "agent"])
def test_a_run_with_a_thousand_finished_steps_goes_on_like_one_with_ten(home: Home, kind: str) -> None:
    wait, after = waits(kind), len(assigns(0, 10))
    early, late = [wait("a"), wait("b")], [wait("c"), wait("d")]
    home.write(many=texts.flow("many", *assigns(0, after), *early, *assigns(after, STEPS), *late, more=texts.FORM))
    home.models.turns = dict(TURNS)
    run = home.start("many")
    found = [steps(home, lambda: pass_on(home, run, kind)) for _ in range(3)]
    assert home.run(run).status.startswith("AWAITING") and home.rows(run)[0].step == "d"
    assert found[2] <= MOST * found[0], f"{found[2] / found[0]:.2f} times what it costs behind ten: {found}"
