"""The folder that is imported: plain files in known places, none of them a link, none of them too large, none of them passed over."""

from __future__ import annotations

import os
import stat

from ...core import canonical
from ...core.errors import ToolgateError
from ...core.values import NamedTuple
from ..reading import read
from .held import Held, Problems

MOST = 10_000  # files
MOST_BYTES = 64 << 20  # of all of them
_WORKFLOW, _AGENT = ".workflow", ".agent"


class Part(NamedTuple):
    """A bundle: `name` of its folder without the ending; `main`: its document; `texts`: file -> text; `others`: file -> document."""

    name: str
    main: Held
    texts: dict[str, str]
    others: dict[str, Held]


class Found(NamedTuple):
    workflows: list[Part]
    agents: list[Part]
    scripts: list[Held]


class Folder:
    def __init__(self, root: str, problems: Problems) -> None:
        self._root = root
        self._problems = problems
        self._count = 0
        self._size = 0

    def look(self) -> Found:
        """ToolgateError("invalid") where there is no such folder, or nothing to import in it."""
        found = Found([], [], [])
        try:
            names = self._list("")
        except OSError as error:
            raise ToolgateError("invalid", f"{self._root}: {(error.strerror or 'cannot be listed').lower()}", "name a folder") from None
        for name in names:
            if name == "workflows" and self._is_folder(name):
                for inner in self._list(name):
                    if inner.endswith(_WORKFLOW):
                        self._workflow(os.path.join(name, inner), inner.removesuffix(_WORKFLOW), found)
                    else:
                        self._strange(os.path.join(name, inner))
            elif name == "agents" and self._is_folder(name):
                self._agents(name, found)
            elif name.startswith("script") and name.endswith(".json"):
                found.scripts.extend(self._document(name))
            else:
                self._strange(name)
        if not found.workflows and not self._problems.found:
            raise ToolgateError("invalid", f"{self._root}: no workflows/ID.workflow in it", "name the folder that holds workflows/")
        return found

    def _workflow(self, place: str, id: str, found: Found) -> None:
        texts: dict[str, str] = {}
        others: dict[str, Held] = {}
        main: list[Held] = []
        for name in self._list(place):
            path = os.path.join(place, name)
            if name == "workflow.json":
                main = self._document(path)
            elif name.endswith((".blueprint.json", ".artifact.json")):
                others |= zip([name], self._document(path), strict=False)
            elif name.endswith(".step.prompt.md"):
                texts[name] = self._text(path)
            elif name == "agents" and self._is_folder(path):
                self._agents(path, found)
            elif name != "index":
                self._strange(path)
        if not main:
            self._problems.add(os.path.join(place, "workflow.json"), "", "it is missing, or cannot be read")
        found.workflows.extend(Part(id, held, texts, others) for held in main)

    def _agents(self, place: str, found: Found) -> None:
        for folder in self._list(place):
            inside = os.path.join(place, folder)
            if not folder.endswith(_AGENT) or not self._is_folder(inside):
                self._strange(inside)
                continue
            texts: dict[str, str] = {}
            main: list[Held] = []
            for name in self._list(inside):
                if name == "agent.json":
                    main = self._document(os.path.join(inside, name))
                elif name in ("systemprompt.md", "boundaries.md"):
                    texts[name] = self._text(os.path.join(inside, name))
                else:
                    self._strange(os.path.join(inside, name))
            if not main:
                self._problems.add(os.path.join(inside, "agent.json"), "", "it is missing, or cannot be read")
            found.agents.extend(Part(folder.removesuffix(_AGENT), held, texts, {}) for held in main)

    def _list(self, place: str) -> list[str]:
        full = os.path.join(self._root, place)
        if place and not self._is_folder(place):
            self._problems.add(place, "", "a folder is wanted there")
            return []
        names = sorted(os.listdir(full))
        self._count += len(names)
        if self._count > MOST:
            raise ToolgateError("invalid", f"{self._root}: more than {MOST} files", "import a smaller part")
        return names

    def _is_folder(self, place: str) -> bool:
        return stat.S_ISDIR(os.lstat(os.path.join(self._root, place)).st_mode)

    def _strange(self, place: str) -> None:
        self._problems.add(place, "", "not a part of the format, it cannot be imported")

    def _text(self, place: str) -> str:
        if not stat.S_ISREG(os.lstat(os.path.join(self._root, place)).st_mode):
            self._problems.add(place, "", "a plain file is wanted there, no link")
            return ""
        try:
            data = read(self._root, place).data
            self._size += len(data)
            text = data.decode("utf-8")
        except FileNotFoundError:
            self._problems.add(place, "", "it is gone")
        except UnicodeDecodeError:
            self._problems.add(place, "", "it is not UTF-8")
        except ToolgateError as error:
            self._problems.add(place, "", error.message.removeprefix(f"{place}: "))
        else:
            if self._size > MOST_BYTES:
                raise ToolgateError("invalid", f"{self._root}: more than {MOST_BYTES >> 20} MiB", "import a smaller part")
            if "\0" not in text:
                return text
            self._problems.add(place, "", "it holds a NUL character")
        return ""

    def _document(self, place: str) -> list[Held]:
        before = len(self._problems.found)
        text = self._text(place)
        if len(self._problems.found) > before:
            return []
        try:
            raw = canonical.parse(text)
        except ToolgateError as error:
            self._problems.add(place, "", error.message)
            return []
        if not isinstance(raw, dict):
            self._problems.add(place, "", "an object is wanted")
            return []
        return [Held(place, "", raw, self._problems)]
