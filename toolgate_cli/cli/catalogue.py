"""The commands, found by the names of the files in commands/: a folder is a group, `continue_.py` is `continue`."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType
from typing import Final

Name = tuple[str, ...]
PACKAGE: Final = f"{__package__}.commands"
GROUPS: Final = ("Run", "Decide", "Recover", "Look", "Know")


def names() -> dict[Name, str]:
    """Every command's words -> its module."""
    found: dict[Name, str] = {}
    root = os.path.join(os.path.dirname(__file__), "commands")
    for entry in sorted(os.listdir(root)):
        if entry.startswith("_"):
            continue
        if entry.endswith(".py"):
            found[(_word(entry),)] = f"{PACKAGE}.{entry[:-3]}"
            continue
        for file in sorted(os.listdir(os.path.join(root, entry))):
            if file.endswith(".py") and not file.startswith("_"):
                found[(_word(entry), _word(file))] = f"{PACKAGE}.{entry}.{file[:-3]}"
    return found


def _word(file: str) -> str:
    return file.removesuffix(".py").rstrip("_").replace("_", "-")


def load(module: str) -> ModuleType:
    return import_module(module)


def overview(group: str | None = None) -> list[str]:
    """All commands by what they are for, or those of one group of words, with the first line of what each does."""
    by_purpose: dict[str, list[str]] = {purpose: [] for purpose in GROUPS}
    for name, module in names().items():
        if group is None or name[0] == group:
            loaded = load(module)
            about = (loaded.run.__doc__ or "").strip().split("\n", 1)[0]
            by_purpose[loaded.PURPOSE].append(f"  {' '.join(name):<16}{about}")
    lines = [f"usage: toolgate {group or 'COMMAND'} ...", ""]
    for purpose, entries in by_purpose.items():
        if entries:
            lines += [f"{purpose}:", *entries, ""]
    return [*lines, "toolgate help COMMAND says more about one"]


# what other tools call it
_ELSEWHERE: Final = {
    "log": "events",
    "history": "events",
    "ls": "runs list",
    "ps": "runs list",
    "status": "pending list",
    "queue": "pending list",
    "show": "pending show",
    "run": "start",
    "resume": "continue",
    "accept": "approve",
    "deny": "reject",
    "decline": "reject",
    "stop": "cancel",
    "kill": "cancel",
    "abort": "cancel",
    "lint": "workflow check",
    "validate": "workflow check",
    "verify": "audit verify",
    "version": "--version",
}


def nearest(words: list[str]) -> str:
    """ "did you mean" for a mistyped command, or where to look."""
    if words[0] in _ELSEWHERE:
        return f"toolgate {_ELSEWHERE[words[0]]}"
    from difflib import get_close_matches

    meant: dict[str, list[str]] = {}
    for name in names():
        for key in {" ".join(name), name[-1]}:
            meant.setdefault(key, []).append(" ".join(name))
    close = get_close_matches(" ".join(words[:2]), meant, 2, 0.75) + get_close_matches(words[0], meant, 2, 0.75)
    found = list(dict.fromkeys(f"toolgate {name}" for word in close for name in meant[word]))
    return f"did you mean {' or '.join(found)}" if found else "toolgate help lists the commands"
