"""How a command that did not come to its end is told: refusals, interruptions, and faults of toolgate itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NoReturn

from ..core.errors import Choice, ToolgateError
from ..host import heeding
from ..host.heeding import Terminated
from . import exits
from .frame import MAY_HAVE_RUN, wants_json
from .streams import ERR

_LONGEST = 300  # characters of a foreign word in a message
_RECORDED = "toolgate runs list shows what was recorded"
_LONG = rf"\S{{{_LONGEST + 1},}}"


def terminate(_number: int, _frame: object) -> NoReturn:
    heeding.interrupt(Terminated())


def interrupt(_number: int, _frame: object) -> NoReturn:
    heeding.interrupt(KeyboardInterrupt())


def told(words: list[str], command: Callable[[], int]) -> int:
    """Runs the command; whatever it raises becomes lines on stderr and an exit code."""
    heeding.told()
    try:
        code = command()
        heeding.heed()  # it came where nobody could catch it: what was done is answered, and how it ended is not hidden
        return code
    except ToolgateError as refused:
        return say(wants_json(words), refused)
    except KeyboardInterrupt as interruption:
        return _interrupted(words, "interrupted", interruption, exits.INTERRUPTED)
    except Terminated as interruption:
        return _interrupted(words, "terminated", interruption, exits.TERMINATED)
    except OSError as fault:
        return _of_the_system(words, fault)
    except MemoryError:
        return _say(words, "storage", "there is not enough memory", _RECORDED, exits.OF_KIND["storage"])
    except Exception as fault:  # noqa: BLE001  # whatever it is, it is told
        return _internal(words, fault)


def say(as_json: bool, refused: ToolgateError) -> int:
    """A refusal, on stderr in either form; its exit code."""
    code = exits.OF_KIND[refused.kind]
    _tell(as_json, refused.kind, refused.message, refused.hint, code, refused.retryable, refused.choices, refused.each)
    return code


def _say(words: list[str], kind: str, message: str, hint: str, code: int) -> int:
    _tell(wants_json(words), kind, message, hint, code)
    return code


def _tell(
    as_json: bool,
    kind: str,
    message: str,
    hint: str,
    code: int,
    retryable: bool = False,
    choices: Sequence[Choice] = (),
    each: Sequence[tuple[str, str]] = (),
) -> None:
    from .views import failure

    message = _shortened(message)
    if as_json:
        from .output import json_line

        json_line(failure.to_json(kind, message, hint, code, retryable, choices), ERR)
    else:
        several = [(_shortened(one), _shortened(to_do)) for one, to_do in each]
        for text in failure.lines(message, hint, choices, ERR.width(), several):
            ERR.line(text)


def _shortened(text: str) -> str:
    return re.sub(_LONG, lambda word: word[0][:_LONGEST] + "...", text)


def _interrupted(words: list[str], how: str, interruption: BaseException, code: int) -> int:
    """What only looks has started nothing, and says no more than that it ended."""
    if MAY_HAVE_RUN not in getattr(interruption, "__notes__", ()):
        return _say(words, "interrupted", how, "", code)
    return _say(words, "interrupted", f"{how}: {MAY_HAVE_RUN}", "toolgate pending list shows it", code)


def _of_the_system(words: list[str], fault: OSError) -> int:
    """A file or a folder that is not as it has to be, where nobody expected it."""
    _trace(words, fault)
    message = f"{fault.filename or 'a system call failed'}: {(fault.strerror or type(fault).__name__).lower()}"
    hint = f"check the file, its folder and the free space; {_RECORDED}"
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
