"""Ways to break a TOML file, and what every command has to make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from .given import OPERATOR
from .homes import Home, check_refusal, remove
from .saying import Said, say_all


class Broken(NamedTuple):
    """`line` 0: the fault has none; `said`: what the message has to name."""

    name: str
    content: str | bytes
    line: int
    said: str


def verbs(home: Home) -> list[list[str]]:
    """Everything that needs the operator's file."""
    runs, calls = home.runs, home.calls
    return [
        ["start", "pay"],
        ["approve", calls["asked"]],
        ["approve", calls["other"], "--arguments", "edited.json"],
        ["reject", calls["other"]],
        ["retry", calls["failing"]],
        ["retry", calls["doubtful"], "--may-run-twice"],
        ["continue-tool", calls["denied"]],
        ["continue-tool", calls["doubtful"], "--outcome-file", "found.json"],
        ["approve", runs["gate"], "--step", "mark"],
        ["reject", runs["gate"], "--step", "mark"],
        ["review", runs["review"], "-m", "fine"],
        ["answer", runs["form"], "street=x"],
        ["retry", runs["failed"], "--step", "stop"],
        ["continue", runs["asked"]],
        ["recover"],
        ["tools", "list"],
        ["tools", "show", "ledger.pay"],
    ]


def lookers(home: Home) -> list[list[str]]:
    """Everything that needs the store alone."""
    run, call = home.runs["asked"], home.calls["asked"]
    return [
        ["pending", "list"],
        ["pending", "show", call],
        ["runs", "list"],
        ["runs", "show", run],
        ["events", run],
        ["audit", "verify"],
        ["audit", "export"],
        ["wait", run, "--for", "approval"],
    ]


def check_refused(home: Home, broken: Broken, file: str, commands: list[list[str]]) -> None:
    """Each command refuses with the place, the field and a hint, and nothing happens."""
    before = home.stand()
    for said in say_all(home.path, commands):
        check_refusal(said, 7)
        place = f"{file}:{broken.line}: " if broken.line else f"{file}: "
        assert place in said.message and broken.said in said.message and said.hint, (broken.name, said)
    assert home.stand() == before, broken.name


def check_looked_at(said: list[Said]) -> None:
    for answer in said:
        assert answer.code == 0 and answer.out and "error" not in answer.err, answer


def each_key(text: str, free: tuple[str, ...]) -> Iterator[Broken]:
    """Every key of a file once with another letter, and once with a value of another type. `free`: keys that are names."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        key, equals, value = line.partition(" = ")
        if not equals or line.startswith("#"):
            continue
        if key not in free:
            yield Broken(f"{number + 1} {key} misspelt", _with(lines, number, f"{key}x = {value}"), number + 1, f"{key}x: unknown key")
        if key != "eq":
            wrong = "7" if value[0] in '"[{' else '"x"'
            yield Broken(f"{number + 1} {key} = {wrong}", _with(lines, number, f"{key} = {wrong}"), number + 1, key)


def _with(lines: list[str], number: int, line: str) -> str:
    return "\n".join([*lines[:number], line, *lines[number + 1 :]])


def edited(old: str, new: str, said: str, at: str | None = None, text: str = OPERATOR) -> Broken:
    """`at`: a text at whose line the fault is said to be, in the edited file; by default the first line of what is new."""
    assert text.count(old) >= 1, old
    made = text.replace(old, new, 1)
    where = at or new.split("\n")[0]
    return Broken(f"{old.strip()[:40]} > {new.strip()[:40]}", made, made[: made.index(where)].count("\n") + 1, said)


def whole_files(text: str) -> Iterator[Broken]:
    """What may be wrong with any file, whatever is in it."""
    lines = text.count("\n")
    middle = text.index("\n", len(text) // 2)
    yield Broken("cut in a text", text[: text.rindex('"', 0, middle)], text[: text.rindex('"', 0, middle)].count("\n") + 1, "")
    yield Broken("a byte order mark", b"\xef\xbb\xbf" + text.encode(), 1, "byte order mark")
    yield Broken("latin-1", text.encode() + '\n# "caf\u00e9"\n'.encode("latin-1"), lines + 2, "not UTF-8")
    yield Broken("utf-16", text.encode("utf-16"), 1, "not UTF-8")
    yield Broken("a raw nul", text.encode() + b"\n\x00", lines + 2, "")
    yield Broken("bare carriage returns", text.replace("\n", "\r"), 1, "")
    yield Broken("random bytes", bytes(range(128, 256)) * 8, 1, "not UTF-8")
    yield Broken("a word", "nonsense\n" + text, 1, "")
    yield Broken("json", '{"schema": 1}\n', 1, "")
    yield Broken("a key twice", f"schema = 1\n{text}", 2, "")
    yield Broken("deep lists", f"deep = {'[' * 5000}{']' * 5000}\n{text}", 1, "nested too deeply")
    yield Broken("deep tables", f"deep = {'{ a = ' * 3000}1{' }' * 3000}\n{text}", 1, "nested too deeply")
    yield Broken("70 levels", f"deep = {'[' * 70}{']' * 70}\n{text}", 1, "nested too deeply")
    yield Broken("a date", f"day = 2026-01-31\n{text}", 1, "dates and times cannot be used")
    yield Broken("a time", f"at = 07:32:00\n{text}", 1, "dates and times cannot be used")
    yield Broken("5,000 digits", f"n = {'9' * 5000}\n{text}", 1, "too long")
    yield Broken("infinity", f"n = inf\n{text}", 1, "NaN and infinities")
    yield Broken("not a number", f"n = nan\n{text}", 1, "NaN and infinities")
    yield Broken("a number that no double is", f"n = 0.10000000000000000555\n{text}", 1, "cannot be kept exactly")
    yield Broken("an escaped nul", f'n = "a\\u0000"\n{text}', 1, "NUL")
    yield Broken("5 MB", text + "\n#" + "x" * 5_000_000, 0, "larger than 4 MiB")
    yield Broken("an unknown key of 3,000 letters", f"{'k' * 3000} = 1\n{text}", 1, "unknown key")
    yield Broken("a key that a terminal would obey", f'"\\u001b[31m\\u202e" = 1\n{text}', 1, "unknown key")


def no_files(path: Path) -> Iterator[Callable[[], None]]:
    """Puts in its place what is there and cannot be read."""

    def folder() -> None:
        path.mkdir()

    def dangling() -> None:
        path.symlink_to("nowhere")

    def loop() -> None:
        path.symlink_to(path.name)

    def pipe() -> None:
        import os

        os.mkfifo(path)

    for make in (folder, dangling, loop, pipe):
        remove(path)
        yield make
    remove(path)
