"""Wildcards, against a slow and plain reading of the same rules."""

from __future__ import annotations

import time
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.wildcards import matches


def plainly(pattern: str, text: str, separator: str, question: bool) -> bool:
    if not pattern:
        return not text
    if pattern.startswith("**"):
        return any(plainly(pattern[2:], text[cut:], separator, question) for cut in range(len(text) + 1))
    if pattern[0] == "*":
        run = len(text) if not separator or separator not in text else text.index(separator)
        return any(plainly(pattern[1:], text[cut:], separator, question) for cut in range(run + 1))
    if not text:
        return False
    if pattern[0] == "?" and question:
        return text[0] != separator and plainly(pattern[1:], text[1:], separator, question)
    return pattern[0] == text[0] and plainly(pattern[1:], text[1:], separator, question)


@given(st.text("ab./*?", max_size=7), st.text("ab./*?", max_size=9), st.sampled_from(["", ".", "/"]), st.booleans())
def test_the_machine_agrees_with_the_plain_reading(pattern: str, text: str, separator: str, question: bool) -> None:
    assert matches(pattern, text, separator, question) == plainly(pattern, text, separator, question)


def test_every_short_pattern_answers_every_short_text_as_the_plain_reading_does() -> None:
    patterns = ["".join(some) for length in range(4) for some in product("a*?/", repeat=length)]
    texts = ["".join(some) for length in range(4) for some in product("ab/", repeat=length)]
    for pattern, text, separator, question in product(patterns, texts, ["", "/"], [True, False]):
        assert matches(pattern, text, separator, question) == plainly(pattern, text, separator, question), (
            pattern,
            text,
            separator,
            question,
        )


@pytest.mark.parametrize("pattern", ["*" * 50 + "b", "a*" * 40 + "b", "**a" * 40 + "b", "?*" * 40 + "b"])
def test_no_pattern_takes_more_than_linear_time(pattern: str) -> None:
    began = time.perf_counter()
    assert not matches(pattern, "a" * 65536, "/", question=True)
    assert time.perf_counter() - began < 2
