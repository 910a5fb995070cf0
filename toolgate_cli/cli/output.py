"""One answer in the format that was asked for; JSON is pure ASCII and never passes through Rich."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TypeVar

from ..core.types import Json
from .frame import Frame
from .safe import Safe, fill
from .streams import OUT, Stream
from .views.shapes import Fields, Sheet, readable

T = TypeVar("T")

_encode = json.JSONEncoder(ensure_ascii=True).encode


def ascii_json(value: Json) -> str:
    """JSON in printable ASCII alone: the encoder leaves one control character (DEL) as it is."""
    return _encode(value).replace("\x7f", "\\u007f")


def json_line(value: Json, stream: Stream = OUT) -> bool:
    return stream.raw(ascii_json(value) + "\n") and stream.flush()


def show_one(frame: Frame, value: Callable[[], Json], human: Callable[[], Fields], columns: Callable[[], Sheet] | None = None) -> None:
    """One thing: as JSON, as fields on a terminal, as columns (or its fields, one a row) for a program."""
    chosen = frame.format()
    if chosen == "json" or chosen == "jsonl":
        json_line(value())
    elif chosen == "tsv" and columns is not None:
        write_tsv(columns())
    else:
        show_fields(frame, human())


def show_list(
    frame: Frame,
    schema: str,
    items: Iterable[T],
    head: str | None,
    to_json: Callable[[T], dict[str, Json]],
    human: Callable[[Iterable[T]], Sheet],
    columns: Callable[[Iterable[T]], Sheet] | None = None,
) -> None:
    """Any number of things, one shape for none, one and many; written as they come except in a table."""
    chosen = frame.format()
    if chosen == "json":
        _json_list(schema, map(to_json, items), head)
    elif chosen == "jsonl":
        for item in items:
            if not json_line(to_json(item)):
                break
    elif chosen == "tsv":
        write_tsv((columns or human)(items))
    else:
        from .tables import draw

        OUT.raw(draw(human(items), OUT, frame.colored()))


def _json_list(schema: str, items: Iterable[dict[str, Json]], head: str | None) -> None:
    OUT.raw(f'{{"schema": {ascii_json(schema)}, "items": [')
    for index, item in enumerate(items):
        if not OUT.raw((", " if index else "") + ascii_json(item)):
            break
    OUT.raw(f'], "head": {ascii_json(head)}}}\n')


def write_tsv(sheet: Sheet, header: bool = True) -> bool:
    """Columns by tabs; a tab or a line end inside a cell is shown as an escape. False once nobody reads."""
    if header:
        OUT.raw("\t".join(column.name for column in sheet.columns) + "\n")
    return all(OUT.raw("\t".join(row) + "\n") for row in sheet.rows) and OUT.flush()


def write_lines(sheet: Sheet) -> bool:
    """Rows for people that have no end: what there is of each on a line, which is folded as lines are. False once nobody reads."""
    return all(OUT.line(Safe("  ".join(filter(None, map(readable, row))))) for row in sheet.rows) and OUT.flush()


def show_fields(frame: Frame, fields: Fields) -> None:
    """For people one a line; for a program one a row."""
    if frame.format() == "table":
        write_fields(fields, OUT)
        return
    OUT.raw("field\tvalue\n")
    for name, value, group in fields:
        OUT.raw(f"{group}.{name}\t{value}\n" if group else f"{name}\t{value}\n")


def write_fields(fields: Fields, stream: Stream) -> None:
    """One field a line, complete."""
    for text in _field_lines(fields):
        stream.line(text)


def _field_lines(fields: Fields) -> Iterable[Safe]:
    group = ""
    for name, value, inside in fields:
        if inside and inside != group:
            yield fill("{}:", inside)
        group = inside
        yield fill("  {}: {}" if inside else "{}: {}", name, value)
