"""A refusal: what is, then what to do; or one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.errors import Choice
from ...core.types import Json
from ..safe import Safe, command, fill, line, spaced

_SHORTEST = 6  # characters of what a command is about; fewer say nothing


def to_json(kind: str, message: str, hint: str, exit_code: int, retryable: bool = False, choices: Sequence[Choice] = ()) -> dict[str, Json]:
    """`hint` is text of one line, or of one for each command to choose from."""
    lines = [*map(_choice, choices), *([line(hint)] if hint else [])]
    told = "\n".join(lines) if choices else hint
    return {"error": {"kind": kind, "message": message, "hint": told, "exit_code": exit_code, "retryable": retryable}}


def lines(
    message: str, hint: str, choices: Sequence[Choice] = (), width: int | None = None, each: Sequence[tuple[str, str]] = ()
) -> Iterator[Safe]:
    """`each`: several faults of one file that the message joins, each with what to do about it. `width`: columns of a
    terminal, where the comment behind a command is cut: what stood on a line of its own would be pasted as one."""
    if each:
        yield from (fill("error: {} ({})", one, to_do) if to_do else fill("error: {}", one) for one, to_do in each)
        yield fill("hint: {}", _said("mend the file, then: toolgate workflow check", width))
        return
    yield fill("error: {}", message)
    room = None if width is None else width - len("hint: ")
    for choice in _told_apart(choices, room):
        yield fill("hint: {}", _choice(choice, room))
    if hint:
        yield fill("hint: {}", _said(hint, width))


def _said(hint: str, width: int | None) -> Safe:
    if width is None:
        return line(hint)
    from ..folding import glued

    return glued(line(hint))


def _choice(choice: Choice, room: int | None = None) -> Safe:
    """The command, and behind it what it is about: one word to a shell, also to one that takes # for no comment."""
    about = line(choice.about)
    if room is not None:
        about = _cut(about, room - len(fill("{} # ", choice.command)))
    copied = line(choice.command) if room is None else command(choice.command)
    return fill("{} # {}", copied, _quoted(about)) if about else copied


def _told_apart(choices: Sequence[Choice], room: int | None) -> Sequence[Choice]:
    """The same, without the words with which all of them begin where one of them has to be cut: its end tells it from the others."""
    told = [choice.about.split(" ") for choice in choices]
    shared = next((at for at, words in enumerate(zip(*told, strict=False)) if len(set(words)) > 1), 0)
    if not shared or room is None or all(spaced(_choice(choice, room)) == _choice(choice) for choice in choices):
        return choices
    return [choice._replace(about=f"...{' '.join(words[shared:])}") for choice, words in zip(choices, told, strict=True)]


def _cut(text: Safe, room: int) -> Safe:
    if _cells(text) <= room:
        return text
    kept = text[: max(room, 0)]  # what is cut one by one may be a question of megabytes
    while kept and _cells(kept + "...") > room:
        kept = kept[:-1]
    return Safe(kept + "...") if len(kept) >= _SHORTEST else Safe("")


def _cells(text: str) -> int:
    quoted = _quoted(text)
    if quoted.isascii():
        return len(quoted)
    from rich.cells import cell_len  # knows how wide a character is drawn

    return cell_len(quoted)


def _quoted(text: str) -> Safe:
    import shlex

    return Safe(shlex.quote(text))
