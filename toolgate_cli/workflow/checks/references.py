"""What a workflow may refer to: a name that can never have a value is an error when the file is loaded, not in the middle of a run."""

from __future__ import annotations

from collections.abc import Collection

from ...core import references
from ...core.errors import ToolgateError
from ...core.values import NamedTuple
from ..issues import Issues, meant
from ..positions import KeyPath
from .paths import Paths


class Scope(NamedTuple):
    """The inputs of the workflow, the tools of the home, and how the steps of the workflow are called."""

    inputs: Collection[str]
    tools: Collection[str]
    steps: Paths

    def check_text(self, text: str, path: KeyPath, issues: Issues) -> None:
        """Every `${...}` in a text."""
        try:
            names = references.names(text)
        except ToolgateError as error:
            issues.add(path, error.message, error.hint)
            return
        for name in names:
            self.check_name(name, path, issues)

    def check_key(self, key: str, path: KeyPath, issues: Issues, *, outputs: bool) -> None:
        """A context key that is read as a key, where no text is filled: a pointer or a reference is never one. `outputs`: the output of a
        step may be named as well."""
        bare, pointed, pointer = key.removeprefix("${").removesuffix("}").partition("#")
        if pointed:
            last = pointer.rpartition("/")[2] or "value"
            issues.add(
                path, "a key, no pointer", f'an assign step before it gives that a key: set = {{ {last} = "${{{bare}#{pointer}}}" }}'
            )
        elif key != bare:
            issues.add(path, "a key, no reference", f'write "{bare}"')
        elif key.startswith("steps.") and not outputs:
            hint = f'an assign step before it gives that a key: set = {{ value = "${{{bare}}}" }}'
            issues.add(path, "a key: the output of a step is none", hint)
        else:
            self.check_name(key, path, issues)

    def check_name(self, name: str, path: KeyPath, issues: Issues) -> None:
        """A context key that is read."""
        root, _, rest = name.partition(".")
        rest = rest.partition("#")[0]
        if root == "inputs" and rest not in self.inputs:
            issues.add(path, f"there is no input {rest}", meant(rest, self.inputs))
        elif root == "tool" and rest not in self.tools and rest.removesuffix(".error") not in self.tools:
            issues.add(path, f"there is no tool {rest}", meant(rest, self.tools))
        elif root == "steps" and not self.steps.has(rest):
            issues.add(path, f"there is no step {rest}", self.steps.meant(rest))
        elif root in ("args", "env", "secret") and rest:
            issues.add(path, f"{root}. cannot be used in a workflow", "it exists in toolgate.toml only")
