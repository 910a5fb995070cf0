"""A form, asked item by item at a terminal; the answers are checked where they are submitted."""

from __future__ import annotations

from ..core.errors import ToolgateError
from ..core.forms import check
from ..core.types import Json
from ..host import heeding
from ..runtime.answers import Waiting
from .ask import read_line
from .safe import Safe, fill, line, show_json
from .streams import ERR


def fill_in(waiting: Waiting) -> dict[str, str]:
    """Item id -> what was typed; items that were left empty are left out. Raises `usage` at the end of input: nothing is submitted."""
    items = waiting.form if isinstance(waiting.form, list) else []
    if waiting.row.reason:
        ERR.line(fill("question: {}", waiting.row.reason))
    typed = {str(item["id"]): _ask(item) for item in items if isinstance(item, dict) and "id" in item}
    return {name: text for name, text in typed.items() if text}


def _ask(item: dict[str, Json]) -> str:
    required = bool(item.get("required"))
    while True:
        try:
            text = read_line(_prompt(item, required))
        except KeyboardInterrupt:
            heeding.told()
            ERR.raw("\n")
            text = None
        if text is None:
            raise ToolgateError("usage", "not answered, nothing happened")
        if not text and not required:
            return text
        try:
            check([item], {str(item["id"]): text} if text else {}, {})
            return text
        except ToolgateError as wrong:  # said at once, so that what was typed before is not lost
            ERR.line(fill("{}", wrong.message))


def _prompt(item: dict[str, Json], required: bool) -> Safe:
    about = fill("{}{}", item.get("type", "TEXT"), ", required" if required else "")
    if item.get("options"):
        options = item["options"]
        shown = Safe(", ".join(map(_option, options))) if isinstance(options, list) else Safe("")
        about = fill("{}, {} of: {}", about, "some" if item.get("type") == "MULTI_CHOICE" else "one", shown)
    if item.get("type") == "DATE":
        about = fill("{}, as 2026-01-31", about)
    return fill("answer for {} ({}): ", item.get("label") or item["id"], about)


def _option(option: Json) -> Safe:
    """In quotes where it would look like two."""
    return show_json(option) if "," in str(option) else line(str(option))
