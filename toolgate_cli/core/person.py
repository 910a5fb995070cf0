"""Who decides: the name that is claimed, and what the operating system says of it. Both are recorded with every decision."""

from __future__ import annotations

from collections.abc import Mapping

from .types import Json
from .values import NamedTuple


class Person(NamedTuple):
    """`name` is the actor of events; the rest goes into their payload."""

    name: str
    os_user: str
    uid: int
    host: str

    def facts(self) -> dict[str, Json]:
        return {"os_user": self.os_user, "uid": self.uid, "host": self.host}


SYSTEM = Person("system", "system", -1, "")


def acted(told: Mapping[str, Json]) -> bool:
    """Whether the payload of an event says who decided: then its actor is a person, and it is the record of what that person did."""
    return told.keys() >= SYSTEM.facts().keys()


def folded(name: str) -> str:
    """What two spellings of one name share: without case, and compatible letters (`ａ`, `ﬁ`) as plain ones. For comparing, never shown."""
    if name.isascii():
        return name.casefold()
    from unicodedata import normalize  # imported where it is needed: most names are ASCII

    return normalize("NFKC", normalize("NFKC", name).casefold())
