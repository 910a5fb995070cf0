"""A model that plays a script from the home: no key, no network, and nothing is guessed where the script is silent."""

from __future__ import annotations

from typing import Annotated

from ..core.errors import ToolgateError
from ..core.fields import Defect, Path
from ..core.turns import Completion, TurnRequest
from ..core.values import NamedTuple
from ..runtime.plugs import Played
from ._script import Entry, load, tell


class Fields(NamedTuple):
    """`script`: a TOML file of [[turns]], relative to the home."""

    script: Annotated[str, Path()]


def complete(fields: Fields, home: str, request: TurnRequest, _means: object = None) -> Completion:
    """The first entry that fits. Raises ToolgateError("failed") with the turn that none fits, ("invalid") for a malformed script."""
    entries, problems = load(home, fields.script)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise ToolgateError("invalid", tell(fields.script, problems[0]) + more, f"mend {fields.script}")
    for entry in entries:
        if _fits(entry, request):
            return Completion(entry.commands, entry.text, tokens_total=0)  # a script takes none
    wanted = f"workflow {request.workflow}, step {request.step}, agent {request.agent}, ordinal {request.ordinal}"
    raise ToolgateError("failed", f"{fields.script} has no turn for {wanted}", "add a [[turns]] entry that fits it")


def files(fields: Fields, _home: str) -> tuple[str, ...]:
    """Files of the home, relative to it, that belong to this model and so are no workflows."""
    return (fields.script,)


def check(fields: Fields, home: str) -> tuple[tuple[str, Defect], ...]:
    """Everything that is wrong with those files, each with its file."""
    return tuple((fields.script, problem) for problem in load(home, fields.script)[1])


def plays(fields: Fields, home: str) -> tuple[Played, ...]:
    """Every turn."""
    entries, _ = load(home, fields.script)
    return tuple(
        Played(
            fields.script, ("turns", number), entry.workflow, entry.step, entry.agent,
            entry.commands if isinstance(entry.commands, list) else (),
        )
        for number, entry in enumerate(entries)
    )  # fmt: skip


def _fits(entry: Entry, request: TurnRequest) -> bool:
    if entry.workflow not in (None, request.workflow) or entry.agent not in (None, request.agent):
        return False
    if entry.step not in (None, request.step, request.path) or entry.ordinal not in (None, request.ordinal):
        return False
    results = request.history[-1].raw if request.history else ()
    return entry.when_result_contains is None or any(entry.when_result_contains in result for result in results)
