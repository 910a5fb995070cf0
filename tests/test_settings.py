"""Where a setting comes from, and who acts."""

from __future__ import annotations

import os
import pwd

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.settings import person, settings

ME = pwd.getpwuid(os.getuid()).pw_name


def test_without_anything_there_are_defaults() -> None:
    found = settings({}, {"USER": "mallory", "LOGNAME": "mallory"})
    assert found.home == os.getcwd() and found.db == os.path.join(os.getcwd(), ".toolgate", "toolgate.db")
    assert (found.actor, found.os_user, found.output, found.color) == (ME, ME, "auto", "auto")
    assert set(found.origins.values()) == {"default"}


def test_a_flag_beats_a_variable_beats_the_default() -> None:
    environ = {"TOOLGATE_HOME": "/b", "TOOLGATE_ACTOR": "bob", "TOOLGATE_OUTPUT": "tsv"}
    found = settings({"home": "/a", "actor": None, "output": "json"}, environ)
    assert (found.home, found.db, found.actor, found.output) == ("/a", "/a/.toolgate/toolgate.db", "bob", "json")
    assert found.origins == {"home": "--home", "db": "default", "actor": "TOOLGATE_ACTOR", "output": "--output", "color": "default"}
    assert settings({"db": "x.db"}, {"TOOLGATE_DB": "/y.db"}).db == os.path.abspath("x.db")


@pytest.mark.parametrize(
    ("environ", "color", "origin"),
    [
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, "never", "NO_COLOR"),
        ({"NO_COLOR": "", "FORCE_COLOR": "1"}, "always", "FORCE_COLOR"),
        ({"FORCE_COLOR": "0"}, "never", "FORCE_COLOR"),
        ({"TERM": "dumb"}, "never", "TERM"),
        ({"TERM": "dumb", "TOOLGATE_COLOR": "always"}, "always", "TOOLGATE_COLOR"),
        ({"NO_COLOR": "1", "TOOLGATE_COLOR": "auto"}, "auto", "TOOLGATE_COLOR"),
    ],
)
def test_color_follows_the_common_variables(environ: dict[str, str], color: str, origin: str) -> None:
    found = settings({}, environ)
    assert (found.color, found.origins["color"]) == (color, origin)
    assert settings({"color": "never"}, environ).color == "never"


@pytest.mark.parametrize(
    ("flags", "environ", "message"),
    [
        ({"output": "xml"}, {}, "--output: xml is not one of auto, table, tsv, json, jsonl"),
        ({}, {"TOOLGATE_OUTPUT": "JSON"}, "TOOLGATE_OUTPUT: JSON is not one of"),
        ({"color": "yes"}, {}, "--color: yes is not one of"),
        ({"actor": ""}, {}, "--actor is empty"),
        ({}, {"TOOLGATE_ACTOR": ""}, "TOOLGATE_ACTOR is empty"),
        ({"actor": "a\nb"}, {}, "--actor is not a name"),
        ({"actor": " alice"}, {}, "--actor is not a name"),
        ({"actor": "*"}, {}, "--actor is not a name"),
        ({"actor": "\u202ealice"}, {}, "--actor is not a name"),
        ({"actor": "a" * 200}, {}, "--actor is not a name"),
        ({"actor": "e\u0301ve"}, {}, "--actor is not a name"),
        ({}, {"TOOLGATE_ACTOR": "A\u030angstrom"}, "TOOLGATE_ACTOR is not a name"),
        ({"actor": "\u212b"}, {}, "--actor is not a name"),  # the sign, which is composed as the letter
        ({"actor": "system"}, {}, "system is toolgate itself"),
        ({"home": ""}, {}, "--home is empty"),
        ({"home": "a\0b"}, {}, "--home is not a path"),
        ({"db": "x/"}, {}, "is a folder"),
    ],
)
def test_what_is_no_value_is_a_usage_error(flags: dict[str, str | None], environ: dict[str, str], message: str) -> None:
    with pytest.raises(ToolgateError) as caught:
        settings(flags, environ)
    assert caught.value.kind == "usage" and message in caught.value.message


def test_a_person_is_the_name_and_what_the_system_says() -> None:
    found = person(settings({"actor": "alice"}, {}), "declared")
    assert (found.name, found.os_user, found.uid, found.host) == ("alice", ME, os.getuid(), os.uname().nodename)


def test_a_name_that_is_not_composed_is_refused_with_what_to_do_and_a_composed_one_stays_as_it_was_typed() -> None:
    with pytest.raises(ToolgateError) as caught:
        settings({"actor": "e\u0301"}, {})
    assert "NFC" in caught.value.hint
    assert [settings({"actor": name}, {}).actor for name in ("\xe9", "Ada", "\uff41da")] == ["\xe9", "Ada", "\uff41da"]


def test_where_only_the_os_user_counts_another_name_is_refused() -> None:
    assert person(settings({"actor": ME}, {}), "os").name == ME
    with pytest.raises(ToolgateError) as caught:
        person(settings({}, {"TOOLGATE_ACTOR": "alice"}), "os")
    assert caught.value.kind == "not_authorised"


def test_a_user_without_a_name_has_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 987654)
    assert settings({}, {}).actor == "uid-987654"
