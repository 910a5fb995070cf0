"""How a command that did not come to its end is told: refusals, interruptions, and faults of toolgate itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NoReturn

from ..core.errors import ToolgateError
from . import exits
from .frame import wants_json
from .streams import ERR

_LONGEST = 300  # characters of a foreign word in a message
_LONG = re.compile(rf"\S{{{_LONGEST + 1},}}")


class Terminated(BaseException):
    """SIGTERM or SIGHUP, as something that every `with` and `finally` sees."""


def terminate(_number: int, _frame: object) -> NoReturn:
    raise Terminated


def told(words: list[str], command: Callable[[], int]) -> int:
    """Runs the command; whatever it raises becomes lines on stderr and an exit code."""
    try:
        return command()
    except ToolgateError as refused:
        return _say(words, refused.kind, refused.message, refused.hint, exits.OF_KIND[refused.kind], refused.retryable, refused.each)
    except KeyboardInterrupt:
        return _interrupted(words, "interrupted", exits.INTERRUPTED)
    except Terminated:
        return _interrupted(words, "terminated", exits.TERMINATED)
    except OSError as fault:
        return _of_the_system(words, fault)
    except Exception as fault:  # noqa: BLE001  # whatever it is, it is told
        return _internal(words, fault)


def _say(
    words: list[str], kind: str, message: str, hint: str, code: int, retryable: bool = False, each: Sequence[tuple[str, str]] = ()
) -> int:
    from .views import failure

    message = _shortened(message)
    if wants_json(words):
        from .output import json_line

        json_line(failure.to_json(kind, message, hint, code, retryable), ERR)
    else:
        several = [(_shortened(one), _shortened(to_do)) for one, to_do in each]
        for text in failure.lines(message, hint, several):
            ERR.line(text)
    return code


def _shortened(text: str) -> str:
    return _LONG.sub(lambda word: word[0][:_LONGEST] + "...", text)


def _interrupted(words: list[str], how: str, code: int) -> int:
    message = f"{how}: a call that was running then is an unknown outcome"
    return _say(words, "interrupted", message, "toolgate pending list shows it", code)


def _of_the_system(words: list[str], fault: OSError) -> int:
    """A file or a folder that is not as it has to be, where nobody expected it."""
    _trace(words, fault)
    message = f"{fault.filename or 'a system call failed'}: {(fault.strerror or type(fault).__name__).lower()}"
    hint = "check the file, its folder and the free space; toolgate runs list shows what was recorded"
    return _say(words, "storage", message, hint, exits.OF_KIND["storage"])


def _trace(words: list[str], fault: Exception) -> None:
    if "-v" in words or "--verbose" in words:
        from .report import frames

        for text in "".join(frames(fault)).splitlines():
            ERR.line(text)


def _internal(words: list[str], fault: Exception) -> int:
    from .report import write

    _trace(words, fault)
    path = write(fault)
    message = f"internal fault: {type(fault).__name__}, {f'see {path}' if path else 'no report could be written'}"
    return _say(words, "internal", message, "toolgate runs list and toolgate events show what was recorded", exits.OF_KIND["internal"])
