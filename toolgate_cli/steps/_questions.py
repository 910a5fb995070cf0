"""What a model asks a person, as a form: one question, or items that are checked like those of a workflow file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

from ..core.types import Json

_TYPES = ("TEXT", "TEXT_AREA", "SINGLE_CHOICE", "MULTI_CHOICE", "BOOLEAN", "NUMBER", "DATE")
_CHOICES = ("SINGLE_CHOICE", "MULTI_CHOICE")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


def form(ask: Mapping[str, Json]) -> Json:
    """The items of a checked `ask`; a plain question is one required item `answer`."""
    if "items" in ask:
        return [{"label": item["id"], "required": False, **item} for item in cast("list[dict[str, Json]]", ask["items"])]
    return [{"id": "answer", "type": "TEXT_AREA", "label": ask["question"], "required": True}]


def defect(ask: Mapping[str, Json]) -> str | None:
    """Why this `ask` cannot be put to a person: a form that nobody could answer would leave the run without a way on (I6)."""
    if ("question" in ask) == ("items" in ask):
        return "ask takes a question or items, one of them"
    if "question" in ask:
        return None if str(ask["question"]).strip() else "ask has an empty question"
    items = ask["items"]
    if not isinstance(items, list) or not items:
        return "ask has no items"
    seen: set[str] = set()
    for index, item in enumerate(items):
        if why := _item_defect(item, seen):
            return f"item {index + 1} of ask: {why}"
    return None


def _item_defect(item: Json, seen: set[str]) -> str | None:
    if not isinstance(item, dict):
        return "it is not an object"
    name = item.get("id")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in seen:
        return "its id is not a name, or is there twice"
    seen.add(name)
    if item.get("type") not in _TYPES:
        return "its type is not one of " + ", ".join(_TYPES)
    if not isinstance(item.get("label", ""), str) or not isinstance(item.get("required", False), bool):
        return "label is a text, required is true or false"
    if unknown := sorted(set(item) - {"id", "type", "label", "required", "options"}):
        return f"it has no field {unknown[0]}"
    return _options_defect(item)


def _options_defect(item: Mapping[str, Json]) -> str | None:
    options = item.get("options")
    if item["type"] not in _CHOICES:
        return None if options is None else "only a choice has options"
    if not isinstance(options, list) or not options or not all(isinstance(option, str) for option in options):
        return "a choice needs options, a list of texts"
    if any(option != str(option).strip() or not option for option in options) or len(set(map(str, options))) < len(options):
        return "an option is empty, there twice, or begins or ends with a space"  # nobody could type it
    return None
