"""Lines of keys, whatever way TOML has of writing them."""

from __future__ import annotations

import random
import tomllib

import pytest

from toolgate_cli.workflow.positions import KeyPath, Positions

TEXT = '''# comment with [brackets] = and "quotes"
a = 1
"b.c" = 2
d.e.'f g' = 3   # dotted and quoted

[table]
text = """
[not.a.table]
x = 1
"""
raw = \'\'\'
y = """ [[no]]
\'\'\'
after = { one = 1, two = { three = "}" , four = [1, 2] } }
list = [
  "a",  # a comment ]
  { k = 1 },
  [ 1,
    2 ],
]
[table.sub."q.r"]
z = 1
[[rows]]
id = 1
[[rows]]
id = 2
[rows.inner]
deep = true
[[rows.more]]
n = 1
[[rows.more]]
n = 2
"esc\\u0061pe" = 1
'''

LINES: list[tuple[KeyPath, int]] = [
    (("a",), 2),
    (("b.c",), 3),
    (("d", "e", "f g"), 4),
    (("table",), 6),
    (("table", "text"), 7),
    (("table", "raw"), 11),
    (("table", "after"), 14),
    (("table", "after", "two", "four", 1), 14),
    (("table", "list"), 15),
    (("table", "list", 0), 16),
    (("table", "list", 1, "k"), 17),
    (("table", "list", 2, 1), 19),
    (("table", "sub", "q.r", "z"), 22),
    (("rows", 0, "id"), 24),
    (("rows", 1), 25),
    (("rows", 1, "id"), 26),
    (("rows", 1, "inner", "deep"), 28),
    (("rows", 1, "more", 0, "n"), 30),
    (("rows", 1, "more", 1, "n"), 32),
    (("rows", 1, "more", 1, "escape"), 33),
    (("rows", 1, "missing"), 25),
    (("nothing",), 1),
]


@pytest.mark.parametrize(("path", "line"), LINES, ids=[str(path) for path, _ in LINES])
def test_a_key_is_found_on_its_line(path: KeyPath, line: int) -> None:
    tomllib.loads(TEXT)
    assert Positions(TEXT).line(path) == line
    assert Positions(TEXT.replace("\n", "\r\n")).line(path) == line


def test_every_key_of_a_parsed_file_is_found() -> None:
    def paths(value: object, path: KeyPath = ()) -> list[KeyPath]:
        found = [path] if path else []
        if isinstance(value, dict):
            return found + [inner for key, held in value.items() for inner in paths(held, (*path, key))]
        if isinstance(value, list):
            return found + [inner for number, held in enumerate(value) for inner in paths(held, (*path, number))]
        return found

    known = Positions(TEXT)._lines
    assert [path for path in paths(tomllib.loads(TEXT)) if path not in known] == []


def test_no_text_makes_it_fail() -> None:
    chance = random.Random(7)
    pieces = ['"', "'", '"""', "'''", "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\n", "#", "\\", "\\u12", " ", "a", "é", "\r\n", "\0"]
    for _ in range(3000):
        text = "".join(chance.choice(pieces) for _ in range(chance.randrange(40)))
        assert Positions(text).line(("a", 0)) >= 1
    Positions("x = " + "[" * 100_000).line(("x",))
    Positions("a." * 100_000 + "b = 1").line(("x",))
