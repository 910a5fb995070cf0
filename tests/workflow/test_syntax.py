"""What TOML refuses is told in words, with what to write instead; whatever the line, the parser's own words are the last resort."""

from __future__ import annotations

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.world import Stamp
from toolgate_cli.workflow.document import parse_strictly
from toolgate_cli.workflow.reading import Source

# (the second line of a file, what is wrong, what to write)
TABLE = [
    ("decision = allow", "2: allow is no value", 'a text stands in quotes: "allow"'),
    ("decision = allow  # yes", "2: allow is no value", 'a text stands in quotes: "allow"'),
    ("argv = [git, log]", "2: git is no value", 'a text stands in quotes: "git"'),
    ("x = { decision = allow }", "2: allow is no value", 'a text stands in quotes: "allow"'),
    ('decision = "allow', "2: a text is not closed", "it ends with the quote that it begins with, on the same line"),
    ("decision = 'allow\nx = 'y'", "2: a text is not closed", "it ends with the quote that it begins with, on the same line"),
    ("decision = 'allow", "2: a text is not closed at the end of the file", "a line here or above begins one with ' and does not end it"),
    ('reason = """never', "2: a text is not closed at the end of the file", "it ends with the quotes that it begins with"),
    ("decision =", "2: a value is missing", "write one after the ="),
    ("decision = # allow", "2: a value is missing", "write one after the ="),
    ('decision "allow"', "2: a key without a value", "write key = value"),
    ('decision: "allow"', "2: a key without a value", 'write = in place of ":"'),
    ("decision = \u201callow\u201d", "2: typographic quotes", 'write plain ones: "..."'),
    ("enabled = True", "2: True is no value", "write true"),
    ("enabled = no", "2: no is no value", "write false"),
    ("timeout = 30s", "2: 30s is no value", 'a duration stands in quotes: "30s"'),
    ("timeout = 250 ms", "2: 250 ms is no value", 'a duration stands in quotes: "250ms"'),
    ('timeout = "30s" // long', "2: something stands behind the value", "a comment begins with #"),
    ("a = 1 b = 2", "2: something stands behind the value", "one key = value on a line"),
    ('argv = ["git", "log"\nlast = 1', "3: a list that began here or above is not closed", "it ends with ]"),
    ("x = { a = 1; b = 2 }", "2: a table is not closed", "it ends with }, and a comma stands between its entries"),
    ('pattern = "^\\d+$"', "2: a backslash in a text", "in single quotes it is only a backslash: '...'"),
    ("[policy", "2: a heading is not closed", "it ends with ]"),
    ("[policy]\n[policy]", "3: [policy] is there already", "put everything under the first"),
    ('[tools."a.b"]\n[tools."a.b"]', "3: [tools.a.b] is there already", "put everything under the first"),
    ("a = 1\na = 2", "3: this key is there already", "a key is given once"),
]


def refusal(text: str) -> ToolgateError:
    with pytest.raises(ToolgateError) as caught:
        parse_strictly(Source("toolgate.toml", text.encode(), Stamp("toolgate.toml", 0, 0, 0, 0, 0)))
    return caught.value


@pytest.mark.parametrize(("line", "said", "hint"), TABLE, ids=[row[0] for row in TABLE])
def test_it_says_what_is_wrong_and_what_to_write(line: str, said: str, hint: str) -> None:
    error = refusal(f"schema = 1\n{line}\n")
    assert (error.kind, error.message, error.hint) == ("invalid", f"toolgate.toml:{said}", hint)
