"""Runs in a process of its own: calls one Python function, whose result alone reaches standard output.

How it ends: 0 with the result as canonical JSON; 0 with nothing where there is none that can be told; 1 with type and message of an
exception, and where in the home it came from; or as the function ends the process.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import reduce
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import CodeType
from typing import cast

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.types import Json

FAILED = 1


class _Source(SourceFileLoader):
    """A file of the home whose content was pinned: it is what was pinned, or nothing; no compiled copy of it is trusted (I3)."""

    def __init__(self, name: str, path: str, digest: str) -> None:
        super().__init__(name, path)
        self._digest = digest

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002  # as importlib calls it
        data = self.get_data(self.path)
        if hashlib.sha256(data).hexdigest() != self._digest:
            raise ImportError(f"{self.path} changed between the decision and the start")
        code: CodeType = compile(data, self.path, "exec", dont_inherit=True)
        return code


class _Pinned:
    """Finds modules of the home before anything else does. `modules`: name -> (path, sha256); `wanted`: the one that is called."""

    def __init__(self, home: str, modules: Mapping[str, tuple[str, str]], wanted: str) -> None:
        self._home = home
        self._modules = modules
        self._wanted = wanted

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name not in self._modules:
            return self._folder(name) if self._wanted.startswith(f"{name}.") else None
        place, digest = self._modules[name]
        return spec_from_file_location(name, place, loader=_Source(name, place, digest))

    def _folder(self, name: str) -> ModuleSpec:
        """A folder that was no package when it was pinned: whatever has come to be called like it is not run on the way there."""
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [os.path.join(self._home, *name.split("."))]
        return spec


def main() -> None:
    """argv: the home, MODULE:FUNCTION, and name -> [path, sha256] as JSON; standard input: the arguments, one object."""
    home, function, pinned = sys.argv[1:]
    arguments = canonical.parse(sys.stdin.buffer.read())
    modules = canonical.parse(pinned)
    assert isinstance(arguments, dict) and isinstance(modules, dict)
    answer = _apart()
    sys.argv[1:] = []
    sys.dont_write_bytecode = True
    sys.path.append(home)  # last: what was not pinned takes the place of no module that is there already
    held = {name: (str(pair[0]), str(pair[1])) for name, pair in modules.items() if isinstance(pair, list)}
    sys.meta_path.insert(0, _Pinned(home, held, function.partition(":")[0]))  # no more than find_spec is asked of a finder
    sys.exit(_answered(answer, home, function, arguments))


def _answered(answer: int, home: str, function: str, arguments: Mapping[str, Json]) -> int:
    """Calls it; the exit code."""
    process = os.getpid()
    try:
        module, _, names = function.partition(":")
        called = cast("Callable[..., object]", reduce(getattr, names.split("."), import_module(module)))
        value = called(**arguments)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever the function raises is what it answers
        _say(_told(error) + _where(error, home + os.sep))
        return FAILED
    try:
        text = canonical.encode(_plain(value))
    except (ToolgateError, RecursionError) as error:
        _say(f"the function came back with what is not JSON: {getattr(error, 'message', 'TOO_DEEP')}")
        return 0
    if os.getpid() == process:  # a fork of the function that came back too has nothing to say
        _write(answer, text.encode())
    return 0


def _apart() -> int:
    """A descriptor for the result; whatever is printed goes where failures are told, and nothing is left to be read."""
    answer = os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return answer


def _plain(value: object) -> Json:
    """Tuples as lists; nothing else is turned into what it is not."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, (list, tuple)) else cast(Json, value)


def _told(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:  # noqa: BLE001  # an exception that cannot even say what it is
        said = "it has no text"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _where(error: BaseException, home: str) -> str:
    """The innermost line of the home that it came through, as Python says it of a file that it cannot read; "" where there is none. The
    first frame is this module's own."""
    found = ""
    frame = error.__traceback__ and error.__traceback__.tb_next
    while frame is not None:
        file = frame.tb_frame.f_code.co_filename
        if file.startswith(home) and f"{os.sep}site-packages{os.sep}" not in file:
            found = f" ({file.removeprefix(home)}, line {frame.tb_lineno})"
        frame = frame.tb_next
    return found


def _say(text: str) -> None:
    """After all that was printed: the end of it is what is kept."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    _write(2, f"\n{text}\n".encode("utf-8", "backslashreplace"))


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
