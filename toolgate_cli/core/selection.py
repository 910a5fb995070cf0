"""Which of the tools that an agent may call it is shown, where they are many: what a model chose, or what counts where it did not.

A selection only narrows, and grants and denies nothing: what may be shown is for `exposure`, what may run for the gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from . import patterns
from .config import Selection
from .types import Json
from .values import NamedTuple

Action = Literal["selected", "throw", "always_include", "all"]
Code = Literal["chosen", "no_answer", "cut_off", "not_json", "not_names", "unknown_names"]

WHY: dict[Code, str] = {
    "chosen": "",
    "no_answer": "there is no answer",
    "cut_off": "its answer did not come to its end",
    "not_json": "its answer is not JSON",
    "not_names": "its answer is not a list of names",
    "unknown_names": "its answer names none of the tools",
}


class Choice(NamedTuple):
    """What a selector is asked for before the turn of that number. `exposed`: all that the agent may be shown, in the order of the file;
    `always`: those of them that it is shown whatever is chosen; `most`: how many count beside them."""

    turn: int
    exposed: tuple[str, ...]
    always: tuple[str, ...]
    most: int
    on_failure: Literal["throw", "always_include", "all"]

    @property
    def open(self) -> tuple[str, ...]:
        """What there is to choose from."""
        return tuple(name for name in self.exposed if name not in self.always)

    @property
    def schema(self) -> Json:
        """The answer, as JSON Schema."""
        names: Json = {"type": "string", "enum": list(self.open)}
        return {"type": "array", "items": names, "maxItems": self.most, "description": "Names of tools, the most useful first."}


class Selected(NamedTuple):
    """`tools`: what is shown, in the order of the file; `unknown`: how many names were none of what there was to choose from, `over`: how
    many were too many; neither is shown."""

    tools: tuple[str, ...]
    action: Action
    code: Code
    unknown: int = 0
    over: int = 0


def choice(selection: Selection | None, exposed: Sequence[str], turn: int) -> Choice | None:
    """None: there is nothing to choose, so nobody is asked, and all that is exposed is shown."""
    if selection is None or len(exposed) <= selection.max_tools:
        return None
    always = tuple(name for name in exposed if any(patterns.matches(pattern, name) for pattern in selection.always_include))
    made = Choice(turn, tuple(exposed), always, selection.max_tools, selection.on_failure)
    return made if made.open else None


def judge(choice: Choice, answer: Json) -> Selected:
    """What comes of an answer: a list of names, by itself or as the output of one `complete`; {"unparsed": its text} is none. A name
    counts only if it is exactly one that was to be chosen from, and an empty list is a choice like any other."""
    if isinstance(answer, dict) and set(answer) == {"unparsed"}:
        return failed(choice, "not_json")
    if isinstance(answer, list) and len(answer) == 1 and isinstance(answer[0], dict) and answer[0].get("type") == "complete":
        answer = answer[0].get("output")
    if not isinstance(answer, list) or not all(isinstance(name, str) for name in answer):
        return failed(choice, "not_names")
    named = dict.fromkeys(str(name) for name in answer)
    known = [name for name in named if name in choice.exposed]
    if named and not known:
        return failed(choice, "unknown_names")._replace(unknown=len(named))
    wanted = [name for name in known if name not in choice.always]
    shown = {*choice.always, *wanted[: choice.most]}
    over = max(0, len(wanted) - choice.most)
    return Selected(tuple(name for name in choice.exposed if name in shown), "selected", "chosen", len(named) - len(known), over)


def failed(choice: Choice, code: Code) -> Selected:
    """The same whatever went wrong: what the operator wrote for it."""
    shown = {"throw": (), "always_include": choice.always, "all": choice.exposed}
    return Selected(shown[choice.on_failure], choice.on_failure, code)
