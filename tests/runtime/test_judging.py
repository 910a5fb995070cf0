"""A verdict holds for the transaction that reached it, and for the world that it was reached in (I3)."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core.config import Rule
from toolgate_cli.core.person import SYSTEM
from toolgate_cli.core.records import Call
from toolgate_cli.core.verdict import Park, Question, Start, Verdict, evaluate
from toolgate_cli.core.world import Needs
from toolgate_cli.runtime import gate
from toolgate_cli.runtime.unit import write

from . import texts
from .kit import Home

CALL = Call("c1", 1, "r1", "s", "free.send", "{}", "e" * 64, "k1", None, None, None, None, "ann", "2026-01-31T12:00:00.000Z")
ASKED = Question(CALL, "free", 0)


def test_a_call_that_comes_in_and_starts_at_once_is_judged_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts: list[Verdict] = []

    def judged(*asked: Any) -> Verdict:
        verdicts.append(evaluate(*asked))
        return verdicts[-1]

    monkeypatch.setattr(gate, "evaluate", judged)
    home.write(free=texts.FLOWS["free"])
    home.desk().start("free", {}, {})
    assert [type(verdict) for verdict in verdicts] == [Needs, Start] and len(home.tools.starts) == 1


def test_another_world_another_question_and_another_transaction_are_judged_anew(home: Home) -> None:
    ports = home.desk()._ports
    world = ports.files.prepare(ports.files.world(), Needs(("free.send",), ("free.send",)))
    strict = world._replace(config=world.config._replace(policy=world.config.policy._replace(rules=(Rule("no", "deny"),))))
    with write(ports, SYSTEM) as unit:
        for _ in range(2):
            assert isinstance(gate.judge(unit, ASKED, world), Start)
            assert isinstance(gate.judge(unit, ASKED, strict), Park)
            assert isinstance(gate.judge(unit, ASKED._replace(wary=True), world), Park)
    home.write(texts.operator(rules={"free": ""}))
    with write(ports, SYSTEM) as unit:
        assert gate.judge(unit, ASKED, world) == Needs(files=True)


def test_a_deadline_is_not_judged_by_a_clock_that_is_behind(home: Home) -> None:
    home.write(texts.operator(more='[context]\ndeadline = "1h"\n'))
    home.clock.pass_time(86_400)
    home.start("fails")  # the last event is of a day later
    ports = home.desk()._ports
    world = ports.files.prepare(ports.files.world(), Needs(("free.send",), ("free.send",)))
    asked = ASKED._replace(since=ports.clock.now())
    with write(ports, SYSTEM) as unit:
        assert isinstance(gate.judge(unit, asked, world), Start)
    home.clock.behind = 600
    with write(ports, SYSTEM) as unit:
        verdict = gate.judge(unit, asked, world)
        assert isinstance(verdict, Park) and verdict.code == "limit_exceeded" and "the clock is behind" in verdict.reason
