"""What the references of a tool's table stand for, and the environment that a process of a call begins with."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..core import canonical, commandline, references
from ..core.types import Json
from ..host.private import home_of_user

if TYPE_CHECKING:
    from ..core.secrets import Secrets
    from ..runtime.plugs import Started

Lookup = Callable[[str], Json]


def arguments(given: Mapping[str, Json]) -> Lookup:
    """`${args.NAME}` alone."""

    def lookup(name: str) -> Json:
        kind, _, rest = name.partition(".")
        if kind != "args":
            raise KeyError(name)
        return given[rest]

    return lookup


def everything(given: Mapping[str, Json], secret: Callable[[str], str]) -> Lookup:
    """`${env.NAME}` and `${secret.NAME}` too."""
    narrow = arguments(given)

    def lookup(name: str) -> Json:
        kind, _, rest = name.partition(".")
        return os.environ[rest] if kind == "env" else secret(rest) if kind == "secret" else narrow(name)

    return lookup


def unopened(name: str) -> str:
    """A secret before the start: how it is written (I12)."""
    return f"${{secret.{name}}}"


class Marks:
    """Stand in for references while a text is filled, and are told from whatever it was filled with. `without`: what all of it is filled
    with no mark in it. A mark is a run of one letter between two of another, longer than there can be one without marks."""

    def __init__(self, without: object) -> None:
        self._least = repr(without).count("b") + 1
        self._names: list[str] = []

    def mark(self, name: str) -> str:
        self._names.append(name)
        return f"a{'b' * (self._least + len(self._names) - 1)}a"

    def written(self, text: str) -> str:
        """The text with references for the marks, and what looks like one escaped."""
        marked = re.compile(f"a(b{{{self._least},}})a")
        return marked.sub(lambda found: f"${{{self._names[len(found[1]) - self._least]}}}", text.replace("${", "$${"))


def sealed(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that hold secrets, as they are written."""
    return {name: text for name, text in env.items() if references.secrets(text)}


def opened(claim: Started, sealed: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
    """What is sealed, filled: once, from how it is written, so that no argument can bring a reference in."""
    return commandline.environment(sealed, everything(parsed(claim), secrets.value)) if sealed else {}


def parsed(claim: Started) -> dict[str, Json]:
    given = canonical.parse(claim.arguments)
    assert isinstance(given, dict)
    return given


def environment(claim: Started, path: str, declared: Mapping[str, str]) -> dict[str, str]:
    """Of a process that is one call."""
    return {**surroundings(path, declared, claim.run_id, claim.call_id), "TOOLGATE_IDEMPOTENCY_KEY": claim.key}


def surroundings(path: str, declared: Mapping[str, str], run: str, call: str) -> dict[str, str]:
    """Nothing of the decider's own environment: what a tool wants of that stands in its `env`, and so in its definition."""
    return {
        "PATH": path,
        "HOME": home_of_user(),
        "LANG": "C.UTF-8",
        **declared,
        "TOOLGATE_RUN": run,
        "TOOLGATE_CALL": call,
    }


def headers(written: Mapping[str, str], secret: Callable[[str], str]) -> dict[str, str]:
    """Headers that are the same in every call, filled. ToolgateError("invalid") for a value that no header can carry, without it."""
    if not written:
        return {}
    from ..core import requests

    return dict(requests.headers(written, everything({}, secret)))
