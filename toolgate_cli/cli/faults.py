"""How a command that did not come to its end is told: refusals, interruptions, and faults of toolgate itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ..core.errors import ToolgateError
from . import exits
from .frame import wants_json
from .streams import ERR


class Terminated(BaseException):
    """SIGTERM, as something that every `with` and `finally` sees."""


def terminate(_number: int, _frame: object) -> NoReturn:
    raise Terminated


def told(words: list[str], command: Callable[[], int]) -> int:
    """Runs the command; whatever it raises becomes lines on stderr and an exit code."""
    try:
        return command()
    except ToolgateError as refused:
        return _say(words, refused.kind, refused.message, refused.hint, exits.OF_KIND[refused.kind], refused.retryable)
    except KeyboardInterrupt:
        return _interrupted(words, "interrupted", exits.INTERRUPTED)
    except Terminated:
        return _interrupted(words, "terminated", exits.TERMINATED)
    except Exception as fault:  # noqa: BLE001  # whatever it is, it is told
        return _internal(words, fault)


def _say(words: list[str], kind: str, message: str, hint: str, code: int, retryable: bool = False) -> int:
    from .views import failure

    if wants_json(words):
        from .output import json_line

        json_line(failure.to_json(kind, message, hint, code, retryable), ERR)
    else:
        for text in failure.lines(message, hint):
            ERR.line(text)
    return code


def _interrupted(words: list[str], how: str, code: int) -> int:
    message = f"{how}: a call that was running then is an unknown outcome"
    return _say(words, "interrupted", message, "toolgate pending list shows it", code)


def _internal(words: list[str], fault: Exception) -> int:
    from .report import frames, write

    if "-v" in words or "--verbose" in words:
        for text in "".join(frames(fault)).splitlines():
            ERR.line(text)
    path = write(fault)
    message = f"internal fault: {type(fault).__name__}, {f'see {path}' if path else 'no report could be written'}"
    return _say(words, "internal", message, "toolgate runs list and toolgate events show what was recorded", exits.OF_KIND["internal"])
