"""A conversation as it is told to a model: what the step may read, then every past turn with an answer to each of its calls."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import canonical
from ..core.turns import Exchange, TurnRequest
from ..core.types import Json
from ..core.values import NamedTuple
from ._offering import spelled

GO_ON = "Go on."


class Past(NamedTuple):
    """A call of a past turn and its answer. `id` is ours: what a model sent as one may be there twice, or be empty."""

    id: str
    name: str
    arguments: dict[str, Json]
    result: str


class Round(NamedTuple):
    """One past turn: what the model said and called, and what else it was told then. Where there are no calls, `after` is not empty."""

    text: str
    calls: tuple[Past, ...]
    after: str


def opening(request: TurnRequest) -> str:
    """The first words to the model: the values that the step reads."""
    if not request.context:
        return "Begin."
    return "\n".join(f"{canonical.encode(key)}: {text}" for key, text in request.context.items())


def rounds(request: TurnRequest) -> tuple[Round, ...]:
    numbers = iter(range(1, 10**8))
    return tuple(_round(exchange, numbers) for exchange in request.history)


def _round(exchange: Exchange, numbers: Iterator[int]) -> Round:
    commands = exchange.commands
    if not isinstance(commands, list):
        unparsed = commands.get("unparsed") if isinstance(commands, dict) else None
        return Round(unparsed if isinstance(unparsed, str) else canonical.encode(commands), (), _after(exchange.results))
    said: list[str] = []
    calls: list[Past] = []
    invoked = sum(isinstance(command, dict) and "call" in command for command in commands)
    results, heard = iter(exchange.results[:invoked]), iter(exchange.results[invoked:])
    for command in commands:
        if not isinstance(command, dict) or not isinstance(command.get("type"), str):
            said.append(canonical.encode(command))
        elif command["type"] == "say":
            said.append(str(command.get("message", "")))
        else:
            why = command.get("rationale")
            said += [why] if isinstance(why, str) and why not in said else []
            calls.append(_past(command, next(numbers), results, heard))
    left = (*results, *heard)
    return Round("\n\n".join(said), tuple(calls), _after(left) if left or not calls else "")


def _past(command: dict[str, Json], number: int, results: Iterator[str], heard: Iterator[str]) -> Past:
    id, kind = f"t{number:08d}", str(command["type"])
    if "call" in command:
        given = command.get("arguments", {})
        arguments: dict[str, Json] = given if isinstance(given, dict) else {"refused": given}
        return Past(id, spelled(str(command.get("capability"))), arguments, next(results, "no result"))
    own = {key: value for key, value in command.items() if key != "type"}
    return Past(id, kind, own, next(heard, "no answer") if kind in ("ask", "escalate") else "done")


def _after(heard: tuple[str, ...]) -> str:
    return "\n".join(heard) or GO_ON
