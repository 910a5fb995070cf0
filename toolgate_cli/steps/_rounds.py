"""The rounds of a loop: the first, the next, the one that the bound forbids, and what an evaluator says of the last one.

All that must survive the end of the process is in the memo; a copied list is there as its digest, so it stays as small as it began.
"""

from __future__ import annotations

from typing import Protocol, cast

from ..core import canonical
from ..core.digests import sha256
from ..core.errors import ToolgateError
from ..core.intents import AskModel, Done, Enter, Fail, Intent, Pause, View, Write
from ..core.records import Turn
from ..core.types import Json, Provenance
from ..runtime import copies  # noqa: F401  # for View.copied
from . import _commands

_ANSWERS = ("continue", "complete")
_ITEM = "loop.item"
ITEMS = 10_000  # of a list at one go, where its loop says nothing: how long it is is said by what made it


class Loop(Protocol):
    """What `repeat` says; `max` None: that of a list, as `ITEMS` says."""

    @property
    def until(self) -> str: ...
    @property
    def max(self) -> int | None: ...
    @property
    def at_max(self) -> str: ...
    @property
    def evaluator(self) -> str | None: ...
    @property
    def each(self) -> str | None: ...
    @property
    def item(self) -> str | None: ...


def begin(block: str, loop: Loop, view: View) -> Intent:
    """From the first iteration on, whatever was before."""
    if loop.each is None:
        return Enter(block, 1, {"iteration": 1})
    try:
        items = view.value(loop.each)
    except KeyError:
        return Fail(f"{loop.each} is not there, and the loop over {block} goes through its items")
    if not isinstance(items, list):
        return Fail(f"{loop.each} is no list, and the loop over {block} goes through its items")
    if not items:
        return Done()
    copy, came = canonical.encode(items), view.provenance(loop.each)
    memo: dict[str, Json] = {"iteration": 1, "list": sha256(copy), "length": len(items), "came": came}
    return Enter(block, 1, memo, (Write(loop.item or _ITEM, items[0], came),), copy)


def resume(block: str, loop: Loop, view: View) -> Intent:
    """After a person has continued it: a list goes on behind the item that it came to, any other loop begins anew."""
    since = view.memo.get("since")
    return enter(block, loop, view, since + 1) if isinstance(since, int) else begin(block, loop, view)


def enter(block: str, loop: Loop, view: View, iteration: int) -> Intent:
    """This iteration; its item has the provenance of the list."""
    if loop.each is None:
        return Enter(block, iteration, {"iteration": iteration})
    item = view.copied(cast(str, view.memo["list"]))[iteration - 1]
    came = cast(Provenance, view.memo["came"])
    return Enter(block, iteration, {**view.memo, "iteration": iteration}, (Write(loop.item or _ITEM, item, came),))


def next(block: str, loop: Loop, view: View, ended: int) -> Intent:
    """The iteration after the one that ended; the bound is the loop's own word, and only a person gets past it."""
    most = ITEMS if loop.max is None else loop.max
    if ended - cast(int, view.memo.get("since", 0)) < most:
        return enter(block, loop, view, ended + 1)
    reason = f"the loop over {block} came to its max of {most} without an end"
    if loop.at_max == "fail":
        return Fail(reason)
    # a list has an end: begun anew it would come to the same bound for ever, and do all of it again
    return Pause(reason) if loop.each is None else Pause(reason, {**view.memo, "since": ended})


def length(view: View) -> int:
    """How many items the copied list has."""
    return cast(int, view.memo["length"])


def ask(loop: Loop, view: View, ended: int) -> Intent:
    """The evaluator sees the whole context, and may say one of two words."""
    agent = view.agent(loop.evaluator or "")
    prompt = f"Round {ended} of at most {loop.max} is done. Say complete if no other is needed, else continue."
    memo: dict[str, Json] = {"iteration": ended, "judging": True}
    return AskModel(agent.name, "\n\n".join(filter(None, (agent.prompt, prompt))), ("*",), memo, view.turns(), commands=_ANSWERS)


def judged(block: str, loop: Loop, view: View, turn: Turn) -> Intent:
    try:
        commands = _commands.read(turn.commands, _ANSWERS, ())
    except ToolgateError as refusal:
        return Fail(refusal.message)
    if len(commands) != 1:
        return Fail(f"the evaluator {loop.evaluator} answered with {len(commands)} commands: one continue or complete is an answer")
    done = commands[0]["type"] == "complete" or commands[0].get("wants_another_round") is False
    return Done() if done else next(block, loop, view, cast(int, view.memo["iteration"]))
