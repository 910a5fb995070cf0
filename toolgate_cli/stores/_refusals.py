"""What every store refuses, in the same words whichever store it is."""

from __future__ import annotations

from ..core.errors import ToolgateError

OUR_FAULT = "this is a fault of toolgate; nothing was stored"


def nested() -> ToolgateError:
    """A transaction was asked for within another."""
    return ToolgateError("internal", "transactions of a store do not nest")


def over() -> ToolgateError:
    """A reader or writer was used after its transaction."""
    return ToolgateError("internal", "the store was asked after its transaction was over")


def spoiled() -> ToolgateError:
    """A change had failed and the caller went on."""
    return ToolgateError("storage", "a change failed, so the whole transaction was undone", OUR_FAULT)


def gap(seq: int) -> ToolgateError:
    """An event that does not follow the last one."""
    return ToolgateError("storage", f"event {seq} does not go on from the head of the log", OUR_FAULT)
