"""Two people decide at the same moment: the row goes to exactly one of them, and the other is told so (I2)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from proofs import facts, homes, workers

pytestmark = pytest.mark.timeout(14_400)  # of the long version
Tell = Callable[[str, float], None]
DECISIONS = ("TOOL_INVOCATION_APPROVED", "TOOL_INVOCATION_REJECTED", "TOOL_INVOCATION_CANCELLED")
WON = {"approve": DECISIONS[0], "edit": DECISIONS[0], "reject": DECISIONS[1], "cancel": DECISIONS[2]}


@pytest.mark.parametrize("rival", ["approve", "reject", "cancel", "edit"])
def test_of_an_approval_and_its_rival_one_takes_the_row(rival: str, long: bool, tally: Tell) -> None:
    with homes.folder() as folder:
        before = homes.make(folder / "before", policy="require_approval")
        assert workers.run(before, "start", "pay").code == 0
        for number in range(2000 if long else 50):
            home = homes.copy(before, folder / str(number))
            tally(f"{_race(home, rival)} won", 1)


def _race(home: Path, rival: str) -> str:
    """Which of the two verbs took the row."""
    [run], [call] = facts.read(home).runs, facts.read(home).rows
    words = ("approve", call, "--arguments", "edited.json") if rival == "edit" else (rival, run if rival == "cancel" else call)
    first, second = workers.together(home, ("approve", call), words)
    left = facts.read(home)
    taken = [event.type for event in left.events if event.call == call and event.type in DECISIONS]
    if taken == [WON["approve"], WON["cancel"]]:
        taken = taken[:1]  # the cancel stopped what had been started
    assert len(taken) == 1, f"{taken}: {first} {second}"
    facts.nothing_doubled(home, left)
    facts.nothing_lost(left)
    started = left.count("TOOL_INVOCATION_STARTED", call=call)
    assert started == (taken == [WON["approve"]]) and homes.effects(home)[call] <= started
    if rival == "cancel":
        _cancelled(home, call, left, taken[0])
        return "approve" if taken[0] == WON["approve"] else "cancel"
    assert sorted((first.code, second.code)) == [0, 5], (first, second)
    lost = first if first.code == 5 else second
    assert lost.error["kind"] == "claim_lost", lost
    won = "approve" if first.code == 0 else rival
    assert taken == [WON[won]]
    assert left.count("TOOL_INVOCATION_SUPERSEDED", call=call) == (won == "edit")
    return won


def _cancelled(home: Path, call: str, left: facts.Facts, taken: str) -> None:
    """A cancel always takes effect; a call that was faster has run to its end, or is in doubt and listed."""
    [run] = left.runs.values()
    assert run.status == "CANCELLED" and not left.attempts
    others = {other for other, row in left.rows.items() if row.origin != "OUTCOME_UNKNOWN"}
    assert not others, f"open rows of a cancelled run: {others}"
    if taken == WON["approve"]:
        settled = left.outcomes.get(call) == "succeeded"
        # one that was stopped before its spawn has both: a late result, and with no doubt left a cancelled call
        late, ended = left.count("TOOL_INVOCATION_LATE_RESULT", call=call), left.count(WON["cancel"], call=call)
        assert late <= 1 and ended <= 1 and (not (late and ended) or homes.effects(home)[call] == 0)
        assert settled or late or ended or left.rows[call].origin == "OUTCOME_UNKNOWN"
        assert not settled or homes.effects(home)[call] == 1


AGENT = 'schema = 1\nid = "pay"\n[[steps]]\nid = "clerk"\ntype = "agent"\nagent = "clerk"\n'
CALL = '{{ type = "tool_invocation", capability = "ledger.pay", arguments = {{ to = "{}" }} }}'


def test_of_five_calls_that_start_at_once_as_many_pass_as_the_limit_allows(long: bool, tally: Tell) -> None:
    calls = ", ".join(CALL.format(name) for name in ("ann", "bob", "cid", "dan", "eve"))
    with homes.folder() as folder:
        before = homes.make(folder / "before", policy="require_approval", flow=AGENT, mode="sleep 0.2")
        (before / "script.toml").write_text(f"schema = 1\n[[turns]]\nordinal = 0\ncommands = [{calls}]\n[[turns]]\ncommands = []\n")
        file = before / "toolgate.toml"
        file.write_text(file.read_text().replace("schema = 1\n", "schema = 1\n[limits]\ncalls_per_run = 3\n", 1))
        assert workers.run(before, "start", "pay").code == 0
        waiting = list(facts.read(before).rows)
        assert len(waiting) == 5
        for number in range(200 if long else 5):
            home = homes.copy(before, folder / str(number))
            workers.together(home, *(("approve", call) for call in waiting))
            left = facts.read(home)
            assert len(homes.effects(home)) == sum(homes.effects(home).values()) == left.count("TOOL_INVOCATION_STARTED") == 3
            refused = [event.payload["code"] for event in left.events if event.type == "TOOL_INVOCATION_DENIED"]
            assert refused == ["limit_exceeded"] * 2 and {row.origin for row in left.rows.values()} == {"EXECUTION_FAILED"}
            facts.nothing_lost(left)
            tally("limits held", 1)
