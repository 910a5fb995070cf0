"""Where an agent's conversation stands: all that must survive the end of the process between two of its intents (I13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from ..core import canonical
from ..core.intents import Signal
from ..core.types import Json
from ..core.values import NamedTuple
from ._commands import Command


class Talk(NamedTuple):
    """`first`: number of the first turn of this visit; `turn`: the one that is being carried out, None while the model is asked;
    `rest`: its commands that have not run; `wary`: after a refusal, for the rest of the turn; `again`: the turn left something
    to show to the model; `said`: its last message; `heard`: (number of the turn, what a person said then, as JSON text); `signal`: its
    last word on another round, whichever turn it was said in; `refused`: numbers of the answers that were no turns; `defect`: what was
    wrong with the last answer, while its correction is asked for."""

    first: int
    turn: int | None = None
    rest: tuple[Command, ...] = ()
    wary: bool = False
    again: bool = False
    said: str | None = None
    heard: tuple[tuple[int, str], ...] = ()
    signal: Signal | None = None
    refused: tuple[int, ...] = ()
    defect: str | None = None

    def begin(self, turn: int, commands: list[Command]) -> Talk:
        """A new turn of the same conversation: what a refusal in an earlier one said is behind it."""
        return self.end()._replace(turn=turn, rest=tuple(commands))

    def end(self) -> Talk:
        """The turn is over: what is left is the conversation."""
        return Talk(self.first, heard=self.heard, signal=self.signal, refused=self.refused)

    def refuse(self, turn: int, defect: str) -> Talk:
        """An answer that is no turn: nothing of it runs, and it is no part of the conversation."""
        return self.end()._replace(refused=(*self.refused, turn), defect=defect)

    def turns(self) -> int:
        """How many there were, with the one that is being carried out; answers that were refused are none."""
        return (self.turn or 0) - self.first + 1 - len(self.refused)

    def hear(self, words: Mapping[str, Json]) -> Talk:
        """A person spoke; the model is to be shown it."""
        return self._replace(again=True, heard=(*self.heard, (self.turn or 0, canonical.encode(dict(words)))))

    def memo(self) -> Mapping[str, Json]:
        """As JSON; the parts that are as they begin are left out, for it is written with every commit. Commands are kept as text: a value
        that is nested as deep as a turn may be is not nested deeper by what the memo itself stands in."""
        kept: dict[str, Json] = {"first": self.first}
        if self.turn is not None:
            kept["turn"] = self.turn
        if self.rest:
            kept["rest"] = canonical.encode(cast(Json, list(self.rest)))
        words = {"wary": self.wary, "again": self.again, "said": self.said, "signal": self.signal, "defect": self.defect}
        kept |= {name: value for name, value in words.items() if value}
        if self.refused:
            kept["refused"] = list(self.refused)
        if self.heard:
            kept["heard"] = [[turn, words] for turn, words in self.heard]
        return kept


def recall(memo: Mapping[str, Json]) -> Talk:
    """The conversation that a memo holds."""
    return Talk(
        first=cast(int, memo["first"]),
        turn=cast("int | None", memo.get("turn")),
        rest=tuple(cast("list[Command]", canonical.parse(cast(str, memo.get("rest", "[]"))))),
        wary=bool(memo.get("wary")),
        again=bool(memo.get("again")),
        said=cast("str | None", memo.get("said")),
        heard=tuple((turn, words) for turn, words in cast("list[tuple[int, str]]", memo.get("heard", []))),
        signal=cast("Signal | None", memo.get("signal")),
        refused=tuple(cast("list[int]", memo.get("refused", []))),
        defect=cast("str | None", memo.get("defect")),
    )
