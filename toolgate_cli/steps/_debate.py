"""Where an argument of two agents stands, and what is a reason for another round of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, cast

from ..core import canonical, untrusted
from ..core.types import Json
from ..core.values import NamedTuple
from ._commands import Command

Side = Literal["agent", "challenger"]
_SHORTEST = 12  # characters of a reason
_LEAST = 8  # letters of a reason beside the words that say nothing
_WORD = re.compile(r"\w+")
_SAYS_NOTHING = (
    "a again agree agreed an and another any argue argument be because but can continue could debate debating disagree discuss "
    "discussed discussing discussion do done dont else end for further go good has have i if is issue it its just keep let lets "
    "like longer matter maybe me more must my na need needed needs no none not nothing of on one open opinion or other our point "
    "preference reason reasons round rounds seems should so some something still sure talk talking that the there they thing "
    "things think this time to topic unclear unsure us vague vaguely want wants we why will with would yes yet you"
)
_NOTHING = frozenset(_SAYS_NOTHING.split())


class Debate(NamedTuple):
    """`said`: by round, what the agent and then the challenger said; `wants`: the agent asked for another round in this one; `defect`: what
    was wrong with the last answer, while its correction is asked for."""

    said: tuple[tuple[str, ...], ...] = ((),)
    wants: bool = False
    defect: str | None = None

    @property
    def round(self) -> int:
        return len(self.said)

    @property
    def side(self) -> Side:
        return "challenger" if self.said[-1] else "agent"

    def say(self, words: str, wants: bool) -> Debate:
        """The one whose turn it is has spoken."""
        said = (*self.said[:-1], (*self.said[-1], words))
        return Debate(said, self.wants or wants)

    def next_round(self) -> Debate:
        return Debate((*self.said, ()))

    def told(self) -> str:
        """Everything that was said in the rounds that are over, each as data."""
        over = [words for words in self.said if len(words) == 2]
        sides: tuple[Side, ...] = ("agent", "challenger")
        return "\n\n".join(
            untrusted.wrap(f"{side} in round {number}", "model", text)
            for number, words in enumerate(over, 1)
            for side, text in zip(sides, words, strict=True)
        )

    def memo(self) -> Mapping[str, Json]:
        kept: dict[str, Json] = {"argued": [list(words) for words in self.said], "wants": self.wants}
        return kept if self.defect is None else {**kept, "defect": self.defect}


def recall(memo: Mapping[str, Json]) -> Debate:
    """The argument that a memo holds; at its beginning it is empty."""
    if "argued" not in memo:
        return Debate()
    return Debate(
        tuple(tuple(words) for words in cast("list[list[str]]", memo["argued"])),
        bool(memo["wants"]),
        cast("str | None", memo.get("defect")),
    )


def words(commands: Sequence[Command]) -> str:
    """What was said in a turn: its messages and its output; what it wants another round for, where it says so."""
    said = [str(command["message"]) for command in commands if command["type"] == "say"]
    said += (str(command["reason"]) for command in commands if command["type"] == "continue" and command.get("reason"))
    outputs = (command.get("output") for command in commands if command["type"] == "complete")
    said += (output if isinstance(output, str) else canonical.encode(output) for output in outputs if output is not None)
    return "\n".join(said)


def wants_another(commands: Sequence[Command]) -> bool:
    """Whether the last `continue` of a turn asks for another round, with a reason: one that names something."""
    last = next((command for command in reversed(commands) if command["type"] == "continue"), None)
    return last is not None and last.get("wants_another_round") is True and _is_reason(str(last.get("reason") or ""))


def _is_reason(text: str) -> bool:
    found = _WORD.findall(text.casefold().replace("'", "").replace("’", ""))
    return len(text.strip()) >= _SHORTEST and sum(len(word) for word in found if word not in _NOTHING) >= _LEAST
