"""What the TOML parser refuses, said to the person who wrote the line: what is wrong with it, and what to write instead."""

from __future__ import annotations

import re

from .issues import MEND, shorten

_WORD = r"[^,\]}#\n]*"
_DURATION = r"=\s*([0-9]+ ?(?:ms|s|m|h|d))\b"
_DECLARED = r"cannot declare \('(.+)',?\) twice"
_TRUTH = {"True": "true", "yes": "true", "on": "true", "False": "false", "no": "false", "off": "false"}
_CURLY = "\u201c\u201d\u201e\u2018\u2019"

# (what the parser says, what is wrong, what to write)
_KNOWN = (
    ("'\\n'", "a text is not closed", "it ends with the quote that it begins with, on the same line"),
    ('expected "\'"', "a text is not closed", "a line here or above begins one with ' and does not end it"),
    ("unterminated string", "a text is not closed", "it ends with the quotes that it begins with"),
    ("unclosed array", "a list that began here or above is not closed", "it ends with ]"),
    ("unclosed inline table", "a table is not closed", "it ends with }, and a comma stands between its entries"),
    ("unescaped", "a backslash in a text", "in single quotes it is only a backslash: '...'"),
    ("end of a table declaration", "a heading is not closed", "it ends with ]"),
    ("cannot overwrite a value", "this key is there already", "a key is given once"),
)


def explain(message: str, line: str, column: int) -> tuple[str, str]:
    """(text, hint) for what the parser says of a line; `column` counts from 1. What it says of anything else is only spelt anew."""
    message = message[:1].lower() + message[1:].replace("\n", " ")
    if "invalid value" in message:
        return _value(line[column - 1 :])
    if "expected '='" in message:
        colon = ":" in line.partition("#")[0]
        return "a key without a value", 'write = in place of ":"' if colon else "write key = value"
    if "expected newline or end of document" in message:
        return _left_over(line)
    if declared := re.search(_DECLARED, message):
        name = ".".join(re.findall(r"[^', ]+", declared[1]))
        return f"[{shorten(name)}] is there already", "put everything under the first"
    for said, text, hint in _KNOWN:
        if said in message:
            return text, hint
    return message, MEND


def _value(rest: str) -> tuple[str, str]:
    """Of something that is no value."""
    found = re.match(_WORD, rest)
    word = found[0].strip() if found else ""
    if not word:
        return "a value is missing", "write one after the ="
    if word[0] in _CURLY:
        return "typographic quotes", 'write plain ones: "..."'
    if word in _TRUTH:
        return f"{word} is no value", f"write {_TRUTH[word]}"
    bare = word.strip("\"'")
    return f"{shorten(word)} is no value", f'a text stands in quotes: "{shorten(bare)}"'


def _left_over(line: str) -> tuple[str, str]:
    """Of something behind a value that is complete."""
    if duration := re.search(_DURATION, line):
        return f"{duration[1]} is no value", f'a duration stands in quotes: "{duration[1].replace(" ", "")}"'
    if "//" in line:
        return "something stands behind the value", "a comment begins with #"
    return "something stands behind the value", "one key = value on a line"
