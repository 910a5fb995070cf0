"""What is wrong with a file is told on one line, whatever words are in it."""

from __future__ import annotations

import tomllib

from hypothesis import example, given
from hypothesis import strategies as st

from toolgate_cli.workflow.issues import Issue, field, shorten, tell

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(WORDS)
@example("exclusiveMi\nimum")
@example('a" = 1\n[policy')
@example("\x7f\\\t\r\x00")
def test_a_path_reads_back_as_the_key_that_is_meant(word: str) -> None:
    told = field(("tools", word))
    assert told.isprintable() or all(ord(letter) > 0x7F for letter in told if not letter.isprintable())
    assert tomllib.loads(f"{told.removesuffix(': ')} = 1") == {"tools": {word: 1}}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_foreign_word_stays_on_its_line(word: str) -> None:
    assert not any(letter < " " or letter == "\x7f" for letter in shorten(word))
    assert len(shorten(word)) <= 60 * 6 + 3


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("there is no block e\nd")
def test_what_is_said_of_a_file_is_one_line(text: str) -> None:
    [(message, hint)] = tell("pay.toml", "schema = 1\n", [Issue(("schema",), text, "mend it")])
    assert message.startswith("pay.toml:1: schema: ") and hint == "mend it" and not any(letter < " " for letter in message)
