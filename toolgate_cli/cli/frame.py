"""What every command is told: where the home is, who acts, and how to answer."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from ..core.errors import ToolgateError
from . import streams

if TYPE_CHECKING:
    from ..runtime.desk import Desk

Format = Literal["auto", "table", "tsv", "json", "jsonl"]
Color = Literal["auto", "always", "never"]
Settled = Literal["table", "tsv", "json", "jsonl"]
FORMATS: Final[tuple[str, ...]] = get_args(Format)
_SETTLED: Final[dict[str, Settled]] = {"table": "table", "tsv": "tsv", "json": "json", "jsonl": "jsonl"}


class Frame(NamedTuple):
    """The options that all commands share, as they were given; None: not given."""

    home: str | None = None
    db: str | None = None
    actor: str | None = None
    output: Format | None = None
    json: bool = False
    color: Color = "auto"
    quiet: bool = False
    verbose: bool = False

    def session(self) -> AbstractContextManager[Desk]:
        """The use cases, wired; imported here so that help and usage errors need none of it."""
        from .. import bootstrap, settings

        return bootstrap.open_session(settings.settings({"home": self.home, "db": self.db, "actor": self.actor}, os.environ))

    def format(self) -> Settled:
        """The format of stdout; `auto` is settled by whether a terminal is there."""
        chosen = "json" if self.json else self.output or os.environ.get("TOOLGATE_OUTPUT") or "auto"
        if chosen in _SETTLED:
            return _SETTLED[chosen]
        if chosen != "auto":
            raise ToolgateError("usage", f"TOOLGATE_OUTPUT is {chosen}, no such format", f"one of {', '.join(FORMATS)}")
        return "table" if streams.OUT.terminal() else "tsv"

    def note(self, text: str) -> None:
        """One line on stderr that is no error; silent with --quiet."""
        if not self.quiet:
            streams.ERR.line(text)


def colored(color: Color, stream: streams.Stream) -> bool:
    """Whether to use colour on a stream: the option, then NO_COLOR, FORCE_COLOR, TERM and the terminal."""
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.terminal() and os.environ.get("TERM") != "dumb"


def wants_json(words: list[str]) -> bool:
    """Whether errors are to be JSON, told from the bare command line: also for one that cannot be parsed."""
    if "--json" in words:
        return True
    chosen = os.environ.get("TOOLGATE_OUTPUT", "")
    for index, word in enumerate(words):
        for name in ("--output=", "-o"):
            if word.startswith(name) and word != "-o":
                chosen = word[len(name) :]
        if word in ("-o", "--output") and index + 1 < len(words):
            chosen = words[index + 1]
    return chosen in ("json", "jsonl")
