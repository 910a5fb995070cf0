"""Items of a form: each asked once, choices with something to choose from."""

from __future__ import annotations

from ...core.types import Json
from .. import models, shapes
from ..issues import Issues
from ..names import check_name
from ..positions import KeyPath

_CHOICES = ("SINGLE_CHOICE", "MULTI_CHOICE")


def check_form(items: list[Json], path: KeyPath, issues: Issues) -> None:
    ids: dict[str, int] = {}
    if not items:
        issues.add(path, "a form needs at least one item")
    for number, item in enumerate(items):
        where = (*path, number)
        if not isinstance(item, dict) or not models.check(models.Fit((shapes.Item,)), item, where, issues):
            continue
        name, options = str(item["id"]), item.get("options", [])
        check_name(name, "an item", (*where, "id"), issues)
        if ids.setdefault(name, number) != number:
            issues.add((*where, "id"), f"an item of this form is called {name} already")
        if item["type"] in _CHOICES and not options:
            issues.add(where, f"{item['type']} needs options")
        if item["type"] not in _CHOICES and "options" in item:
            issues.add((*where, "options"), f"{item['type']} has no options", f"only {' and '.join(_CHOICES)} have")
        for at, option in enumerate(options if isinstance(options, list) else ()):
            if str(option) != str(option).strip():
                issues.add((*where, "options", at), "an option cannot begin or end with a space", "nobody could type it")
        if isinstance(options, list) and len(set(map(str, options))) < len(options):
            issues.add((*where, "options"), "an option is there twice")
