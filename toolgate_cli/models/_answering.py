"""A native answer as a turn: its function calls, in their order, are commands; its text is said, or is why a tool is called."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.secrets import NONE, Secrets
from ..core.soundness import clean
from ..core.turns import Completion, TurnRequest
from ..core.types import Json
from ..core.values import NamedTuple
from ._offering import COMMANDS, meanings

MOST = 128  # calls in one answer
_LABEL = 200  # characters of an id that a model gave to a call
_RATIONALE = 4000  # characters, for it stands on every card of the turn
_LIKE_COMMANDS = re.compile(r"\[\s*\{")


class Called(NamedTuple):
    """A function that the model called. `arguments`: JSON text as it wrote it, or an object; `label`: its own id for the call, anything."""

    name: str
    arguments: str | dict[str, Json]
    label: object = None


Part: TypeAlias = "str | Called"


def turn(parts: Sequence[Part], request: TurnRequest, secrets: Secrets = NONE) -> Completion:
    """The turn without its counts. ToolgateError("invalid") where the value of a secret is in what is cut here: half a value would be found
    by nobody later. Arguments of a tool that are no strict JSON object go on as they were written: the gate judges them.
    A command whose arguments cannot be read makes the whole turn unreadable."""
    secrets.refuse("the model's turn", *(part if isinstance(part, str) else str(part.label) for part in parts))
    calls = sum(isinstance(part, Called) for part in parts)
    if not calls:
        return _plain("\n\n".join(part for part in parts if isinstance(part, str)), request)
    if calls > MOST:
        return Completion(fault=f"the model's answer has {calls} calls, more than {MOST}: nothing of it is done")
    known = meanings(request)
    commands: list[Json] = []
    words: list[str] = []
    why: str | None = None  # the text before the calls that come now
    for part in parts:
        if isinstance(part, str):
            words += [clean(part.strip())] if part.strip() else []
        elif part.name in COMMANDS:  # which no capability is spelled like
            _say(commands, words, request)
            words, why = [], None
            try:
                commands.append(_command(part))
            except ToolgateError:
                return Completion(text=clean(str(part.arguments)))
        else:
            why = "\n\n".join(words) if words else why
            words = []
            commands.append(_invocation(part, known, why))
    _say(commands, words, request)
    return Completion(commands)


def _plain(text: str, request: TurnRequest) -> Completion:
    """Text alone: commands as JSON, as a script has them, or else what the model says."""
    text = clean(text.strip())
    if not text or _is_meant_as_commands(text) or "say" not in request.commands:
        return Completion(text=text)
    return Completion([{"type": "say", "message": text}])


def _is_meant_as_commands(text: str) -> bool:
    """A list of objects with a `type`; what begins like one and cannot be read is none that may pass as prose."""
    if not _LIKE_COMMANDS.match(text):
        return False
    try:
        found = canonical.parse(text)
    except ToolgateError:
        return True
    return isinstance(found, list) and any(isinstance(entry, dict) and "type" in entry for entry in found)


def _say(commands: list[Json], words: list[str], request: TurnRequest) -> None:
    """Text beside calls; an agent that may not say anything has only thought aloud."""
    if words and "say" in request.commands:
        commands.append({"type": "say", "message": "\n\n".join(words)})


def _command(called: Called) -> Json:
    given: Json = called.arguments
    if isinstance(given, str):
        given = canonical.parse(given) if given.strip() else {}
    if not isinstance(given, dict) or "type" in given:
        return {"type": called.name, "arguments": given}  # no command has such a field, so the turn is refused by its name
    return {**given, "type": called.name}


def _invocation(called: Called, known: Mapping[str, str], why: str | None) -> Json:
    made: dict[str, Json] = {
        "type": "tool_invocation",
        "capability": known.get(called.name, clean(called.name)),
        "arguments": _arguments(called.arguments),
    }
    if why:
        made["rationale"] = why if len(why) <= _RATIONALE else f"{why[:_RATIONALE]}... (cut, {len(why)} characters)"
    if isinstance(called.label, str) and called.label:
        made["id"] = clean(called.label[:_LABEL])
    return made


def _arguments(given: str | dict[str, Json]) -> Json:
    if not isinstance(given, str):
        return given
    if not given.strip():
        return {}  # what many servers write where there are none
    try:
        found = canonical.parse(given)
    except ToolgateError:
        return clean(given)
    return found if isinstance(found, dict) else clean(given)
