"""A first home, written with nothing of the person's overwritten: one tool that is free, one that asks, and a workflow that uses both."""

from __future__ import annotations

import os

from ..core.errors import ToolgateError

TOOLS = {
    "schema": 1,
    "tools": {
        "clock.now": {
            "description": "Tell the time.",
            "safety": "read_only",
            "effect": "read_only",
            "input_schema": {"type": "object", "additionalProperties": False},
            "command": {"argv": ["date", "-u"], "stdin": "none"},
        },
        "notes.add": {
            "description": "Add a note to notes.txt.",
            "title": "Note: ${args.text}",
            "safety": "write",
            "effect": "unsafe",
            "input_schema": {
                "type": "object",
                "required": ["text"],
                "additionalProperties": False,
                "properties": {"text": {"type": "string"}},
            },
            "command": {"argv": ["awk", '{ print >> "notes.txt" }']},
        },
    },
    "policy": {
        "default": "require_approval",
        "rules": [
            {"name": "reads-are-free", "safety": "read_only", "decision": "allow", "reason": "a tool that only reads needs nobody's word"},
            {
                "name": "writes-are-asked-for",
                "safety": "write",
                "decision": "require_approval",
                "reason": "a person looks at what is written",
            },
        ],
    },
}
ABOVE = {
    "toolgate.toml": "# The operator's file: which tools there are, and who is asked. What no rule names is asked for.\n\n",
    "hello.toml": "# A workflow: its steps run in order, and every tool call passes the gate. Start it with: toolgate start hello\n\n",
}
# what comes after: lines that are tools once their first two characters are gone
MORE = """
# A tool need not be a command. A function of a Python file beside this one, and an HTTP request (with the extra http):
#
# [tools."money.vat"]
# safety = "read_only"
# effect = "read_only"
# input_schema = { type = "object", additionalProperties = false, properties = { cents = { type = "integer" } } }
# python = { function = "money:vat" }
#
# [tools."orders.lookup"]
# safety = "read_only"
# effect = "read_only"
# input_schema = { type = "object", required = ["order"], additionalProperties = false, properties = { order = { type = "string" } } }
# http = { method = "GET", url = "https://orders.example/api/orders/${args.order}" }
"""
HELLO = {
    "schema": 1,
    "id": "hello",
    "title": "A first run",
    "inputs": {"text": {"type": "string", "default": "hello"}},
    "steps": [
        {"id": "when", "type": "tool", "tool": "clock.now"},
        {
            "id": "note",
            "type": "tool",
            "title": "Write it down, once somebody said yes",
            "tool": "notes.add",
            "arguments": {"text": "${inputs.text}"},
        },
    ],
}


def begin(folder: str) -> tuple[str, ...]:
    """Writes the files and names them. ToolgateError("invalid") where there is a home already, "storage" where nothing can be written."""
    import tomli_w

    files = {"toolgate.toml": TOOLS, os.path.join("workflows", "hello.toml"): HELLO}
    paths = {os.path.join(folder, name): content for name, content in files.items()}
    there = [path for path in paths if os.path.lexists(path)]
    if there:
        raise ToolgateError("invalid", f"{there[0]} is there already", "a home is begun once: edit it, or name another folder")
    try:
        for path, content in paths.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x", encoding="utf-8") as file:
                file.write(ABOVE[os.path.basename(path)] + tomli_w.dumps(content) + (MORE if content is TOOLS else ""))
    except OSError as error:
        said = (error.strerror or "cannot be written").lower()
        raise ToolgateError("storage", f"{error.filename}: {said}", "check the folder and its permissions") from None
    return tuple(paths)
