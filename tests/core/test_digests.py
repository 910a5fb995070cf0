"""Digests bind a decision to what was shown."""

from __future__ import annotations

import hashlib

import pytest

from toolgate_cli.core.digests import call_digest, ref, sha256
from toolgate_cli.core.records import Row

ROW = Row("c1", 1, "r1", "s", "APPROVAL_REQUIRED", call_digest="d" * 64)


def test_the_digest_of_text_is_that_of_its_utf_8_bytes() -> None:
    assert sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert sha256("ä") == sha256(b"\xc3\xa4") == hashlib.sha256("ä".encode()).hexdigest()


def test_a_call_digest_is_that_of_a_canonical_list() -> None:
    assert call_digest("a.b", '{"x":1}', "dd") == hashlib.sha256(rb'["a.b","{\"x\":1}","dd"]').hexdigest()


def test_every_part_of_a_call_counts_and_none_can_be_moved() -> None:
    digests = {
        call_digest(*parts)
        for parts in (("a", "{}", "d"), ("b", "{}", "d"), ("a", '{"x":1}', "d"), ("a", "{}", "e"), ("a{}", "", "d"), ("a", "{}d", ""))
    }
    assert len(digests) == 6


def test_arguments_that_differ_only_in_type_are_different_calls() -> None:
    assert len({call_digest("a", text, "d") for text in ('{"n":1}', '{"n":1.0}', '{"n":true}', '{"n":"1"}')}) == 4


def test_a_ref_is_the_id_and_twelve_digits() -> None:
    expected = hashlib.sha256(('["c1",1,"APPROVAL_REQUIRED","' + "d" * 64 + '"]').encode()).hexdigest()[:12]
    assert ref(ROW) == f"c1@{expected}"
    assert ref(ROW._replace(call_digest=None)) == "c1@" + hashlib.sha256(b'["c1",1,"APPROVAL_REQUIRED",null]').hexdigest()[:12]


@pytest.mark.parametrize("other", [{"id": "c2"}, {"version": 2}, {"origin": "EXECUTION_FAILED"}, {"call_digest": "e" * 64}])
def test_another_version_origin_or_digest_is_another_ref(other: dict[str, object]) -> None:
    assert ref(ROW._replace(**other)) != ref(ROW)  # type: ignore[arg-type]  # one field each


def test_what_a_row_says_besides_does_not_change_its_ref() -> None:
    assert ref(ROW._replace(reason="x", starts=3, run_id="r2")) == ref(ROW)
