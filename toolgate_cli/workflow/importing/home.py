"""A folder becomes a home: all of it, or nothing; and nothing that is there already is touched."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping

from ...core.errors import ToolgateError
from ...core.types import Json
from ..names import is_capability
from .agents import Agent
from .flows import Flow, Known
from .folder import Folder, Found
from .held import Problems
from .script import Script

SCRIPT = os.path.join("scripts", "imported.toml")


def import_folder(folder: str, home: str) -> tuple[str, ...]:
    """Writes the files and names them. ToolgateError("invalid") with everything that cannot be imported, by file and field, or where a
    file is there already; "storage" where nothing can be written."""
    problems = Problems()
    found = Folder(folder, problems).look()
    files = _converted(found, problems)
    return _write({os.path.join(home, name): text for name, text in files.items()})


def _converted(found: Found, problems: Problems) -> dict[str, str]:
    known = Known(frozenset(part.name for part in found.agents), {part.name for part in found.workflows})
    for what, parts in (("workflow", found.workflows), ("agent", found.agents)):
        names = [part.name for part in parts]
        for part in parts:
            if names.count(part.name) > 1:
                problems.add(part.main.file, "id", f"several parts of the folder are the {what} {part.name}")
    agents = [Agent(part, known) for part in found.agents]
    flows = [flow for part in found.workflows for flow in _all(Flow(part, known, problems).convert())]
    script = Script(found.scripts, known, {flow.id: _ids(flow) for flow in flows}, problems)
    for tool in known.tools:
        if not is_capability(tool):
            problems.add("tools", tool, "no name for a tool here: small letters, digits, _ and -, joined by dots")
    problems.raise_any()  # what was not understood cannot be written either
    files = {"toolgate.toml": _operator(agents, [*known.tools])}
    files |= {os.path.join("agents", f"{agent.id}.md"): agent.prompt for agent in agents}
    files |= {os.path.join("workflows", f"{flow.id}.toml"): _toml(flow.table(), flow.notes) for flow in flows}
    if agents:
        files[SCRIPT] = _toml({"schema": 1, "turns": script.turns}, script.notes)
    return files


def _all(flow: Flow) -> list[Flow]:
    return [flow, *(inner for each in flow.inline for inner in _all(each))]


def _ids(flow: Flow) -> set[str]:
    sequences = [flow.steps, *(steps for steps in flow.blocks.values() if isinstance(steps, list))]
    return {str(step["id"]) for steps in sequences for step in steps if isinstance(step, dict)}


def _operator(agents: Iterable[Agent], tools: list[str]) -> str:
    """Tools that are named but not known are there, and switched off: the operator says what they are."""
    made: dict[str, Json] = {"schema": 1}
    if tools:
        made["tools"] = {
            tool: {
                "description": "Imported by name alone: say what it is, then take this line and the next away.",
                "enabled": False,
                "input_schema": "any-object",
                "command": {"argv": ["false"]},
            }
            for tool in tools
        }
    made["policy"] = {"default": "require_approval"}
    listed = list(agents)
    if listed:
        made["models"] = {"default": {"adapter": "scripted", "script": SCRIPT}}
        made["agents"] = {agent.id: agent.finished(tools) for agent in listed}
    return _toml(made, [f"{agent.id}/{note}" for agent in listed for note in agent.notes])


def _toml(table: Mapping[str, Json], notes: Iterable[str]) -> str:
    import tomli_w

    told = [f"# {_one_line(note)}" for note in notes]
    head = ["# Imported. What the source says and nothing here reads:", *told, ""] if told else ["# Imported.", ""]
    return "\n".join(head) + "\n" + tomli_w.dumps(table)


def _one_line(note: str) -> str:
    """A comment ends with its line: no name of a file or an arm may bring in another one, or what TOML refuses in it."""
    return "".join(letter if letter.isprintable() else f"\\u{ord(letter):04x}" for letter in note)


def _write(files: Mapping[str, str]) -> tuple[str, ...]:
    there = [path for path in files if os.path.lexists(path)]
    if there:
        raise ToolgateError("invalid", f"{there[0]} is there already", "nothing is overwritten: name another folder with --into")
    written: list[str] = []
    try:
        for path, text in files.items():
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "x", encoding="utf-8", newline="") as file:
                written.append(path)
                file.write(text)
    except BaseException as error:
        for path in written:
            with contextlib.suppress(OSError):
                os.unlink(path)
        if not isinstance(error, OSError):
            raise
        said = (error.strerror or "cannot be written").lower()
        raise ToolgateError("storage", f"{error.filename}: {said}", "check the folder and its permissions") from None
    return tuple(written)
