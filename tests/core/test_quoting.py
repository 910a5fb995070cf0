"""Whether a text stands in another: the same answer, and in a moment, however many texts are looked for."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core import canonical
from toolgate_cli.core.quoting import Quotes

MANY = 60_000


def by_the_book(texts: Iterable[str], stored: str) -> bool:
    """One text after the other."""
    for text in texts:
        if len(text) >= 8:
            once = json.dumps(text, ensure_ascii=False)[1:-1]
            twice = json.dumps(once, ensure_ascii=False)[1:-1]
            if any(spelling in stored for spelling in (text, once, twice)):
                return True
        elif len(text) > 1 and any(map(str.isalnum, text)):
            word = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
            try:
                leaves = json.loads(stored)
            except ValueError:
                leaves = [stored]
            if word.search(stored) and any(word.search(leaf) for leaf in leaves):
                return True
    return False


few = st.text('ab" -\u00e4', max_size=10)


@given(st.sets(few, max_size=6), st.lists(few, max_size=4), st.booleans())
def test_many_texts_are_found_where_each_of_them_is(texts: set[str], said: list[str], many: bool) -> None:
    stored = canonical.encode(list(said))
    others = {f"other text {number}" for number in range(100)} if many else set()
    assert Quotes(texts | others).stands_in(stored) == by_the_book(texts, stored)


alike = st.text("ab", min_size=8, max_size=13).map(lambda text: "aaaaaaa" + text)


@given(st.sets(alike, max_size=6), st.lists(alike, max_size=3))
def test_texts_that_begin_alike_are_found_where_each_of_them_is(texts: set[str], said: list[str]) -> None:
    stored = "".join(said)
    others = {f"other text {number}" for number in range(100)}
    assert Quotes(texts | others).stands_in(stored) == by_the_book(texts, stored)


@pytest.mark.parametrize("length", [2047, 2048, 2049, 5000])
def test_a_long_text_is_found_among_many(length: int) -> None:
    quotes = Quotes({"a" * (length - 1) + "b", *(f"other text {number}" for number in range(100))})
    assert quotes.stands_in("a" * length + "b") and not quotes.stands_in("a" * (length - 2) + "b")


@pytest.mark.parametrize("lengths", [range(1, 1000), [200_000]])
def test_texts_of_many_lengths_that_begin_alike_are_looked_for_in_a_moment(lengths: Iterable[int]) -> None:
    quotes = Quotes({*("a" * 8 + "b" * length for length in lengths), *(f"other text {number}" for number in range(100))})
    began = time.monotonic()
    assert not quotes.stands_in("a" * 100_000 + "c" * 100_000)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("width", [5, 9])
def test_what_holds_as_many_texts_as_a_result_can_is_looked_through_in_a_moment(width: int) -> None:
    draw = random.Random(width)
    words = [f"{draw.randrange(16**width):0{width}x}" for _ in range(2 * MANY)]
    here, there = set(words[:MANY]), sorted(set(words[MANY:]) - set(words[:MANY]))
    began = time.monotonic()
    quotes = Quotes(here)
    assert not quotes.stands_in(canonical.encode(list(there)))
    assert quotes.stands_in(canonical.encode([*there, words[7]]))
    assert time.monotonic() - began < 5


def test_links_that_all_begin_alike_are_looked_for_in_a_moment() -> None:
    began = time.monotonic()
    quotes = Quotes(f"https://example.org/{number}" for number in range(MANY))
    assert not quotes.stands_in(canonical.encode([f"https://example.com/{number}" for number in range(MANY)]))
    assert time.monotonic() - began < 5
