"""What every command is told: where the home is, who acts, and how to answer."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Final, Literal

from ..core.errors import ToolgateError
from ..core.values import NamedTuple
from . import streams
from .safe import fill

if TYPE_CHECKING:
    from ..runtime.desk import Desk
    from ..runtime.window import Window
    from ..settings import Settings

MAY_HAVE_RUN: Final = "a call that was running then is an unknown outcome"
_OF_A_STORE: Final = ("no run ", "no call ")  # how it is said that a store does not have something
Format = Literal["auto", "table", "tsv", "json", "jsonl"]
Settled = Literal["table", "tsv", "json", "jsonl"]
Color = Literal["auto", "always", "never"]


class Frame(NamedTuple):
    """The options that all commands share, as they were given; None: not given."""

    home: str | None = None
    db: str | None = None
    actor: str | None = None
    output: Format | None = None
    json: bool = False
    color: Color | None = None
    quiet: bool = False
    verbose: bool = False

    def settings(self) -> Settings:
        """With what the environment says. Raises `usage` for what is no value."""
        from ..settings import settings

        if self.json and self.output not in (None, "json"):
            raise ToolgateError("usage", f"--json and --output {self.output} do not go together", "give one of them")
        output = "json" if self.json else self.output
        return settings({"home": self.home, "db": self.db, "actor": self.actor, "output": output, "color": self.color}, os.environ)

    @contextmanager
    def session(self) -> Iterator[Desk]:
        """The use cases, wired; imported here so that help and usage errors need none of it. Whatever interrupts it is marked: a tool may
        have been running."""
        from .. import bootstrap

        self._ways()  # what the answer will need is imported now: once something is decided nothing may be missing
        settings = self.settings()
        missing = self._missing(settings)
        with bootstrap.open_session(settings) as desk:
            try:
                yield desk
            except BaseException as interruption:
                missing = missing and getattr(interruption, "kind", None) != "storage"  # what fails is not said to be made
                if not isinstance(interruption, Exception):
                    interruption.add_note(MAY_HAVE_RUN)
                raise
            finally:
                if missing and os.path.exists(settings.db):  # a command that had nothing to write has made none
                    self.note(fill("note: there was no store at {}: this command has made it, with a log of its own", settings.db))
                if (why := desk.unkept()) is not None:
                    self.note(fill("note: the head of the log is not kept, so a restored copy would not be noticed: {}", why))

    def window(self, *, begun: bool = True, readonly: bool = False) -> AbstractContextManager[Window]:
        """What only looks, wired. `begun=False`: at a home that is only to be written; `readonly`: not even rights are mended."""
        from .. import bootstrap

        settings = self.settings()
        if not readonly and self._missing(settings):
            self.note(fill("note: there is no store at {} yet: a command that writes makes it", settings.db))
        return bootstrap.open_window(settings, begun=begun, readonly=readonly)

    def _missing(self, settings: Settings) -> bool:
        """Whether nothing is yet where a store was named: most likely another one is meant."""
        return settings.origins["db"] != "default" and not os.path.exists(settings.db)

    def format(self) -> Settled:
        """The format of stdout; `auto` is settled by whether a terminal is there."""
        chosen = self.settings().output
        if chosen == "auto":
            return "table" if streams.OUT.terminal() else "tsv"
        return chosen

    def colored(self) -> bool:
        """Whether stdout gets colour; `auto` is settled by whether a terminal is there."""
        chosen = self.settings().color
        return chosen == "always" or (chosen == "auto" and streams.OUT.terminal())

    def here(self, command: str) -> str:
        """A command to paste, with the options that led to this home and this store."""
        return f"toolgate {self._ways()}{command.removeprefix('toolgate ')}"

    def leads(self, refused: ToolgateError) -> ToolgateError:
        """The same refusal; the commands that it hints at lead to this home and this store. What is not there is not there in one store:
        whoever forgot to name another is told which one was looked in."""
        if refused.kind == "not_found" and refused.message.startswith(_OF_A_STORE):
            refused.message += f" (the store is {self.settings().db})"
        if self._ways():
            refused.hint = self.leading(refused.hint)
            refused.choices = tuple(choice._replace(command=self.here(choice.command)) for choice in refused.choices)
        return refused

    def leading(self, text: str) -> str:
        """The same text; the commands that are named in it lead to this home and this store."""
        ways = self._ways()
        if not ways or "toolgate " not in text:
            return text
        import re

        from . import catalogue

        command = re.compile(rf"\btoolgate (?=(?:{'|'.join(sorted({name[0] for name in catalogue.names()}))})\b)")
        return command.sub(lambda found: found[0] + ways, text)

    def _ways(self) -> str:
        given = [(flag, value) for flag, value in (("-C", self.home), ("--db", self.db)) if value is not None]
        if not given:
            return ""
        import shlex

        return "".join(f"{flag} {shlex.quote(value)} " for flag, value in given)

    def note(self, text: str) -> None:
        """One line on stderr that is no error; silent with --quiet."""
        if not self.quiet:
            streams.ERR.line(text)


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
