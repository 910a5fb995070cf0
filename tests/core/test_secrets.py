"""Values are found under every spelling, and taken out of bytes however these come in; nothing else is lost (I12)."""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core import canonical, disguises, spellings, wrapped
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.secrets import NONE, Scrubber, Secrets

VALUE = 'p"a\\ss/wörd\n+4 2'


def secrets(**values: str) -> Secrets:
    return Secrets(values, {}, tuple((spelling, name) for name, value in values.items() for spelling in disguises.of(value)))


def passed(known: Secrets, *pieces: bytes) -> bytes:
    scrubber = Scrubber(known)
    return b"".join(map(scrubber.feed, pieces)) + scrubber.end()


SPELLINGS = {
    "itself": VALUE,
    "JSON": json.dumps(VALUE),
    "JSON without escapes of letters": json.dumps(VALUE, ensure_ascii=False),
    "JSON in JSON": json.dumps(json.dumps({"x": VALUE})),
    "JSON with slashes": json.dumps(VALUE).replace("/", "\\/"),
    "canonical JSON": canonical.encode({"k": [VALUE]}),
    "all escapes": "".join(f"\\u{ord(letter):04x}" for letter in VALUE),
    "repr": repr(VALUE),
    "ascii": ascii(VALUE),
    "repr of bytes": repr(VALUE.encode()),
    "percent": quote(VALUE),
    "percent with slashes": quote(VALUE, safe=""),
    "percent with plus": quote_plus(VALUE),
    "small percent": quote(VALUE, safe="").lower(),
    "hex": VALUE.encode().hex(),
    "large hex": VALUE.encode().hex().upper(),
    "base64": base64.b64encode(VALUE.encode()).decode(),
    "base64 behind one": base64.b64encode(b"u" + VALUE.encode()).decode(),
    "base64 behind two": base64.b64encode(b"u:" + VALUE.encode() + b"x").decode(),
    "base64 for URLs": base64.urlsafe_b64encode(b"u:" + VALUE.encode()).decode(),
    "lines of base64": base64.encodebytes(VALUE.encode()).decode(),
    "other line ends": VALUE.replace("\n", "\r\n"),
    "a JSON pointer": "/a/" + VALUE.replace("/", "~1"),
    "markup": VALUE.replace('"', "&quot;"),
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_a_value_is_found_under_every_spelling(text: str) -> None:
    known = secrets(TOKEN=VALUE)
    assert known.leaks(f"<{text}>") == "TOKEN"
    scrubbed = known.scrub(f"<{text}>")
    assert "***TOKEN***" in scrubbed and known.leaks(scrubbed) is None and scrubbed[0] + scrubbed[-1] == "<>"


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=SPELLINGS.keys())
def test_a_value_that_is_too_long_for_any_mixture_is_found_under_every_whole_spelling(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spellings, "MOST", 0)
    test_a_value_is_found_under_every_spelling(text)


ODD = "Kx9/vQ!t*Zp&w<8r=='(\"~ \\"


def escaped(value: str, letters: str, form: str) -> str:
    return "".join(form % ord(letter) if letter in letters else letter for letter in value)


ENCODERS = {
    "JSON of Go": escaped(json.dumps(ODD)[1:-1], "&<>", "\\u%04x"),
    "JSON of Gson": escaped(json.dumps(ODD)[1:-1], "&<>='", "\\u%04x"),
    "JSON of Go in JSON": json.dumps(escaped(json.dumps(ODD)[1:-1], "&<>", "\\u%04x")),
    "encodeURIComponent": quote(ODD, safe="!'()*"),
    "URLSearchParams": quote_plus(ODD, safe="*").replace("~", "%7E"),
    "URI of Java": quote(ODD, safe="!$&'()*+,;=:@/"),
    "percent twice": quote(quote(ODD, safe="!'()*")),
    "markup by number": escaped(ODD, "&<'\"", "&#%d;"),
    "markup by hex": escaped(ODD, "&<'\"", "&#x%X;"),
    "printf %q": "".join(letter if letter.isalnum() or letter in "/=" else "\\" + letter for letter in ODD),
    "spaced hex": ODD.encode().hex(" "),
    "hex with colons": ODD.encode().hex(":").upper(),
    "octal": escaped(ODD, "&<'\"", "\\%03o"),
    "any mixture": "%4bx\\u0039/v&#81;!t\\*Zp&amp;w%253C8r\\x3d='(&quot;~+\\\\",
}


@pytest.mark.parametrize("text", ENCODERS.values(), ids=ENCODERS.keys())
def test_a_value_is_found_whatever_an_encoder_escapes_and_in_whatever_pieces(text: str) -> None:
    known = secrets(OTHER="0123456789ab", TOKEN=ODD)
    assert known.leaks(f"a {text} z") == "TOKEN"
    for size in (1, 7, 1000):
        data = f"a {text} z {text}".encode()
        out = passed(known, *(data[at : at + size] for at in range(0, len(data), size)))
        assert out.count(b"***TOKEN***") == 2 and known.leaks(out.decode()) is None, size
    for cut in range(1, 9):
        assert "***TOKEN***" in known.scrub(f"a {text[:-cut]}"), cut


def test_long_values_are_found_in_their_whole_spellings_and_many_are_found_together() -> None:
    long = "".join(chr(97 + number * 7 % 26) for number in range(5000)) + "&"
    many = {f"S{number}": f"value-{number:04d}-&" * 60 for number in range(12)}
    known = secrets(LONG=long, **many)
    assert known.scrub("[" + long.replace("&", "\\u0026") + "]") == "[***LONG***]"
    assert known.scrub(f"x {long} {json.dumps(long)}") == 'x ***LONG*** "***LONG***"'
    assert known.scrub("".join(f"<{value.replace('&', '%26')}>" for value in many.values())) == "".join(f"<***{name}***>" for name in many)


def test_a_value_of_any_length_is_found_in_lines_of_base64() -> None:
    value = "".join(chr(97 + number % 26) for number in range(300))
    assert secrets(KEY=value).scrub(base64.encodebytes(value.encode()).decode()).replace("*", "").strip() == "KEY"


def test_what_is_said_is_searched_as_it_would_be_stored() -> None:
    known = secrets(TOKEN=VALUE, PIN="12345678")
    assert known.leaks(None, "", {"deep": [{VALUE: 1}]}) == "TOKEN"
    assert known.leaks({"n": [1123456789]}) == "PIN"
    assert known.leaks({"lone \ud800": VALUE}) == "TOKEN"  # it cannot be stored, and it is not told either
    assert known.leaks({"a": VALUE[:-1]}, [VALUE[1:]], 7, None, True) is None


def test_a_refusal_names_the_secret_and_not_its_value() -> None:
    with pytest.raises(ToolgateError) as caught:
        secrets(TOKEN=VALUE).refuse("an input", {"x": VALUE})
    assert caught.value.kind == "invalid" and "TOKEN" in caught.value.message
    assert not any(part in caught.value.message + caught.value.hint for part in (VALUE, VALUE[:4], "wörd"))


def test_without_secrets_nothing_is_changed_or_refused() -> None:
    NONE.refuse("an input", VALUE, {"x": VALUE})
    assert (NONE.scrub(VALUE), NONE.scrub_document(VALUE), bool(NONE), NONE.leaks(VALUE)) == (VALUE, VALUE, False, None)


def test_python_shows_names_and_no_values() -> None:
    known = secrets(TOKEN=VALUE)
    assert repr(known) == str(known) == "Secrets(TOKEN)" and VALUE not in f"{known!r:>50}"


@pytest.mark.parametrize("most", [spellings.MOST, 0])
def test_values_that_escapes_hide_in_a_document_are_found_in_keys_and_values(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spellings, "MOST", most)
    known = secrets(TOKEN="sesame-open")
    hidden = '{"\\u0073esame-open": ["x sesame\\u002dopen", {"k": "\\u0073esame-ope\\u006e"}], "n": 1.0}'
    assert json.loads(known.scrub_document(hidden)) == {"***TOKEN***": ["x ***TOKEN***", {"k": "***TOKEN***"}], "n": 1.0}
    for untouched in ('{"a": "b\\n"}', '{"a": ', '"x\\q"', "{} {} \\"):
        assert known.scrub_document(untouched) == untouched


def test_keys_that_become_one_are_one() -> None:
    hidden = '{"\\u0073esame-open": 1, "sesame\\u002dopen": 2, "other": 3}'
    known = secrets(TOKEN="sesame-open")
    [(key, value), other] = sorted(json.loads(known.scrub_document(hidden.replace('"sesame\\u002dopen": 2, ', ""))).items())
    assert (key, value, other) == ("***TOKEN***", 1, ("other", 3))
    twice = '{"x \\u0073esame-open": 1, "x sesame-open": 2}'
    assert known.leaks(known.scrub_document(twice)) is None


def test_values_that_overlap_are_taken_out_together() -> None:
    known = secrets(ONE="abcdefghij", TWO="ghijklmnop", INNER="cdefghij")
    assert known.scrub("<abcdefghijklmnop>") == "<***ONE***>"
    assert known.scrub("<cdefghijklmnop>") == "<***INNER***>"
    assert known.scrub("<abcdefghijabcdefghij>") == "<***ONE******ONE***>"


def test_a_value_that_overlaps_with_itself_holds_nothing_back() -> None:
    scrubber = Scrubber(secrets(SILLY="aaaaaaaa"))
    out = b"".join(scrubber.feed(b"a" * 1000) for _ in range(20))
    assert len(scrubber._held) < 8 * wrapped.SPREAD and out + scrubber.end() == b"***SILLY***"


def test_a_value_that_was_cut_short_at_the_end_is_taken_out() -> None:
    known = secrets(TOKEN="abcdefghijklmnop")
    assert known.scrub("so: abcdefghijklmno") == known.scrub("so: abcdefgh") == "so: ***TOKEN***"
    assert known.scrub("so: abcdefg") == "so: abcdefg"  # less than half of it
    assert known.scrub("so: abcdefghabcdefgh") == "so: abcdefgh***TOKEN***"
    assert secrets(TOKEN="abcdabcdabcdabcd").scrub("x abcdabcdabcdabcd abcdabcdabcd") == "x ***TOKEN*** ***TOKEN***"
    assert secrets(TOKEN="a\\b\\\\c\\d\\e").scrub(r"so: a\\b\\\\c\\d") == "so: ***TOKEN***"  # each backslash escaped


def ends(value: str, text: str, least: int) -> bool:
    """Character by character: the text is the value in any spelling, cut off behind the first `least` characters."""
    at = {0}
    for number, character in enumerate(value):
        if number >= least and any(re.fullmatch(r"([%&\\][%&\\#{0-9A-Za-z]{0,10})?", text[place:]) for place in at):
            return True
        one = re.compile(spellings.pattern(character))
        at = {end for place in at for end in range(place + 1, len(text) + 1) if one.fullmatch(text, place, end)}
    return len(text) in at


def spelled(draw: Callable[[st.SearchStrategy[str]], str], value: str) -> str:
    forms = ("{0}", "{0}", "\\u{1:04x}", "\\\\u{1:04x}", "\\x{1:02X}", "%{1:02x}", "%25{1:02X}", "&#{1};", "\\{0}")
    return "".join(draw(st.sampled_from(forms)).format(letter, ord(letter)) for letter in value)


@given(st.data())
def test_a_cut_value_is_known_as_if_it_were_read_letter_by_letter(data: st.DataObject) -> None:
    value = data.draw(st.text("ab\\%5", min_size=1, max_size=6))
    least = data.draw(st.integers(-1, len(value)))
    whole = spelled(data.draw, value) + data.draw(st.sampled_from(("", "a", "\\", "%")))
    text = whole[: data.draw(st.integers(0, len(whole)))]
    found = spellings.compiled([spellings.cut_off(value, least)]).match(text.encode())
    assert (found is not None) == ends(value, text, least)


@pytest.mark.parametrize("unit", ["a", "ab", "a\\"])
def test_a_value_that_repeats_itself_takes_no_longer_than_the_text_is_long(unit: str) -> None:
    value = unit * (spellings.MOST // len(unit))
    known, began = secrets(TOKEN=value), time.process_time()
    assert known.scrub(value * 32) in ("***TOKEN***", "***TOKEN***" * 32)
    assert time.process_time() - began < 10  # one that looked at each letter of each beginning took minutes


RAW = VALUE.encode()
PIECES = st.sampled_from([RAW, b"aaaaaaaaaaaa", b"x", b"aaa", b"\n", RAW[:9], base64.b64encode(b"u:" + RAW)])


@given(parts=st.lists(PIECES, max_size=8), cuts=st.lists(st.integers(1, 30), min_size=1, max_size=40))
def test_it_does_not_matter_in_what_pieces_it_comes(parts: list[bytes], cuts: list[int]) -> None:
    known, data = secrets(TOKEN=VALUE, SILLY="aaaaaaaa"), b"".join(parts)
    pieces, at = [], 0
    while at < len(data):
        pieces.append(data[at : at + cuts[len(pieces) % len(cuts)]])
        at += len(pieces[-1])
    out = passed(known, *pieces)
    assert out == passed(known, data)
    assert not any(spelling in out for spelling, _ in known.disguises)


@given(data=st.binary(max_size=300))
def test_what_holds_no_value_comes_out_as_it_went_in(data: bytes) -> None:
    assert passed(secrets(TOKEN="0123456789abcdefghijklmnopqrstuvwxyz"), data[:7], data[7:]) == data


def test_no_more_is_held_back_than_the_longest_spelling_has() -> None:
    known = secrets(TOKEN=VALUE)
    scrubber = Scrubber(known)
    for _ in range(50):
        scrubber.feed(b"xy" * 1000)
        assert len(scrubber._held) < known.longest
