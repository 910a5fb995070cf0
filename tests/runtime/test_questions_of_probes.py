"""A probe is asked in no other world than the one that its question is of, and not when the time of its run is over (I5)."""

from __future__ import annotations

import pytest

from toolgate_cli.core import durations
from toolgate_cli.core.verdict import probe_of
from toolgate_cli.core.world import Needs, Probe, World
from toolgate_cli.runtime import gate
from toolgate_cli.runtime.engine import Engine

from . import texts
from .edits import stored
from .kit import Home

TOOL = {"ask.send": texts.tool("ask.send", more='[tools."ask.send".precheck]\nargv = ["true"]\n')}


def question(home: Home) -> tuple[Engine, Probe]:
    home.write(texts.operator(TOOL, more='[context]\ndeadline = "10s"\n'))
    run = home.start("ask")
    engine = home.desk()._engine()
    engine.prepare(Needs(("ask.send",), files=True))
    home.tools.asked.clear()
    return engine, probe_of(stored(home, home.row(run)), "precheck", engine.world.ready["ask.send"], home.run(run).created_at)


def without_the_tool(world: World) -> World:
    tools = {name: tool for name, tool in world.config.tools.items() if name != "ask.send"}
    return world._replace(config=world.config._replace(tools=tools))


def another_definition(world: World) -> World:
    return world._replace(ready={"ask.send": world.ready["ask.send"]._replace(digest="ab" * 32)})


WORLDS = {
    "the tool is gone": without_the_tool,
    "it is not ready": lambda world: world._replace(ready={}),
    "it is another one": another_definition,
}


@pytest.mark.parametrize("which", WORLDS)
def test_a_question_about_another_tool_is_not_asked(quick: Home, which: str) -> None:
    engine, probe = question(quick)
    assert gate.ask(engine.ports, probe, WORLDS[which](engine.world)) is None and quick.tools.asked == []


def test_a_question_under_files_that_have_changed_is_not_asked(quick: Home) -> None:
    engine, probe = question(quick)
    quick.write(texts.operator(TOOL))
    assert gate.ask(engine.ports, probe, engine.world) is None and quick.tools.asked == []


class Still:
    """A clock at that moment."""

    def __init__(self, at: str) -> None:
        self._at = at

    def now(self) -> str:
        return self._at


@pytest.mark.parametrize(("seconds", "asked"), [(9.0, 1), (10.0, 0), (11.0, 0)])
def test_from_the_deadline_of_its_run_on_it_is_not_asked(quick: Home, seconds: float, asked: int) -> None:
    engine, probe = question(quick)
    still = Still(durations.later(probe.since, seconds))
    answer = gate.ask(engine.ports._replace(clock=still), probe, engine.world)  # type: ignore[arg-type]  # only looked at
    assert answer is not None and len(quick.tools.asked) == asked and ("deadline" in answer.message) is not bool(asked)
