"""Finds plug-ins by the names of their files and imports one when it is used: a new file is a new kind, no line registers it."""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, cast

from .core.errors import ToolgateError

if TYPE_CHECKING:
    from .runtime.plugs import ModelAdapter, Provider, StepKind

_HERE = os.path.dirname(os.path.abspath(__file__))


def step_kinds() -> tuple[str, ...]:
    return names("steps")


def step_kind(name: str) -> StepKind:
    return cast("StepKind", plugin("steps", name, "step type", ("Fields", "plan")))


def providers() -> tuple[str, ...]:
    return names("providers")


def provider(name: str) -> Provider:
    return cast("Provider", plugin("providers", name, "tool provider", ("Fields", "pin", "bind", "invoke")))


def models() -> tuple[str, ...]:
    return names("models")


def model(name: str) -> ModelAdapter:
    return cast("ModelAdapter", plugin("models", name, "model adapter", ("Fields", "complete")))


def stores() -> tuple[str, ...]:
    return names("stores")


def store(name: str) -> ModuleType:
    """The module: `open_store(place, mint)` gives a `runtime.store.Store`, and DURABLE says whether who opens that place again finds it."""
    return plugin("stores", name, "store", ("DURABLE", "open_store"))


@lru_cache(maxsize=16)
def names(package: str) -> tuple[str, ...]:
    """Names of the modules of a package that do not begin with "_", in order; nothing is imported."""
    found = {entry.removesuffix(".py") for entry in os.listdir(os.path.join(_HERE, package)) if entry.endswith(".py")}
    return tuple(sorted(name for name in found if not name.startswith("_") and name.isidentifier()))


@lru_cache(maxsize=64)
def plugin(package: str, name: str, what: str, needed: tuple[str, ...]) -> ModuleType:
    """The module. ToolgateError("invalid") for a name that there is not, "internal" for a module that is not what it should be."""
    known = names(package)
    if name not in known:
        import difflib

        near = difflib.get_close_matches(name, known, 1, 0.6)
        hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(known)}"
        raise ToolgateError("invalid", f"there is no {what} {name}", hint)
    module = import_module(f"{__package__}.{package}.{name}")
    missing = [word for word in needed if not hasattr(module, word)]
    if missing:
        raise ToolgateError("internal", f"{package}/{name}.py has no {', '.join(missing)}")
    return module
