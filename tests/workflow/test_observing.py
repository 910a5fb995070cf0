"""What is looked at outside of a transaction: files inside the home, and values by their schemas; everything else is told, never raised."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from toolgate_cli.core.intents import Finding, Look
from toolgate_cli.core.types import Json
from toolgate_cli.workflow import observing, reading
from toolgate_cli.workflow.observing import BIGGEST, observe
from toolgate_cli.workflow.validators import MOST_PROBLEMS


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home" / "out").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("outside")
    (tmp_path / "home-twin").mkdir()
    (tmp_path / "home-twin" / "x.txt").write_text("outside")
    return tmp_path / "home"


def look(
    home: Path, file: str | None, want: Any, at: str = "", schema: Json = True, value: Json = None, apart: tuple[str, ...] = ()
) -> Finding:
    [found] = observe(str(home), apart, [Look(file, want, at, schema, value)])
    return found


def test_a_text_is_read_as_it_is(home: Path) -> None:
    (home / "out" / "a.txt").write_bytes("\ufeffgrüße\r\n".encode())
    assert look(home, "out/a.txt", "text") == Finding("grüße\r\n")
    (home / "empty").write_bytes(b"")
    assert look(home, "empty", "text") == Finding("")


def test_a_json_value_is_strict_and_exact(home: Path) -> None:
    (home / "a.json").write_text('{"n": 12345678901234567890123, "x": [0.1, {"/": null}]}')
    assert look(home, "a.json", "json") == Finding({"n": 12345678901234567890123, "x": [0.1, {"/": None}]})
    assert look(home, "a.json", "json", "/x/1/~1") == Finding(None)
    assert look(home, "a.json", "json", "/y") == Finding(error="a.json: nothing is at /y")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', "NaN", "{", "", "1 2", "0.1234567890123456789", "[" * 300 + "]" * 300, '"\\ud800"'])
def test_what_is_no_strict_json_is_told_with_the_name_of_the_file(home: Path, text: str) -> None:
    (home / "a.json").write_text(text)
    found = look(home, "a.json", "json")
    assert found.value is None and found.error is not None and found.error.startswith("a.json: ")


@pytest.mark.parametrize(
    ("content", "filled"), [(b"x", True), (b"", False), (b" \n\t\r\n", False), (b"\xff\xfe", True), (b" " * 70_000, True)]
)
def test_a_file_is_filled_when_there_is_anything_but_blanks_in_it(home: Path, content: bytes, filled: bool) -> None:
    (home / "a").write_bytes(content)
    assert look(home, "a", "filled") == Finding(filled)


def test_a_file_of_any_size_is_filled_but_only_a_small_one_is_read(home: Path) -> None:
    with open(home / "big", "wb") as file:
        file.write(b"x")
        file.truncate(1 << 33)
    assert look(home, "big", "filled") == Finding(True)
    assert look(home, "big", "text") == Finding(error="big: larger than 1 MiB")
    (home / "most").write_bytes(b"x" * BIGGEST)
    assert look(home, "most", "text").error is None
    (home / "most").write_bytes(b"x" * (BIGGEST + 1))
    assert look(home, "most", "text") == Finding(error="most: larger than 1 MiB")


def test_nothing_outside_of_the_home_is_read(home: Path) -> None:
    os.symlink("../secret.txt", home / "link")
    os.symlink("..", home / "up")
    os.symlink("../home-twin", home / "twin")
    os.symlink("/proc/self/environ", home / "environ")
    names = ["../secret.txt", "out/../../secret.txt", "link", "up/secret.txt", "twin/x.txt", "../home-twin/x.txt", "environ"]
    names += [str(home.parent / "secret.txt"), "/etc/passwd", "up/home-twin/x.txt", "../gone", "twin/gone"]
    for name in names:
        for want in ("text", "json", "filled"):
            assert look(home, name, want).error == f"{name} is outside the home", (name, want)


def test_a_link_that_is_put_in_a_files_place_while_it_is_opened_leads_nowhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "a").write_text("inside")
    real = os.open

    def swapped(path: Any, *more: Any) -> int:
        os.unlink(home / "a")
        os.symlink("../secret.txt", home / "a")
        return real(path, *more)

    monkeypatch.setattr(reading.os, "open", swapped)
    assert look(home, "a", "text") == Finding(error="a is outside the home")


def test_links_inside_the_home_are_followed(home: Path) -> None:
    (home / "out" / "a.txt").write_text("hi")
    os.symlink("out", home / "in")
    assert look(home, "in/a.txt", "text") == Finding("hi") and look(home, "./out/../in//a.txt", "text") == Finding("hi")


@pytest.mark.parametrize("name", ["gone", "out", "pipe", "", "a\0b", "gone/x", "loop", "x" * 5000])
def test_what_is_no_file_is_told(home: Path, name: str) -> None:
    os.mkfifo(home / "pipe")
    os.symlink("loop", home / "loop")
    for want in ("text", "json", "filled", "problems"):
        found = look(home, name, want)
        assert found.value is None and found.error, (name, want)


def test_what_is_not_utf_8_is_told(home: Path) -> None:
    (home / "a").write_bytes(b"\xff")
    assert look(home, "a", "text") == Finding(error="a is not UTF-8")
    assert look(home, "a", "json") == Finding(error="a is not UTF-8")


def test_what_belongs_to_the_store_is_never_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing a descriptor of one of these would give its locks away."""
    state = home / ".toolgate"
    (state / "owners").mkdir(parents=True)
    (state / "owners" / "o1").write_text("")
    (state / "toolgate.db").write_text("")
    os.symlink(".toolgate", home / "state")
    apart = (str(state / "toolgate.db"), str(state / "owners"))
    monkeypatch.setattr(observing, "read_inside", None)
    for name in (".toolgate/toolgate.db", ".toolgate/owners/o1", "state/toolgate.db", "out/../state/owners/o1"):
        for want in ("text", "filled", "json"):
            assert look(home, name, want, apart=apart) == Finding(error=f"{name} is the store's own")


def test_problems_are_told_by_code_and_pointer_and_hold_no_value(home: Path) -> None:
    schema: Json = {"type": "object", "required": ["b"], "properties": {"a": {"type": "integer", "maximum": 3}}}
    (home / "a.json").write_text('{"in": {"a": 777}}')
    assert look(home, "a.json", "problems", "/in", schema) == Finding(
        ["REQUIRED_MISSING at /b", "RANGE_VIOLATION at /a (more than the maximum 3)"]
    )
    assert look(home, None, "problems", "", schema, {"a": 3, "b": 1}) == Finding([])
    assert look(home, None, "problems", "", schema, 777) == Finding(["INVALID_TYPE (not of type object)"])
    many: Json = {"items": {"type": "string"}}
    found = look(home, None, "problems", "", many, list(range(100)))
    assert isinstance(found.value, list) and len(found.value) == MOST_PROBLEMS


def test_the_order_of_looks_is_that_of_the_findings(home: Path) -> None:
    (home / "a").write_text("1")
    looks = [Look("a", "json"), Look("gone", "filled"), Look("a", "text"), Look("a", "filled")]
    assert observe(str(home), (), looks) == (Finding(1), Finding(error="no file gone"), Finding("1"), Finding(True))


def test_whatever_goes_wrong_is_a_finding(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(observing, "read_inside", broken)
    assert look(home, "a", "text") == Finding(error="a could not be looked at: MemoryError")
