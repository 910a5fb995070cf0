"""Tools that are commands: argv without a shell, a clean environment, the stored argument bytes on standard input (I3, I8)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal, cast

from ..core import commandline, references
from ..core.errors import ToolgateError
from ..core.fields import Path, Secret
from ..core.results import ToolResult
from ..core.types import Json
from ..core.values import NamedTuple
from ..host import pins
from ..runtime.plugs import Pinned
from . import _filling

if TYPE_CHECKING:
    from ..runtime.plugs import InvokeLimits, Started


PROBE = "-"  # the mark of no call
CONFIRMS = True
_SCRIPTS = (".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".jar")


class Fields(NamedTuple):
    """`[tools."NAME".command]`. `cwd` and `pin` are relative to the home, files in `argv` to `cwd`."""

    argv: tuple[str, ...]
    stdin: Literal["json", "none"] = "json"
    env: Annotated[dict[str, str], Secret()] = {}  # noqa: RUF012  # never changed
    cwd: str = "."
    pin: Annotated[tuple[str, ...], Path()] = ()


class Bound(NamedTuple):
    """A command that is filled and ready to start. `env`: the declared part; `path`: PATH; `sealed`: what of the environment holds
    secrets, as it is written: it is filled when the tool is started, and not before (I12)."""

    argv: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    path: str
    stdin: Literal["json", "none"]
    sealed: dict[str, str] = {}  # noqa: RUF012  # never changed


def pin(fields: object, home: str, path: str) -> Pinned:
    """Facts: {"executable", "real", "path", "files": {relative path: sha256}}; an executable inside the home is one of the files."""
    assert isinstance(fields, Fields)
    from ..host import running

    running.ready()  # what a start needs is loaded before it is on record
    looked_at: list[str] = []
    try:
        return _pin(fields, home, path, looked_at)
    except ToolgateError as error:
        return Pinned(None, tuple(looked_at), error.message)


def _pin(fields: Fields, home: str, path: str, looked_at: list[str]) -> Pinned:
    home = os.path.abspath(home)
    folder = _folder(fields, home)
    _check(fields, folder)
    word = _literal(fields.argv[0]) or ""
    places = pins.candidates(word, folder, path)
    looked_at += places  # a program that appears in an earlier place is a change too
    found = pins.find_executable(word, places, path)
    looked_at.append(found.real)
    files = dict(_files(fields, home, folder, found.path, looked_at))
    sums: dict[str, Json] = {name: pins.sha256_of(place) for name, place in sorted(files.items())}
    facts: Json = {"executable": found.path, "real": found.real, "path": path, "files": sums}
    return Pinned(facts, tuple(dict.fromkeys(looked_at)))


def _folder(fields: Fields, home: str) -> str:
    return home if fields.cwd == "." else os.path.join(home, fields.cwd)


def _check(fields: Fields, folder: str) -> None:
    if not fields.argv:
        raise ToolgateError("invalid", "argv is empty: it needs at least the program")
    if _literal(fields.argv[0]) is None:
        raise ToolgateError("invalid", "argv[0] holds a reference: which program runs is never an argument")
    if fault := commandline.fault_of_names(tuple(fields.env)):
        raise ToolgateError("invalid", fault)
    if not os.path.isdir(folder):
        raise ToolgateError("invalid", f"cwd: there is no folder {folder}")


def _literal(item: str) -> str | None:
    """The text of an item without references; None where it has some."""
    parts = references.split(item)
    return None if any(not isinstance(part, str) for part in parts) else "".join(cast("tuple[str, ...]", parts))


def _files(fields: Fields, home: str, folder: str, executable: str, looked_at: list[str]) -> list[tuple[str, str]]:
    """Relative and absolute path of every file whose content belongs to the definition; what may become one is looked at too."""
    found: list[tuple[str, str]] = []
    if (name := pins.inside(home, executable)) is not None:
        found.append((name, executable))
    for item in fields.argv[1:]:
        place = os.path.join(folder, _literal(item) or "")
        name = None if "\0" in place else pins.inside(home, place)
        if name is None or os.path.isdir(place):  # a folder changes with whatever is in it
            continue
        looked_at.append(place)
        if pins.is_file(place):
            found.append((name, place))
    for item in fields.pin:
        place = os.path.join(home, item)
        looked_at.append(place)
        if pins.escapes(home, place):
            raise ToolgateError("invalid", f"pin: {item} leads out of the home")
        found.append((os.path.normpath(item), place))
    return found


def doubts(fields: Fields, home: str) -> tuple[tuple[tuple[str | int, ...], str], ...]:
    """Scripts in the command line that are not there. An item that looks like one may be something else, so it is no error."""
    folder = _folder(fields, os.path.abspath(home))
    return tuple(
        (("argv", number), f"no file {item}")
        for number, item in enumerate(fields.argv)
        if number and is_script(item) and not os.path.exists(os.path.join(folder, item))
    )


def is_script(item: str) -> bool:
    """Whether a word is the name of a program's text and can be nothing else."""
    return item.endswith(_SCRIPTS) and item[0] != "-" and not any(mark in item for mark in ("$", ":", " "))


def gives_all(fields: object) -> bool:
    assert isinstance(fields, Fields)
    return fields.stdin == "json"


def bind(fields: object, pinned: Json, home: str, arguments: dict[str, Json]) -> Bound:
    """Fills `${args.x}` in argv and env, `${env.NAME}` in env; `${secret.NAME}` stays what it is. Raises ToolgateError("invalid") for
    what could not be executed."""
    assert isinstance(fields, Fields) and isinstance(pinned, dict)
    filled = commandline.argv(fields.argv, _filling.arguments(arguments))
    env = commandline.environment(fields.env, _filling.everything(arguments, _filling.unopened))
    argv = (cast(str, pinned["executable"]), *filled[1:])
    folder = _folder(fields, os.path.abspath(home))
    return Bound(argv, env, folder, cast(str, pinned["path"]), fields.stdin, _filling.sealed(fields.env))


def invoke(claim: Started, limits: InvokeLimits) -> ToolResult:
    """Exit 0 is success; another code is the tool's own "failed"; a signal or a timeout says nothing about the effect."""
    from ..host import endings, running
    from ..host.child import Command

    bound = claim.bound
    assert isinstance(bound, Bound)
    stdin = claim.arguments.encode() if bound.stdin == "json" else None
    if claim.answer is not None:  # it goes on from where it stopped
        stdin = claim.answer.state.encode()
    try:
        env = _filling.environment(claim, bound.path, {**bound.env, **_filling.opened(claim, bound.sealed, limits.secrets)})
        if claim.answer is not None:
            env["TOOLGATE_ANSWER"] = claim.answer.word
    except ToolgateError as error:
        return ToolResult("not_dispatched", message=error.message)
    mark = claim.call_id if not limits.asks else PROBE
    command = Command(mark, bound.argv, bound.cwd, env, stdin, claim.fence)
    return endings.result(running.run(command, limits.timeout, limits.output_bytes, limits.stop, limits.secrets), limits.timeout)
