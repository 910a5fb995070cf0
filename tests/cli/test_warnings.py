"""The card warns of what a reader would be deceived by, wherever it stands, in one short line each."""

from __future__ import annotations

import json

import pytest

from toolgate_cli.cli.views import card
from toolgate_cli.core import canonical

from .given import waiting


def warned(arguments: object, **more: str) -> list[str]:
    target = waiting()
    assert target.call is not None
    call = target.call._replace(arguments=canonical.encode(arguments), **more)  # type: ignore[arg-type]  # any JSON
    return [value for name, value, _ in card.fields(target._replace(call=call)) if name == "warning"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({"to": "р\u0430ypal"}, "/to has Cyrillic and Latin letters in one word (U+0440 U+0430)"),
        ({"to": "аррӏе"}, "/to has only letters that look Latin and are Cyrillic (U+0430 U+0440 U+04CF U+0435)"),
        ({"a": [{"b": "x\u202ey"}]}, "/a/0/b has hidden characters (U+202E)"),
        ({"pay\u200b": 1}, "/pay\\u200b has hidden characters (U+200B)"),
        ({"р\u0430y": 1}, "/р\u0430y has Cyrillic and Latin letters in one word (U+0440 U+0430)"),
        ({"url": "https://x/?q=%E2%80%AEcod"}, "/url (behind %) has hidden characters (U+202E)"),
        ({"url": "x%00y"}, "/url (behind %) has hidden characters (U+0000)"),
        ({"body": json.dumps({"to": "\u202e"})}, "/body/to (JSON in it) has hidden characters (U+202E)"),
        ({"x": "\x1b[2K"}, "/x has hidden characters (U+001B)"),
        ({"x": "a\u00adb"}, "/x has hidden characters (U+00AD)"),
        ({"x": "a\ufe0f"}, "/x has hidden characters (U+FE0F)"),
        ({"x": "a\u200db"}, "/x has hidden characters (U+200D)"),
        ({"x": "\U000e0041\U000e0042"}, "/x has hidden characters (U+E0041 U+E0042)"),
        ({"x": "\u3164"}, "/x has hidden characters (U+3164)"),
        ({"x": "\u200b\u200c\u2060\u2061\u2062"}, "/x has hidden characters (U+200B U+200C U+2060 U+2061 ...)"),
        ({"x" * 100: "\u202e"}, "/" + "x" * 59 + "... has hidden characters (U+202E)"),
    ],
)
def test_what_deceives_is_named_by_its_place(arguments, line):
    assert warned(arguments) == [line]


@pytest.mark.parametrize(
    "value",
    [
        *(
            "plain",
            "two\nlines\r\n\ttabbed",
            "Grüße, Zoë",
            "10\u00a0€",
            "❤️ 👩‍💻 🏳️‍🌈 1️⃣ 👍🏽",
            "می\u200cخواهم",
            "क्\u200dष",
            "100%",
            "a%20b%0A",
        ),
        *("%c3%bc", '{"to": "bob"}', "{not json \\", "[" * 100_000 + "\\", "日本語とKana", "10μs"),
    ],
    ids=lambda value: ascii(value[:20]),
)
def test_what_is_usual_is_not_warned_of(value):
    assert warned({"x": value, "y": [value]}) == []


def test_every_field_that_a_model_writes_is_looked_at():
    target = waiting(text="р\u0430y")
    found = [value.partition(" has ")[0] for name, value, _ in card.fields(target) if name == "warning"]
    assert found == ["/р\u0430y", "title", "rationale", "reason", "step", "workflow", "requested by", "approved by"]
    asked = [value.partition(" has ")[0] for name, value, _ in card.fields(waiting("INPUT", "р\u0430y")) if name == "warning"]
    assert {"form/0/label", "form/0/options/0"} <= set(asked)


def test_warnings_stand_last_and_are_never_many():
    found = warned({f"k{number}": "\u202e" for number in range(40)})
    assert len(found) == 12 and found[-1] == "29 more like these"
    assert card.fields(waiting(text="\u202e"))[-1].name == "warning"
