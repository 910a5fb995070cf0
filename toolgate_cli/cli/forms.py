"""A form, asked item by item at a terminal; the answers are checked where they are submitted."""

from __future__ import annotations

from ..core.errors import ToolgateError
from ..core.types import Json
from ..runtime.answers import Waiting
from .ask import read_line
from .safe import Safe, fill, show_json
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
            ERR.raw("\n")
            text = None
        if text is None:
            raise ToolgateError("usage", "not answered, nothing happened")
        if text or not required:
            return text
        ERR.line(Safe("an answer is required"))


def _prompt(item: dict[str, Json], required: bool) -> Safe:
    about = fill("{}{}", item.get("type", "TEXT"), ", required" if required else "")
    if item.get("options"):
        about = fill("{}, one of {}", about, show_json(item["options"]))
    return fill("answer for {} ({}): ", item.get("label") or item["id"], about)
