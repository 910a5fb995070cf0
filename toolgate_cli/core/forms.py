"""Answers to a form: every one is checked before any is written, and all that is wrong is told at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from . import canonical
from .conditions import equal
from .errors import ToolgateError
from .soundness import is_text
from .types import Json

Item = Mapping[str, Json]


def check(form: Json, texts: Mapping[str, str], values: Mapping[str, Json]) -> dict[str, Json]:
    """The answers by item. `texts` are as they were typed, `values` are JSON; raises ToolgateError("invalid")."""
    items = {str(item["id"]): item for item in cast("list[Item]", form)}
    problems = [f"{name}: the form has no such item" for name in [*texts, *values] if name not in items]
    answers: dict[str, Json] = {}
    for name, item in items.items():
        if name in texts or name in values:
            try:
                answers[name] = _typed(item, texts[name]) if name in texts else _checked(item, values[name])
            except ValueError as error:
                problems.append(f"{name}: {error}")
        elif item.get("required"):
            problems.append(f"{name}: an answer is required")
    if problems:
        raise ToolgateError(
            "invalid", "; ".join(problems), "items: " + ", ".join(f"{name} ({item['type']})" for name, item in items.items())
        )
    return answers


def _typed(item: Item, text: str) -> Json:
    """A typed answer as the item's type."""
    match item["type"]:
        case "BOOLEAN":
            words: dict[str, Json] = {"true": True, "yes": True, "false": False, "no": False}
            if text.lower() not in words:
                raise ValueError("yes or no")
            return words[text.lower()]
        case "NUMBER":
            try:
                return _checked(item, canonical.parse(text))
            except ToolgateError:
                raise ValueError("a number") from None
        case "MULTI_CHOICE":
            return _checked(item, _chosen(text, cast("list[Json]", item.get("options") or [])))
        case _:
            return _checked(item, text)


def _chosen(text: str, options: list[Json]) -> Json:
    """What is named in a text, with commas between; an option may have commas of its own, and the longest that fits is meant."""
    known = {tuple(_words(str(option))): option for option in options}
    longest, words = max(map(len, known), default=1), [word for word in _words(text) if word]
    chosen: list[Json] = []
    while words:
        fits = next((size for size in range(longest, 0, -1) if tuple(words[:size]) in known), 1)
        chosen.append(known.get(tuple(words[:fits]), words[0]))
        del words[:fits]
    return chosen


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _checked(item: Item, value: Json) -> Json:
    options = cast("list[Json]", item.get("options") or [])
    match item["type"]:
        case "BOOLEAN":
            if not isinstance(value, bool):
                raise ValueError("yes or no")
        case "NUMBER":
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ValueError("a number")
        case "SINGLE_CHOICE":
            if not any(equal(value, option) for option in options):
                raise ValueError("one of " + ", ".join(str(option) for option in options))
        case "MULTI_CHOICE":
            if (
                not isinstance(value, list)
                or any(not any(equal(part, option) for option in options) for part in value)
                or (item.get("required") and not value)
            ):
                raise ValueError("some of " + ", ".join(str(option) for option in options))
        case "DATE":
            _date(value)
        case _:
            if not isinstance(value, str) or not is_text(value):
                raise ValueError("a text")
            if item.get("required") and not value.strip():
                raise ValueError("an answer is required")
            if item["type"] == "TEXT" and "\n" in value:
                raise ValueError("a text of one line")
    return value


def _date(value: Json) -> None:
    """A day that there is; by hand, for this is asked in a transaction, and no module is imported there (I7)."""
    text = value if isinstance(value, str) and value.isascii() and len(value) == 10 and value[4] == value[7] == "-" else ""
    year, month, day = text[:4], text[5:7], text[8:]
    if not (year.isdigit() and month.isdigit() and day.isdigit()) or not 1 <= int(month) <= 12 or int(year) < 1:
        raise ValueError("a date as 2026-01-31")
    leap = int(year) % 4 == 0 and (int(year) % 100 != 0 or int(year) % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    if not 1 <= int(day) <= days[int(month) - 1]:
        raise ValueError("a date as 2026-01-31")
