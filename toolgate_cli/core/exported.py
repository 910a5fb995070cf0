"""The log as lines of JSON that can be verified without its database: a first line that says where it begins, one line an event with all
that its hash was made of, and a last line with the head.

A line holds only if it is byte for byte what `line` writes: so there is one way to read it, for any parser. None is longer than `LONGEST`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from .errors import ToolgateError
from .records import Event
from .types import Json
from .values import NamedTuple

SCHEMA = "toolgate.log/1"
LONGEST = 64 << 20  # characters of a line with its end: what a person or a tool may say is at most 4 MiB, each byte written as 7 or fewer
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


class Begin(NamedTuple):
    """Where an exported log begins: behind the event `after`, whose hash is `prev`; 0 and the id of the database for the whole log."""

    database: str
    after: int
    prev: str


def line(value: Mapping[str, Json]) -> str:
    """One line of printable ASCII, without its end."""
    return _encode(value).replace("\x7f", "\\u007f")


def write(begin: Begin, events: Iterable[Event]) -> Iterator[str]:
    """The lines of an export. The payload of an event is the text that its commitment was made of."""
    yield line({"schema": SCHEMA, **begin._asdict()})
    seq, hash, count = begin.after, begin.prev, 0
    for event in events:
        yield line(event._asdict())
        seq, hash, count = event.seq, event.hash, count + 1
    yield line({"head": f"{seq}:{hash}", "events": count})


def read(lines: Iterator[str]) -> tuple[Begin, Iterator[Event]]:
    """Where it begins, and its events as they are read. Raises ToolgateError("invalid") for what is no export; the events do so at a line
    that is not as it was written, and where the last line is missing or is not that of the events before it. `lines` may be cut behind
    `LONGEST`: no more is needed to refuse one."""
    first = next(lines, "")
    match _object(first, 1):
        case {"schema": "toolgate.log/1", "database": str(database), "after": int(after), "prev": str(prev)} if not isinstance(after, bool):
            begin = Begin(database, after, prev)
            if first.removesuffix("\n") != line({"schema": SCHEMA, **begin._asdict()}):
                raise ToolgateError("invalid", "line 1 is not the first of a log as it was exported", "toolgate audit export writes one")
            return begin, _events(begin, lines)
    raise ToolgateError("invalid", "this is no exported log: its first line says so", "toolgate audit export writes one")


def _events(begin: Begin, lines: Iterator[str]) -> Iterator[Event]:
    seq, hash, count = begin.after, begin.prev, 0
    for number, text in enumerate(lines, 2):
        value = _object(text, number)
        if set(value) == {"head", "events"}:
            if text.removesuffix("\n") != line({"head": f"{seq}:{hash}", "events": count}) or next(lines, None) is not None:
                raise ToolgateError("invalid", f"line {number} is not the end of the events before it")
            return
        if tuple(value) != Event._fields or type(value["seq"]) is not int or line(value) != text.removesuffix("\n"):
            raise ToolgateError("invalid", f"line {number} is not an event as it was exported")
        event = Event(**value)  # type: ignore[arg-type]  # whatever its values are, its hash was made of what they have to be
        seq, hash, count = event.seq, event.hash, count + 1
        yield event
    raise ToolgateError("invalid", "the file is cut off: its last line, the head, is missing")


def _object(text: str, number: int) -> dict[str, Json]:
    if len(text) > LONGEST:
        raise ToolgateError("invalid", f"line {number} is longer than {LONGEST >> 20} MiB, which no event is")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
