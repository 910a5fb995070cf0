"""Writes a live model's turns as a script that the scripted model replays: each turn once, the file whole or as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import cast

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.secrets import Secrets
from ..core.turns import Completion, TurnRequest
from ..core.types import Json
from ..runtime import asking
from ._script import Entry, load, tell

_KEY = ("workflow", "step", "agent", "ordinal")
_PATIENCE = 4.0  # seconds: a turn is written in milliseconds


def doubts(script: str | None, home: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Why nothing can be recorded there."""
    if script is not None and (why := _fault(script, home)):
        yield ("record",), f"record: {why}"


def ready(script: str | None, home: str) -> None:
    """ToolgateError("failed") where the script could not be gone on with: found out before a model is asked."""
    if script is not None and (why := _fault(script, home)):
        raise ToolgateError("failed", f"the turn could not be recorded: {why}", "")


def _fault(script: str, home: str) -> str | None:
    place = _place(script, home)
    if place is None:
        return f"{script} is not inside the home"
    folder = os.path.dirname(place)
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        return f"{script}: its folder is not there, or cannot be written"
    problems = load(home, script)[1] if os.path.lexists(place) else ()
    return tell(script, problems[0]) if problems else None


def _place(script: str, home: str) -> str | None:
    root = os.path.realpath(home)
    place = os.path.realpath(os.path.join(root, script))
    return place if not os.path.isabs(script) and os.path.commonpath((root, place)) == root and place != root else None


def keep(script: str | None, home: str, request: TurnRequest, said: Completion, secrets: Secrets) -> None:
    """Puts the turn in the place of an earlier one of the same step and ordinal. What will not be stored is not recorded: a turn at fault,
    or one with the value of a secret, also where that shows only once it is parsed. ToolgateError("failed") where it cannot be written."""
    if script is None or said.fault is not None or secrets.leaks(said.commands, said.text, asking.commands(said)):
        return
    place = _place(script, home)
    assert place is not None, "it was ready"
    entry = _entry(request, said)
    try:
        with _alone(os.path.dirname(place)):
            entries, problems = load(home, script) if os.path.lexists(place) else ((), ())
            if problems:
                raise ToolgateError("failed", f"the turn could not be recorded: {tell(script, problems[0])}")
            kept = [_table(held) for held in entries if any(getattr(held, name) != entry[name] for name in _KEY)]
            _write(place, [*kept, entry])
    except OSError as error:
        raise ToolgateError("failed", f"the turn could not be recorded: {script}: {error.strerror}") from None


def _entry(request: TurnRequest, said: Completion) -> dict[str, Json]:
    """The turn under its whole path, so that two steps of one id are kept apart. TOML has no null: a turn with one is kept as JSON text."""
    made: dict[str, Json] = {
        "workflow": request.workflow,
        "step": request.path or request.step,
        "agent": request.agent,
        "ordinal": request.ordinal,
    }
    if said.text is not None:
        return {**made, "text": said.text}
    commands = said.commands
    return {**made, "commands": commands} if _fits_toml(commands) else {**made, "text": canonical.encode(commands)}


def _fits_toml(value: Json) -> bool:
    if isinstance(value, dict):
        return all(map(_fits_toml, value.values()))
    if isinstance(value, list):
        return all(map(_fits_toml, value))
    return value is not None and not (type(value) is int and abs(value) >= 2**63)


def _table(entry: Entry) -> dict[str, Json]:
    return {name: cast(Json, value) for name, value in entry._asdict().items() if value is not None}


def _write(place: str, entries: list[dict[str, Json]]) -> None:
    import tomli_w

    text = tomli_w.dumps(cast("Mapping[str, object]", {"schema": 1, "turns": entries}))
    beside = f"{place}.{os.getpid()}.tmp"
    made = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(made, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, place)
    except BaseException:
        os.unlink(beside)
        raise


@contextmanager
def _alone(folder: str) -> Iterator[None]:
    """One writer of a folder at a time: two runs that record into one script lose no turn of each other. Whoever may look into the folder
    can hold it: ToolgateError("storage"), retryable, after _PATIENCE."""
    import fcntl
    import time

    held, until = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), time.monotonic() + _PATIENCE
    try:
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise ToolgateError("storage", f"the turn could not be recorded: {folder} is locked", retryable=True) from None
                time.sleep(0.01)
        yield
    finally:
        os.close(held)
