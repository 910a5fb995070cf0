"""The entry point: words in, an exit code out, and no exception past it."""

from __future__ import annotations

import gc
import os
import sys

# A collection while modules are loaded finds nothing and costs milliseconds; a long run still gets its own.
gc.set_threshold(200_000, 20, 20)


def main() -> None:
    """Runs the command line of this process and ends it."""
    # everything is written, committed and closed then: taking the interpreter down in order would only cost time
    try:
        code = run(sys.argv[1:])
    except (MemoryError, SystemError, OSError, ImportError):  # there is not even enough for an error, or for Python to say which
        os.write(2, b"error: not enough memory or open files are left\nhint: toolgate runs list shows what was recorded\n")
        code = 10
    except BaseException as again:  # a second interruption, while the first one is told of
        from ..host.heeding import Terminated

        if not isinstance(again, (KeyboardInterrupt, Terminated)):
            raise
        code = 143 if isinstance(again, Terminated) else 130
    os._exit(code)


def run(words: list[str]) -> int:
    """One command from its words to its exit code; everything that was answered is flushed."""
    if words == ["--version"]:
        return _version()
    if words[:1] == ["--complete"]:
        from .completing import complete

        return complete(words[1:])
    from . import faults, streams

    streams.prepare()
    # a lower limit from outside would make stored integers unreadable; they have at most 1,000 digits
    if 0 < sys.get_int_max_str_digits() < 4300:
        sys.set_int_max_str_digits(4300)
    code = faults.told(words, lambda: _dispatch(words))
    streams.OUT.flush()
    if streams.OUT.failed:
        streams.ERR.line(f"error: the answer could not be written: {streams.OUT.failed}; what was done stays done")
        code = code or 1
    streams.ERR.flush()
    return code


def _version() -> int:
    from .. import __version__

    try:
        os.write(1, f"toolgate {__version__}\n".encode())
    except OSError:
        return 1
    return 0


def _told_version(words: list[str]) -> int:
    """Beside other options: as JSON where that is wanted."""
    from .. import __version__
    from .frame import wants_json

    if not wants_json(words):
        return _version()
    from .output import json_line

    json_line({"schema": "toolgate.version/1", "version": __version__})
    return 0


def _dispatch(words: list[str]) -> int:
    import signal

    from ..core.errors import ToolgateError
    from . import catalogue, route
    from .faults import interrupt, terminate
    from .streams import ERR, OUT

    if sys.platform != "linux":
        raise ToolgateError("usage", f"toolgate runs on Linux only, not on {sys.platform}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, terminate)
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # whoever starts us in the background may not want it heard
        signal.signal(signal.SIGINT, interrupt)
    if not words:
        for text in catalogue.overview():
            ERR.line(text)
        return 2
    found = route.find(words)
    if found.name == (route.VERSION,):
        return _told_version(words)
    if found.module is None:
        for text in catalogue.overview(found.name[0] if found.name else None):
            OUT.line(text)
        return 0
    from .invoke import invoke

    return invoke(found.name, found.module, found.arguments)
