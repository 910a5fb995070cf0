"""Tools that are Python functions of the home: called in a process of their own, from exactly the file that was pinned (I3, I8)."""

from __future__ import annotations

import os
import sys
from typing import Annotated, cast

from ..core import canonical, commandline
from ..core.errors import ToolgateError
from ..core.fields import Path, Secret
from ..core.results import ToolResult
from ..core.types import Json
from ..core.values import NamedTuple
from ..host import pins
from ..runtime.plugs import InvokeLimits, Pinned, Started
from . import _filling

_WHERE = 'write "MODULE:FUNCTION", of a module in the home'


class Fields(NamedTuple):
    """`[tools."NAME".python]`. `function`: "MODULE:FUNCTION", the module a file of the home; `pin`: further files, relative to the home."""

    function: str
    env: Annotated[dict[str, str], Secret()] = {}  # noqa: RUF012  # never changed
    pin: Annotated[tuple[str, ...], Path()] = ()


class Bound(NamedTuple):
    """A call that is ready. `modules`: name -> (path, sha256), of those that were pinned; `sealed`: what of the environment holds secrets,
    as it is written."""

    function: str
    home: str
    path: str
    modules: dict[str, tuple[str, str]]
    env: dict[str, str]
    sealed: dict[str, str]


def pin(fields: object, home: str, path: str) -> Pinned:
    """Facts: {"python", "path", "files": {relative path: sha256}}."""
    assert isinstance(fields, Fields)
    looked_at: list[str] = []
    try:
        return _pin(fields, os.path.abspath(home), path, looked_at)
    except ToolgateError as error:
        return Pinned(None, tuple(looked_at), error.message)


def _pin(fields: Fields, home: str, path: str, looked_at: list[str]) -> Pinned:
    names = _check(fields)
    places = [os.path.join(*names[: depth + 1], "__init__.py") for depth in range(len(names))]
    places.append(os.path.join(*names) + ".py")
    looked_at += [os.path.join(home, place) for place in places]  # one that appears is a change too
    found = [place for place in places if pins.is_file(os.path.join(home, place))]
    if not {*places[-2:]} & {*found}:
        raise ToolgateError("invalid", f"function: there is no module {'.'.join(names)} in the home", _WHERE)
    files = list(dict.fromkeys([*found, *map(os.path.normpath, fields.pin)]))
    looked_at += [os.path.join(home, name) for name in files]
    for name in files:
        if pins.escapes(home, os.path.join(home, name)):
            raise ToolgateError("invalid", f"{name} leads out of the home")
    sums: dict[str, Json] = {name: pins.sha256_of(os.path.join(home, name)) for name in sorted(files)}
    return Pinned({"python": sys.executable, "path": path, "files": sums}, tuple(dict.fromkeys((sys.executable, *looked_at))))


def _check(fields: Fields) -> list[str]:
    """The parts of the module's name."""
    module, colon, function = fields.function.partition(":")
    names = module.split(".")
    if not colon or not all(name.isidentifier() for name in (*names, *function.split("."))):
        raise ToolgateError("invalid", f"function: {fields.function!r} names no function", _WHERE)
    if names[0] in sys.stdlib_module_names or names[0] == "toolgate_cli":
        raise ToolgateError("invalid", f"function: {names[0]} is the name of a module that is there already", "call the file otherwise")
    if fault := commandline.fault_of_names(tuple(fields.env)):
        raise ToolgateError("invalid", fault)
    if not sys.executable:
        raise ToolgateError("invalid", "it is not known which Python this is")
    return names


def doubts(fields: Fields, home: str) -> tuple[tuple[tuple[str | int, ...], str], ...]:
    """A function that its module does not seem to have; how it comes by its names is known for certain only when it runs."""
    import ast

    module, _, function = fields.function.partition(":")
    base = os.path.join(home, *module.split("."))
    place = next(filter(pins.is_file, (os.path.join(base, "__init__.py"), f"{base}.py")), None)
    if place is None:
        return ()  # said already
    try:
        with open(place, "rb") as file:
            tree = ast.parse(file.read(), place)
    except (OSError, SyntaxError, ValueError) as error:
        return ((("function",), f"{os.path.relpath(place, home)} cannot be read as Python: {error}"),)
    known = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    known |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    known |= {node.asname or node.name for node in ast.walk(tree) if isinstance(node, ast.alias)}
    name = function.split(".")[0]
    return () if name in known or "*" in known else ((("function",), f"{os.path.relpath(place, home)} has no {name}"),)


def bind(fields: object, pinned: Json, home: str, arguments: dict[str, Json]) -> Bound:
    """Fills env; the function gets the arguments by their names. Raises ToolgateError("invalid")."""
    assert isinstance(fields, Fields) and isinstance(pinned, dict) and isinstance(pinned["files"], dict)
    home = os.path.abspath(home)
    env = commandline.environment(fields.env, _filling.everything(arguments, _filling.unopened))
    modules = {
        _module(name): (os.path.join(home, name), cast(str, digest)) for name, digest in pinned["files"].items() if name.endswith(".py")
    }
    for name in set(modules) & sys.stdlib_module_names:
        del modules[name]  # Python's own is what everybody else means by it
    return Bound(fields.function, home, cast(str, pinned["path"]), modules, env, _filling.sealed(fields.env))


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix(f"{os.sep}__init__").replace(os.sep, ".")


def invoke(claim: Started, limits: InvokeLimits) -> ToolResult:
    """A result is a success; an exception is the tool's own "failed", with code 1, and `sys.exit(N)` with code N; a process that ends well
    without a result says nothing about the effect."""
    from ..host import endings
    from . import _children

    bound = claim.bound
    assert isinstance(bound, Bound)
    try:
        env = _filling.environment(claim, bound.path, {**bound.env, **_filling.opened(claim, bound.sealed, limits.secrets)})
    except ToolgateError as error:
        return ToolResult("not_dispatched", message=error.message)
    modules: dict[str, Json] = {name: list(pinned) for name, pinned in bound.modules.items()}
    words = (bound.home, bound.function, canonical.encode(modules))
    ended = _children.run("_calling", words, claim.arguments, env, bound.home, claim, limits)
    result = endings.result(ended, limits.timeout)
    if not result.ok or (result.size and (result.truncated or _is_json(result.output))):
        return result
    said = endings.last_words(ended.stderr) or "the function ended its process without a result"
    return result._replace(ended="uncertain", ok=False, code=None, message=said)


def _is_json(text: str) -> bool:
    try:
        canonical.parse(text)
    except ToolgateError:
        return False
    return True
