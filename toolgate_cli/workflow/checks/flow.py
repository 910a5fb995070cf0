"""The whole of a workflow file: known keys, known names, nothing that a run could only find out half-way through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, cast

from ...core import pointer
from ...core.config import Config
from ...core.fields import RESERVED_NAMES, Defect, Key, Names, Reads, When
from ...core.marks import Marked, held, marked
from ...core.tables import table
from ...core.types import Json
from .. import models, shapes
from ..document import check_values
from ..issues import Issues, meant
from ..kinds import Kinds
from ..names import check_name
from ..positions import KeyPath
from ..reading import Table
from ..servers import meant_tool
from .arguments import misfits, unfit
from .blocks import Use, check_blocks
from .data import check_data
from .forms import check_form
from .guards import check_guards
from .marks import check_mark
from .nested import Raws, check_nested, is_shared
from .paths import Paths
from .reach import check_reach
from .references import Scope
from .replays import check_replay
from .schemas import check_schema
from .steps import NOT_FILLED, told
from .tools import texts

if TYPE_CHECKING:
    from ...runtime.plugs import StepKind

Step = dict[str, Json]


def check_flow(raw: Table, config: Config, kinds: Kinds, raws: Raws) -> Issues:
    """`raws`: every workflow of the home by its id, this one among them."""
    issues = Issues()
    check_values(raw, issues)
    if not issues.errors:
        models.check(models.Fit((shapes.Workflow,)), raw, (), issues)
        _Flow(raw, config, kinds, is_shared(raw, raws), issues).check()
        check_nested(raw, raws, config, kinds, issues)
    return issues


class _Flow:
    """The tables may still have any shape: what has a wrong one was told, and is passed over."""

    def __init__(self, raw: Table, config: Config, kinds: Kinds, shared: bool, issues: Issues) -> None:
        self._config = config
        self._shared = shared
        self._kinds = kinds
        self._issues = issues
        self._raw = raw
        self._inputs, self._forms = _tables(raw, "inputs"), _tables(raw, "forms")
        self._blocks = _tables(raw, "blocks")
        self._sequences: dict[str, tuple[KeyPath, list[Json]]] = {"": (("steps",), _list(raw.get("steps")))}
        self._sequences |= {name: (("blocks", name), _list(steps)) for name, steps in self._blocks.items()}
        runs = {
            name: {str(step["id"]): self._runs(step) for step in steps if isinstance(step, dict) and "id" in step}
            for name, (_, steps) in self._sequences.items()
        }
        self._scope = Scope(self._inputs, config.tools, Paths(runs))

    def _runs(self, step: Step) -> list[str]:
        """The blocks that a step may run."""
        kind = step.get("type")
        if not isinstance(kind, str) or kind not in self._kinds.step_kinds():
            return []
        found = marked(self._kinds.step_kind(kind).Fields, step)
        return [each.text for each in found if isinstance(each.marker, Names) and each.marker.what == "block" and each.text in self._blocks]

    def check(self) -> None:
        if isinstance(self._raw.get("id"), str):
            check_name(str(self._raw["id"]), "a workflow", ("id",), self._issues)
        for name, fragment in self._inputs.items():
            self._check_input(name, fragment)
        for name, items in self._forms.items():
            check_name(name, "a form", ("forms", name), self._issues)
            check_form(_list(items), ("forms", name), self._issues)
        if not self._sequences[""][1] and isinstance(self._raw.get("steps"), list):
            self._issues.add(("steps",), "a workflow needs at least one step")
        uses = {name: self._check_sequence(name) for name in self._sequences}
        check_blocks(uses, self._issues)
        if not self._issues.errors:
            steps = told(self._sequences, self._forms, self._config, self._kinds)
            check_data(steps, check_reach(steps, self._issues), self._scope.inputs, self._shared, self._issues)

    def _check_input(self, name: str, fragment: Json) -> None:
        path: KeyPath = ("inputs", name)
        check_name(name, "an input", path, self._issues)
        if isinstance(fragment, dict) and check_schema(fragment, path, self._issues) and "default" in fragment:
            from ..validators import load

            for problem in load(fragment)(fragment["default"])[:1]:
                self._issues.add((*path, "default"), f"the default does not validate: {problem.told('')}")

    def _check_sequence(self, block: str) -> list[Use]:
        path, steps = self._sequences[block]
        if block:
            check_name(block, "a block", path, self._issues)
        ids: dict[str, int] = {}
        uses: list[Use] = []
        for number, step in enumerate(steps):
            if isinstance(step, dict):
                where = (*path, number)
                name = step.get("id")
                if isinstance(name, str) and ids.setdefault(name, number) != number:
                    self._issues.add((*where, "id"), f"a step of this sequence is called {name} already")
                uses += self._check_step(step, where, steps)
        return uses

    def _check_step(self, step: Step, path: KeyPath, siblings: list[Json]) -> list[Use]:
        name, kind = step.get("id"), step.get("type")
        if isinstance(name, str):
            check_name(name, "a step", (*path, "id"), self._issues)
        for where, text in texts({key: value for key, value in step.items() if key not in NOT_FILLED}, path):
            self._scope.check_text(text, where, self._issues)
        if shapes.CONDITIONS in step:
            check_guards(step[shapes.CONDITIONS], (*path, shapes.CONDITIONS), self._scope, self._issues)
        if not isinstance(kind, str) or kind not in self._kinds.step_kinds():
            if isinstance(kind, str):
                self._issues.add((*path, "type"), f"there is no step type {kind}", meant(kind, self._kinds.step_kinds()))
            of_any_kind = {key for known in self._kinds.step_kinds() for key in models.names(self._kinds.step_kind(known).Fields)}
            others = tuple(key for key in step if key in of_any_kind - {*models.names(shapes.Common)})
            models.check(models.Fit((shapes.Common,), (shapes.CONDITIONS, *others)), step, path, self._issues)
            return []
        fields, before = self._kinds.step_kind(kind).Fields, len(self._issues.errors)
        fits = models.check(models.Fit((shapes.Common, fields), (shapes.CONDITIONS,)), step, path, self._issues)
        wrong = {issue.path[len(path)] for issue in [*self._issues.errors][before:] if len(issue.path) > len(path)}
        right = {key: value for key, value in step.items() if key not in wrong}  # what one field lacks hides nothing of another
        if fits:
            self._check_together(self._kinds.step_kind(kind), step, path)
        uses: list[Use] = []
        for found in marked(fields, right, path):
            if isinstance(found.marker, Names) and found.marker.what == "earlier step":
                check_replay(found, siblings[: int(path[-1])], self._kinds, self._issues)
            elif isinstance(found.marker, Names) and found.marker.what == "workflow":
                pass  # see check_nested
            elif isinstance(found.marker, Names):
                uses += self._check_named(found.marker, found, siblings)
            elif isinstance(found.marker, Reads) and not (found.marker.any_word and found.text == "*"):
                self._scope.check_key(found.text, found.path, self._issues, outputs=found.marker.outputs)
            else:
                check_mark(found, self._issues)
                self._warn_of_clash(found)
        if isinstance(right.get("tool"), str) and isinstance(right.get("arguments", {}), dict):
            self._warn_of_arguments(str(right["tool"]), cast("Step", right.get("arguments", {})), path)
        return uses

    def _warn_of_arguments(self, tool: str, given: Step, path: KeyPath) -> None:
        """Keys are written as they are, so what the schema says of them is known before there is a call."""
        if tool not in self._config.tools:
            return
        forbidden, lacking = unfit(self._config.tools[tool].schema, given)
        for found in forbidden:
            self._issues.warn(
                (*path, "arguments", found.token), f"{tool} takes no argument {found.token}", found.instead().replace("/", "")
            )
        for name in lacking:
            self._issues.warn((*path, "arguments"), f"{tool} needs the argument {name}: without it the call is refused")
        for problem in misfits(self._config.tools[tool].schema, given):
            said = f"{tool} does not take this value ({problem.code} at {problem.pointer}): the call is refused"
            self._issues.warn((*path, "arguments", *pointer.tokens(problem.pointer)[:1]), said)

    def _check_together(self, kind: StepKind, step: Step, path: KeyPath) -> None:
        """What is no matter of single texts: conditions, JSON Schemas, and fields that depend on each other."""
        for found in held(kind.Fields, step, path):
            if isinstance(found.marker, When):
                check_guards(found.value, found.path, self._scope, self._issues)
            else:
                check_schema(found.value, found.path, self._issues)
        check: Callable[[object], Iterable[Defect]] | None = getattr(kind, "check", None)
        for defect in check(table(kind.Fields, step)) if check is not None else ():
            self._issues.add((*path, *defect.path), defect.text, defect.hint)

    def _check_named(self, marker: Names, found: Marked, siblings: list[Json]) -> list[Use]:
        """A name must be that of something; the blocks among them are given back."""
        if marker.or_words and found.text in RESERVED_NAMES:
            return []
        known: Mapping[str, object] = {
            "block": self._blocks,
            "form": self._forms,
            "agent": self._config.agents,
            "tool": self._config.tools,
            "step": {str(step["id"]): step for step in siblings if isinstance(step, dict) and "id" in step},
        }[marker.what]
        if found.text in known:
            return [Use(found.text, found.path)] if marker.what == "block" else []
        words = [*known, *(RESERVED_NAMES if marker.or_words else ())]
        servers = self._config.servers if marker.what == "tool" else ()
        self._issues.add(found.path, f"there is no {marker.what} {found.text}", meant_tool(found.text, words, servers))
        return []

    def _warn_of_clash(self, found: Marked) -> None:
        form = found.text.partition(".")[0]
        if isinstance(found.marker, Key) and "." in found.text and form in self._forms:
            self._issues.warn(found.path, f"answers of the form {form} are written to the same key")


def _tables(raw: Table, name: str) -> dict[str, Json]:
    held = raw.get(name)
    return held if isinstance(held, dict) else {}


def _list(held: Json) -> list[Json]:
    return held if isinstance(held, list) else []
