"""What has to be true of a home after something went wrong in a command: nothing lost, nothing doubled, and a way on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from . import driving, facts, homes, workers
from .scenarios import Ready, Scenario

Tell = Callable[[str, int], None]


def check(before: Ready, scenario: Scenario, home: Path, at: int, tally: Tell) -> None:
    """What is left holds together, is told to whoever looks, and can be brought to an end."""
    left = facts.read(home)
    facts.nothing_doubled(home, left)
    facts.nothing_lost(left)
    _decided(before, scenario, left)
    _listed(home, left, tally)
    driven = [id for id, run in left.runs.items() if run.status not in facts.OVER]
    for id in driven:
        driving.to_the_end(home, id, prefer=("recover", "continue")[at % 2])
    _sound(home)
    tally("runs driven to an end", len(driven))


def _decided(before: Ready, scenario: Scenario, left: facts.Facts) -> None:
    """The decision is on record, or what it was about is still open."""
    if before.run is None:
        return
    was = facts.read(before.home)
    assert set(left.runs) >= set(was.runs)
    said = left.count(scenario.decision, run=before.run) - was.count(scenario.decision, run=before.run)
    assert said in (0, 1), f"{scenario.decision} was recorded {said} times"
    if not said and before.target is not None:
        version = was.rows[before.target].version if before.target in was.rows else None
        still = left.rows.get(before.target)
        assert before.target in left.attempts or (still and version in (None, still.version)), "the row is gone and nothing says why"
    if not said and before.target is None:
        assert left.runs[before.run].status == was.runs[before.run].status


def _listed(home: Path, left: facts.Facts, tally: Tell) -> None:
    """Whoever looks is told of every start without an end; nothing is left that only a living process could end."""
    expected = facts.doubts(left)
    if not expected and not left.attempts:
        return
    listed = {row["id"] for row in workers.run(home, "pending", "list").items if row["origin"] == "OUTCOME_UNKNOWN"}
    assert listed >= expected, f"not listed as OUTCOME_UNKNOWN: {expected - listed}"
    tally("doubts listed", len(expected))
    seen = facts.read(home)
    assert not seen.attempts and not seen.unended()
    facts.nothing_lost(seen)


def _sound(home: Path) -> None:
    """At the end: the log holds together, the file is sound, what is said to be done took effect once."""
    ended = facts.read(home)
    facts.nothing_doubled(home, ended)
    facts.nothing_lost(ended)
    facts.no_turn_twice(ended)
    assert all(run.status in facts.OVER for run in ended.runs.values())
    verified = workers.run(home, "audit", "verify")
    assert verified.code == 0 and verified.answer["ok"], verified
    facts.intact(home)
    unsafe = {call for (call, _), event in ended.starts().items() if event.payload["effect"] in ("unsafe", "reconcilable")}
    twice = Counter({call: n for call, n in homes.effects(home).items() if call in unsafe and n > 1})
    flagged = {e.call for e in ended.events if e.payload.get("may_run_twice")}
    assert set(twice) <= flagged, f"took effect twice: {twice}"
