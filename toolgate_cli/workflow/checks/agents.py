"""What agents and models must hold: an agent names a model and tools that exist."""

from __future__ import annotations

from collections.abc import Mapping

from ...core import patterns
from ...core.errors import ToolgateError
from ...core.types import Json
from .. import models, shapes
from ..issues import Issues, meant
from ..kinds import Kinds
from ..names import check_name, is_pattern
from ..outside import Outside
from ..positions import KeyPath
from ..servers import meant_tool
from .marks import check_marks


def check_model(name: str, raw: Mapping[str, Json], kinds: Kinds, issues: Issues) -> None:
    path: KeyPath = ("models", name)
    check_name(name, "a model", path, issues)
    adapter = raw.get("adapter")
    if not isinstance(adapter, str):
        of_any = {key for known in kinds.models() for key in models.names(kinds.model(known).Fields)}
        models.check(models.Fit((shapes.Adapter,), tuple(key for key in raw if key in of_any)), dict(raw), path, issues)
    elif adapter not in kinds.models():
        issues.add((*path, "adapter"), f"there is no adapter {adapter}", meant(adapter, kinds.models()))
    else:
        fields = kinds.model(adapter).Fields
        if models.check(models.Fit((shapes.Adapter, fields)), dict(raw), path, issues):
            check_marks(fields, raw, path, issues)


class Agents:
    """`tools`, `names_of_models` and `servers`: all that are declared."""

    def __init__(
        self,
        tools: frozenset[str],
        names_of_models: frozenset[str],
        outside: Outside,
        issues: Issues,
        servers: frozenset[str] = frozenset(),
    ) -> None:
        self._servers = servers
        self._tools = tools
        self._models = names_of_models
        self._outside = outside
        self._issues = issues

    def check(self, name: str, raw: Mapping[str, Json]) -> bool:
        """Whether the table has the right shape."""
        path: KeyPath = ("agents", name)
        check_name(name, "an agent", path, self._issues)
        if not models.check(models.Fit((shapes.Agent,)), dict(raw), path, self._issues):
            return False
        check_marks(shapes.Agent, raw, path, self._issues)
        if raw["model"] not in self._models:
            self._issues.add((*path, "model"), f"there is no model {raw['model']}", meant(raw["model"], self._models))
        self._check_tools(raw.get("tools"), (*path, "tools"))
        self._check_prompt(raw, path)
        return True

    def _check_tools(self, wanted: Json, path: KeyPath) -> None:
        for number, pattern in enumerate(wanted if isinstance(wanted, list) else ()):
            if isinstance(pattern, str) and is_pattern(pattern) and not any(patterns.matches(pattern, tool) for tool in self._tools):
                text = "no tool matches this pattern" if "*" in pattern else f"there is no tool {pattern}"
                self._issues.add((*path, number), text, meant_tool(pattern, self._tools, self._servers))

    def _check_prompt(self, raw: Mapping[str, Json], path: KeyPath) -> None:
        given = [key for key in ("prompt", "prompt_file") if key in raw]
        if len(given) != 1:
            self._issues.add(path, "prompt and prompt_file cannot both be given" if given else "needs a prompt or a prompt_file")
        elif given == ["prompt_file"]:
            try:
                self._outside.text(str(raw["prompt_file"]))
            except ToolgateError as error:
                self._issues.add((*path, "prompt_file"), error.message, error.hint)
