"""What is wrong with a file, all of it at once: every issue names its line, its field, and what was probably meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from ..core.errors import ToolgateError
from ..core.values import NamedTuple
from .positions import KeyPath, Positions

_BARE = r"[A-Za-z0-9_-]+\Z"
MEND = "mend the file, then: toolgate workflow check"
_MOST = 50  # issues in one message
_SHOWN = 60  # characters of a foreign word in a message
_ON_ONE_LINE = {code: json.dumps(chr(code))[1:-1] for code in range(0x20)}  # words of a file stand in what is said of it


class Issue(NamedTuple):
    """`text`: what is; `hint`: what to do, "" where there is nothing to add."""

    path: KeyPath
    text: str
    hint: str = ""


class Issues:
    """Collects what is found in one file."""

    def __init__(self) -> None:
        self.errors: dict[Issue, None] = {}  # in the order they were found
        self.warnings: dict[Issue, None] = {}

    def add(self, path: KeyPath, text: str, hint: str = "") -> None:
        self.errors[Issue(path, text, hint)] = None

    def warn(self, path: KeyPath, text: str, hint: str = "") -> None:
        self.warnings[Issue(path, text, hint)] = None

    def take(self, others: Issues, said: str) -> None:
        """All that was found elsewhere, with more to say of each."""
        for errors, more in ((self.errors, others.errors), (self.warnings, others.warnings)):
            errors.update(dict.fromkeys(Issue(issue.path, issue.text + said, issue.hint) for issue in more))

    def below(self, path: KeyPath) -> bool:
        """Whether something at or under the path is wrong."""
        return any(issue.path[: len(path)] == path for issue in self.errors)


def tell(file: str, text: str, issues: Iterable[Issue]) -> tuple[tuple[str, str], ...]:
    """(message, hint) of each issue with its line, in the order of the file."""
    found = tuple(issues)
    if not found:
        return ()
    positions = Positions(text)
    placed = sorted(((positions.line(issue.path), issue) for issue in found), key=lambda pair: pair[0])
    return tuple((f"{file}:{line}: {field(issue.path)}{issue.text.translate(_ON_ONE_LINE)}", issue.hint) for line, issue in placed)


def refusal(told: Iterable[tuple[str, str]]) -> ToolgateError:
    """One error for all of them; of very many it shows the first."""
    found = list(told)
    messages = [message for message, _ in found[:_MOST]]
    if len(found) > _MOST:
        messages.append(f"and {len(found) - _MOST} more")
    hints = dict.fromkeys(hint for _, hint in found[:_MOST] if hint)
    each = tuple(found[:_MOST]) + tuple((message, "") for message in messages[_MOST:])
    return ToolgateError("invalid", "; ".join(messages), "; ".join(hints) or MEND, each=each if len(each) > 1 else ())


def field(path: KeyPath) -> str:
    """A key path as TOML writes it: `tools."refunds.issue".command.argv[0]: `."""
    words = ""
    for part in path:
        if isinstance(part, int):
            words += f"[{part}]"
        else:
            words += ("." if words else "") + (part if re.match(_BARE, part) else f'"{shorten(part)}"')
    return words + ": " if words else ""


def shorten(word: object) -> str:
    """The beginning of a foreign word as it stands between the quotes of TOML, so on one line whatever is in it."""
    text = str(word)
    return json.dumps(text[:_SHOWN], ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f") + ("..." if len(text) > _SHOWN else "")


def meant(word: object, choices: Iterable[str]) -> str:
    """A hint: the nearest of the choices, or all of them where they are few."""
    import difflib

    known = sorted(choices)
    if not isinstance(word, str):
        return _among(known)
    folded = {choice.lower(): choice for choice in known}
    near = difflib.get_close_matches(word.strip().lower()[:100], folded, 1, 0.6)
    return f"did you mean {folded[near[0]]}?" if near else _among(known)


def _among(known: list[str]) -> str:
    return f"one of {', '.join(known)}" if 0 < len(known) <= 16 else ""
