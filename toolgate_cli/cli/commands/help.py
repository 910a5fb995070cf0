"""`help`: what there is, one command, or a topic."""

from __future__ import annotations

import os
from typing import Annotated, Final

from ...core.errors import ToolgateError
from .. import catalogue
from ..declared import Argument
from ..frame import Frame
from ..safe import Safe
from ..streams import OUT

PURPOSE: Final = "Know"
TOPICS: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "topics")

Topic = Annotated[list[str] | None, Argument(metavar="[TOPIC]", help="A command, a group of them, or a topic.")]


def run(_frame: Frame, topic: Topic = None) -> int:
    """Show what there is, or more about one command or topic."""
    for text in _lines(topic or []):
        OUT.line(Safe(text))
    return 0


def _lines(words: list[str]) -> list[str]:
    known, name = catalogue.names(), tuple(words)
    if not name:
        return [*catalogue.overview(), f"and about a topic: {', '.join(topics())}"]
    if name in known:
        return _of_command(name, known[name])
    if any(name == command[:1] for command in known):
        return catalogue.overview(name[0])
    if len(name) == 1 and name[0] in topics():
        with open(os.path.join(TOPICS, f"{name[0]}.txt"), encoding="utf-8") as file:
            return file.read().splitlines()
    raise ToolgateError("not_found", f"{' '.join(words)} is neither a command nor a topic", catalogue.nearest(words))


def topics() -> list[str]:
    """Every file of topics/ is one."""
    return sorted(file.removesuffix(".txt") for file in os.listdir(TOPICS) if file.endswith(".txt"))


def _of_command(name: catalogue.Name, module: str) -> list[str]:
    from ..invoke import build

    command = build(name, module)
    context = command.make_context("toolgate " + " ".join(name), [], resilient_parsing=True)
    return command.get_help(context).splitlines()
