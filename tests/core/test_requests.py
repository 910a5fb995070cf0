"""What an argument fills in a request is one segment, one value or one header, and never more than that (CASES K1, H12)."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core import references, requests
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import Json


def filled(template: str, **arguments: Json) -> str:
    return requests.target(template, lambda ref: requests.escape(references.value(ref, lambda name: arguments[name[5:]])))


def fault(template: str, **arguments: Json) -> str:
    with pytest.raises(ToolgateError) as caught:
        filled(template, **arguments)
    assert caught.value.kind == "invalid"
    return caught.value.message


# ---- the origin ----
@pytest.mark.parametrize(
    ("url", "origin", "rest"),
    [
        ("https://orders.example/a?b=c", ("https", "orders.example", 443), "/a?b=c"),
        ("http://Orders.Example:8080", ("http", "orders.example", 8080), "/"),
        ("http://127.0.0.1?x=1", ("http", "127.0.0.1", 80), "/?x=1"),
        ("https://[::1]:8443/x", ("https", "::1", 8443), "/x"),
        ("https://h/${args.a}", ("https", "h", 443), "/${args.a}"),
    ],
)
def test_an_origin_is_literal(url: str, origin: tuple[str, str, int], rest: str) -> None:
    assert requests.split_url(url) == (origin, rest)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("https://${args.host}/x", "literal"),
        ("https://h:${args.port}/x", "literal"),
        ("${args.url}", "literal"),
        ("https://h.${args.x}", "literal"),
        ("http://user@h/", "credentials"),
        ("http://user:pass@h/", "credentials"),
        ("http://h@169.254.169.254/", "credentials"),
        ("ftp://h/", "does not begin"),
        ("file:///etc/passwd", "does not begin"),
        ("//h/x", "does not begin"),
        ("/x", "does not begin"),
        ("http:///x", "does not begin"),
        ("http://h:99999/", "no port"),
        ("http://h:0/", "no port"),
        ("http://h:8a/", "does not begin"),
        ("http://exаmple/", "does not begin"),  # a Cyrillic letter
        ("http://h\\@i/", "credentials"),
        ("http://h\\i/", "does not begin"),
        ("http://[fe80::1%eth0]/", "does not begin"),
        ("http://h#x", "does not begin"),
        ("http://h i/", "does not begin"),
        ("http://h\n/", "does not begin"),
    ],
)
def test_what_is_no_literal_origin_is_refused(url: str, says: str) -> None:
    with pytest.raises(ToolgateError, match=says):
        requests.split_url(url)


def test_the_header_says_the_port_where_it_is_not_the_usual_one() -> None:
    assert requests.split_url("https://h/")[0].header == "h"
    assert requests.split_url("https://h:444/")[0].header == "h:444"
    assert requests.split_url("http://[::1]:80/")[0].header == "[::1]"


# ---- path and query ----
@pytest.mark.parametrize(
    ("template", "value", "target"),
    [
        ("/o/${args.x}", "a/b c", "/o/a%2Fb%20c"),
        ("/o/${args.x}", "a?b#c;d&e=f", "/o/a%3Fb%23c%3Bd%26e%3Df"),
        ("/o/${args.x}/z", "@h:1", "/o/%40h%3A1/z"),
        ("/o/${args.x}", "é€", "/o/%C3%A9%E2%82%AC"),
        ("/o/${args.x}", "a\r\nHost: x\0", "/o/a%0D%0AHost%3A%20x%00"),
        ("/o/${args.x}", 1.5, "/o/1.5"),
        ("/o/${args.x}", True, "/o/true"),
        ("/o/v${args.x}.json", "..", "/o/v...json"),
        ("/o?q=${args.x}", "a&b=c #+/?", "/o?q=a%26b%3Dc%20%23%2B%2F%3F"),
        ("/o?q=${args.x}&r=1", "..", "/o?q=..&r=1"),
        ("/o?q=${args.x}", "", "/o?q="),
        ("/o?q=a:${args.x}=${args.x}", "=", "/o?q=a:%3D=%3D"),
        ("/o%20p;v=1/$${x}", "", None),
        ("//a/./", "", None),
    ],
)
def test_a_value_is_one_segment_or_one_value(template: str, value: Json, target: str | None) -> None:
    if target is None:
        assert fault(template, x=value)
    else:
        assert filled(template, x=value) == target


@pytest.mark.parametrize(
    "value",
    [
        ".", "..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "a/../b", "../../admin", "..\\admin", "a/..", "..;x", "../;x", "x/..;v=1/y",
        "..?", "..#x", "..%00", ".. ", "..\t", "%2e%2e%2f", "..%2fadmin", "..%5c", "./a", "a/./b", "%" + "25" * 9 + "2e.", "..\r\n",
    ],
)  # fmt: skip
def test_a_step_to_elsewhere_is_refused_however_it_is_written(value: str) -> None:
    assert "path" in fault("/o/${args.x}/end", x=value)


@pytest.mark.parametrize(
    ("template", "values"), [("/o/${args.x}${args.y}", (".", ".")), ("/o/.${args.x}", ("./x", "")), ("/o/%2e${args.x}", (".", ""))]
)
def test_a_step_that_is_put_together_is_refused(template: str, values: tuple[str, str]) -> None:
    assert "step" in fault(template, x=values[0], y=values[1])


@pytest.mark.parametrize("template", ["/o/${args.x}", "/${args.x}/o", "/o/${args.x}?q=1", "/o/${args.x}${args.x}"])
def test_a_segment_that_is_filled_is_not_empty(template: str) -> None:
    assert fault(template, x="") == "url: a segment of the path is empty once it is filled"


def test_a_reference_is_no_name_of_the_query() -> None:
    assert "in a name of the query" in fault("/o?${args.x}=1", x="a")
    assert "in a name of the query" in fault("/o?a=1&b${args.x}", x="a")


@pytest.mark.parametrize("template", ["/a b", "/é", "/a#b", "/a\n", "/%zz", "/a\\b", '/"', "/<x>", "/a%2", "/../a", "/a/%2e%2E/b"])
def test_a_literal_that_no_url_can_carry_is_refused(template: str) -> None:
    assert fault(template).startswith("url: ")


def test_a_long_value_of_percents_is_judged_at_once() -> None:
    assert fault("/${args.x}", x="%" + "25" * 30000 + "2e")


@given(st.text(), st.text())
def test_whatever_the_values_are_path_and_query_keep_their_shape(x: str, y: str) -> None:
    try:
        target = filled("/a/${args.x}/b?q=${args.y}&r=1", x=x, y=y)
    except ToolgateError:
        return
    assert target.isascii() and target.isprintable() and " " not in target
    parts = urlsplit("http://h" + target)
    assert parts.path.split("/")[:2] == ["", "a"] and parts.path.split("/")[3:] == ["b"] and parts.fragment == ""
    assert unquote(parts.path.split("/")[2]) == x
    assert parse_qsl(parts.query, keep_blank_values=True) == [("q", y), ("r", "1")]


# ---- headers ----
@pytest.mark.parametrize("value", ["a\r\nX: y", "a\nb", "a\0", "é", " a", "a ", "\x7f", "a\r"])
def test_a_header_holds_no_line_and_no_control(value: str) -> None:
    with pytest.raises(ToolgateError, match="X-A holds what no header can carry"):
        requests.headers({"X-A": "${args.x}"}, lambda _name: value)


def test_a_header_is_filled() -> None:
    assert requests.headers({"X-A": "n ${args.x}"}, lambda _name: 7) == (("X-A", "n 7"),)


@pytest.mark.parametrize(
    "name", ["", "a b", "a:", "a\n", "é", "Host", "content-LENGTH", "Transfer-Encoding", "Idempotency-Key", "Connection"]
)
def test_a_name_that_is_none_or_is_ours_is_refused(name: str) -> None:
    assert requests.fault_of_names({name: "x"})


def test_a_name_stands_once() -> None:
    assert requests.fault_of_names({"X-A": "1", "x-a": "2"}) == "headers: x-a is there twice"
