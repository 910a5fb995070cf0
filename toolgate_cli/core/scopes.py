"""Where the context of a workflow inside a run stands: under keys that nobody can write, because no key of theirs may begin so."""

from __future__ import annotations

from .fields import HIDDEN

_INSIDE = f"{HIDDEN}in:"


def scope(carrier: str) -> str:
    """What stands before every key of the workflow that the step at this path runs; "" for the one that was started."""
    return f"{_INSIDE}{carrier}:" if carrier else ""


def split(key: str) -> tuple[str, str]:
    """The path of the carrier ("" for the workflow that was started), and the key as its workflow knows it."""
    if not key.startswith(_INSIDE):
        return "", key
    carrier, _, bare = key.removeprefix(_INSIDE).partition(":")  # no path has a colon
    return carrier, bare


def readable(key: str, scope: str) -> str | None:
    """The key as a workflow with this scope knows it; None where it is not its own, or the program's."""
    if not key.startswith(scope):
        return None
    bare = key.removeprefix(scope)
    return None if bare.startswith(HIDDEN) else bare
