"""What a model plays from files of the home: their defects, and turns that would fail a run or are never played; all are warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from ...core import patterns
from ...core.config import Config
from ...core.fields import Defect
from ...core.types import Json
from ...runtime.plugs import Played
from ..issues import Issues, meant, tell
from ..kinds import Kinds
from ..positions import KeyPath
from ..reading import Table, read_inside

Told = tuple[tuple[str, str], ...]  # (message, hint)
OfTurn = Callable[[Sequence[Json]], Iterable[Defect]]


def warnings(config: Config, kinds: Kinds, home: str, flows: Iterable[Table] | None) -> Told:
    """Of every model whose adapter can say it. `flows`: all workflows of the home; None: not all can be read."""
    steps = None if flows is None else {str(raw.get("id")): _steps(raw) for raw in flows}
    found: dict[tuple[str, str], None] = {}
    for name, model in config.models.items():
        adapter = kinds.model(model.adapter)
        check = cast("Callable[[object, str], tuple[tuple[str, Defect], ...]]", getattr(adapter, "check", _nothing))
        plays = cast("Callable[[object, str], tuple[Played, ...]]", getattr(adapter, "plays", _nothing))
        issues: dict[str, Issues] = {}
        for file, defect in check(model.fields, home):
            if defect.path:
                issues.setdefault(file, Issues()).warn(*defect)
            else:  # of the file as a whole, which may be none that can be read
                found[f"{file}: {defect.text}", defect.hint] = None
        for turn in plays(model.fields, home):
            _look(turn, name, config, kinds, issues.setdefault(turn.file, Issues()))
            if steps is not None:
                _look_for_step(turn, steps, issues[turn.file])
        for file, noted in issues.items():
            found |= dict.fromkeys(tell(file, read_inside(home, file).data.decode(), noted.warnings))
    return tuple(found)


def _nothing(_fields: object, _home: str) -> tuple[()]:
    return ()


def _steps(raw: Table) -> set[str]:
    blocks = raw.get("blocks")
    sequences = [raw.get("steps"), *(blocks.values() if isinstance(blocks, dict) else ())]
    return {str(step.get("id")) for steps in sequences if isinstance(steps, list) for step in steps if isinstance(step, dict)}


def _look(turn: Played, model: str, config: Config, kinds: Kinds, issues: Issues) -> None:
    path: KeyPath = (*turn.path, "commands")
    for kind in kinds.step_kinds():
        for defect in cast("OfTurn", getattr(kinds.step_kind(kind), "of_turn", _sound))(turn.commands):
            issues.warn((*path, *defect.path), defect.text, defect.hint)
    for at, command in enumerate(turn.commands):
        if isinstance(command, dict) and command.get("type") == "tool_invocation" and "capability" in command:
            _look_for_tool(str(command["capability"]), turn.agent, (*path, at), model, config, issues)


def _sound(_turn: Sequence[Json]) -> tuple[()]:
    return ()


def _look_for_tool(capability: str, named: str | None, path: KeyPath, model: str, config: Config, issues: Issues) -> None:
    agents = [agent for agent in config.agents.values() if agent.model == model]
    if named is not None:
        agents = [agent for agent in agents if agent.name == named]
        if not agents:
            issues.warn(path, f"no agent {named} has the model {model}", meant(named, config.agents))
    if capability not in config.tools:
        issues.warn(path, f"there is no tool {capability}", meant(capability, config.tools))
    elif agents and not any(patterns.matches(pattern, capability) for agent in agents for pattern in agent.tools):
        names = " or ".join(agent.name for agent in agents)
        issues.warn(path, f"the agent {names} may not call {capability}", f"agents.{agents[0].name}.tools says what it may")


def _look_for_step(turn: Played, steps: Mapping[str, set[str]], issues: Issues) -> None:
    """A turn that no step can ask for; of a path only its last step is looked for."""
    if turn.workflow is not None and turn.workflow not in steps:
        issues.warn((*turn.path, "workflow"), f"there is no workflow {turn.workflow}: it is never played", meant(turn.workflow, steps))
        return
    known = steps[turn.workflow] if turn.workflow is not None else set().union(*steps.values())
    if turn.step is not None and (last := turn.step.rpartition("/")[2]) not in known:
        where = f"the workflow {turn.workflow}" if turn.workflow is not None else "no workflow"
        said = f"{where} has no step {last}" if turn.workflow is not None else f"{where} has a step {last}"
        issues.warn((*turn.path, "step"), f"{said}: it is never played", meant(last, known))
