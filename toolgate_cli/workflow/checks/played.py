"""What a model plays from files of the home: their defects, and tools that it will ask for in vain; all are warnings."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ...core import patterns
from ...core.config import Config
from ...core.fields import Defect
from ...runtime.plugs import Asked
from ..issues import Issues, meant, tell
from ..kinds import Kinds
from ..reading import read_inside

Told = tuple[tuple[str, str], ...]  # (message, hint)


def warnings(config: Config, kinds: Kinds, home: str) -> Told:
    """Of every model whose adapter can say it."""
    found: dict[tuple[str, str], None] = {}
    for name, model in config.models.items():
        adapter = kinds.model(model.adapter)
        check = cast("Callable[[object, str], tuple[tuple[str, Defect], ...]]", getattr(adapter, "check", _nothing))
        asks = cast("Callable[[object, str], tuple[Asked, ...]]", getattr(adapter, "asks", _nothing))
        issues: dict[str, Issues] = {}
        for file, defect in check(model.fields, home):
            if defect.path:
                issues.setdefault(file, Issues()).warn(*defect)
            else:  # of the file as a whole, which may be none that can be read
                found[f"{file}: {defect.text}", defect.hint] = None
        for asked in asks(model.fields, home):
            _look(asked, name, config, issues.setdefault(asked.file, Issues()))
        for file, noted in issues.items():
            found |= dict.fromkeys(tell(file, read_inside(home, file).data.decode(), noted.warnings))
    return tuple(found)


def _nothing(_fields: object, _home: str) -> tuple[()]:
    return ()


def _look(asked: Asked, model: str, config: Config, issues: Issues) -> None:
    agents = [agent for agent in config.agents.values() if agent.model == model]
    if asked.agent is not None:
        agents = [agent for agent in agents if agent.name == asked.agent]
        if not agents:
            issues.warn(asked.path, f"no agent {asked.agent} has the model {model}", meant(asked.agent, config.agents))
    if asked.capability not in config.tools:
        issues.warn(asked.path, f"there is no tool {asked.capability}", meant(asked.capability, config.tools))
    elif agents and not any(patterns.matches(pattern, asked.capability) for agent in agents for pattern in agent.tools):
        names = " or ".join(agent.name for agent in agents)
        issues.warn(asked.path, f"the agent {names} may not call {asked.capability}", f"agents.{agents[0].name}.tools says what it may")
