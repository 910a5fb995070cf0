"""POSIX paths as text: which place a path names once "." and ".." are gone, so that containment is of components, never of characters."""

from __future__ import annotations

from .values import NamedTuple


class Place(NamedTuple):
    """A normalised path; relative to an unknown directory unless `absolute`."""

    absolute: bool
    parts: tuple[str, ...]


def normalise(path: str) -> Place | None:
    """The place that a path names; None where that cannot be said: it leaves the directory that it starts from, or holds a NUL."""
    if "\0" in path:
        return None
    absolute = path.startswith("/")
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
            elif not absolute:  # the parent of the root is the root
                return None
        elif part not in ("", "."):
            parts.append(part)
    return Place(absolute, tuple(parts))
