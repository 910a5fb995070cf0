"""Which letters stand together in one word, and which only look like others: what makes a name look like another name.

The rule is that of UTS 39 (Unicode Security Mechanisms), section 5.2: a word of one script passes, and so does one of a set that is
written together: Latin with Han and kana (Japanese), with Han and Bopomofo, with Han and Hangul. Beside Latin a word may also have one
more script of those that UAX 31 recommends and whose letters are not taken for Latin ones (Arabic, Thai, ...); never Cyrillic. A Greek
letter passes where it cannot be taken for a Latin one (`Δt`, `kΩ`, `10μs`). A word is what stands between white space, hyphens,
slashes, brackets and quotes: `IT-отдел` is two.

Found beyond mixtures: a text all of whose letters are twins of Latin ones (`аррӏе`; the twins are a part of UTS 39's confusables.txt),
and digits of several writings (5.3). Scripts are told by the names of the characters: Python has no table of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from unicodedata import category, decimal, name, normalize

_WORD: Final = re.compile(r"[^\s\-\u2010-\u2015/|,;()\[\]{}<>\"'`«»“”„‘’・、。（）「」]+")
_TOGETHER: Final = (
    frozenset({"Latin", "Han", "Hiragana", "Katakana"}),
    frozenset({"Latin", "Han", "Bopomofo"}),
    frozenset({"Latin", "Han", "Hangul"}),
)
_BESIDE_LATIN: Final = frozenset(
    {
        *("Arabic", "Bengali", "Devanagari", "Ethiopic", "Georgian", "Gujarati", "Gurmukhi", "Hebrew"),
        *("Kannada", "Khmer", "Lao", "Malayalam", "Myanmar", "Oriya", "Sinhala", "Tamil", "Telugu"),
        *("Thaana", "Thai", "Tibetan"),
    }
)
# first words of names of letters that belong to no script, or to any
_NO_SCRIPT: Final = frozenset(
    {
        *("Modifier", "Mathematical", "Double", "Script", "Black", "Feminine", "Masculine", "Micro"),
        *("Planck", "Information", "Euler", "Alef", "Bet", "Gimel", "Dalet", "Superscript", "Subscript"),
        *("Circled", "Parenthesized", "Squared", "Ideographic", "Vertical", "Masu", "Caron", "Turned"),
    }
)
_MEANT: Final = {"Cjk": "Han", "Hentaigana": "Hiragana", "Ohm": "Greek", "Kelvin": "Latin", "Angstrom": "Latin", "Roman": "Latin"}
_TWINS_OF_LATIN: Final = frozenset(
    "АВЕЅІЈКМНОРСТУХҮԌԚԜаеіјѕорсухһԁԛԝӏ"  # Cyrillic
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγινορυχ"  # Greek
    "ՍՏՕօոսհզցքԱ"  # Armenian
    "ᎪᏴᏟᎠᎬᎨᎻᎥᎫᏞᎷᏀᏢᏒᏚᎢᏙᎳᎩᏃ"  # Cherokee
)


def mixture(text: str) -> tuple[str, str] | None:
    """What is wrong with the letters of a text, and those that make it so; None where nothing is."""
    if text.isascii():
        return None
    for word in _WORD.findall(text):
        found = None if word.isascii() else _in_word(word)
        if found is not None:
            return found
    return _all_twins(text) or _digits(text)


def _in_word(word: str) -> tuple[str, str] | None:
    letters = {char: script(char) for char in word if category(char)[0] == "L"}
    by_script = {found for found in letters.values() if found}
    if "Latin" in by_script and "Greek" in by_script and not any(letters[char] == "Greek" and char in _TWINS_OF_LATIN for char in letters):
        by_script.discard("Greek")
    if not _may_stand_together(by_script):
        odd = "Latin" if "Latin" in by_script else sorted(by_script)[0]
        return f"{' and '.join(sorted(by_script))} letters in one word", _once(char for char in letters if letters[char] not in (odd, ""))
    plain = any(char.isascii() for char in letters)
    posing = _once(char for char in letters if plain and _is_dressed_up(char))
    return ("letters in one word that only look like plain ones", posing) if posing else None


def _may_stand_together(scripts: set[str]) -> bool:
    if len(scripts) < 2 or any(scripts <= together for together in _TOGETHER):
        return True
    return len(scripts) == 2 and "Latin" in scripts and not scripts.isdisjoint(_BESIDE_LATIN)


def _all_twins(text: str) -> tuple[str, str] | None:
    letters = [char for char in text if category(char)[0] == "L"]
    if not letters or not all(char in _TWINS_OF_LATIN for char in letters):
        return None
    return f"only letters that look Latin and are {' and '.join(sorted({script(char) for char in letters}))}", _once(letters)


def _digits(text: str) -> tuple[str, str] | None:
    zeros = {char: chr(ord(char) - int(decimal(char))) for char in text if category(char) == "Nd"}
    if len(set(zeros.values())) < 2:
        return None
    return "digits of several writings", _once(char for char in zeros if not char.isascii())


def script(letter: str) -> str:
    """The script of a letter by its name; "" for one that belongs to none, or to any."""
    words = name(letter, "").split()
    if not words:
        return ""
    if words[0] in ("FULLWIDTH", "HALFWIDTH") and len(words) > 1:
        words = words[1:]
    first = words[0].partition("-")[0].capitalize()
    return "" if first in _NO_SCRIPT or "PROLONGED" in words else _MEANT.get(first, first)


def _is_dressed_up(char: str) -> bool:
    """A mathematical, full-width or letter-like form of a plain letter."""
    plain = normalize("NFKC", char)
    return not char.isascii() and category(char) in ("Lu", "Ll") and len(plain) == 1 and plain.isascii()


def _once(letters: Iterator[str] | list[str]) -> str:
    return "".join(dict.fromkeys(letters))
