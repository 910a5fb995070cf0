"""Addresses that are nobody's on the public network are refused unless they are named, in whatever spelling they come (CASES K1)."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core import addresses
from toolgate_cli.core.addresses import allowed

PUBLIC = ["8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"]
REFUSED = {
    "127.0.0.1": "loopback", "127.255.255.254": "loopback", "::1": "loopback",
    "10.1.2.3": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private", "fc00::1": "private",
    "fd12:3456::1": "private",
    "169.254.169.254": "link-local", "fe80::1": "link-local",
    "100.64.0.1": "CGNAT", "100.127.255.255": "CGNAT",
    "0.0.0.0": "unspecified", "0.1.2.3": "unspecified", "::": "unspecified",
    "224.0.0.1": "multicast", "ff02::1": "multicast",
    "255.255.255.255": "reserved", "240.0.0.1": "reserved", "192.0.2.1": "reserved", "198.18.0.1": "reserved", "2001:db8::1": "reserved",
    "::ffff:127.0.0.1": "IPv4-mapped", "::ffff:8.8.8.8": "IPv4-mapped", "::127.0.0.1": "reserved",
    "64:ff9b::7f00:1": "NAT64", "64:ff9b:1::1": "NAT64", "2002:7f00:1::": "6to4", "2001:0:4136:e378:8000:63bf:3fff:fdd2": "Teredo",
    "fec0::1": "reserved", "4000::1": "reserved", "100::1": "reserved",
}  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_asked(address: str) -> None:
    assert allowed(()).refusal(address) is None


@pytest.mark.parametrize(("address", "kind"), REFUSED.items())
def test_a_special_address_is_refused_and_its_kind_is_said(address: str, kind: str) -> None:
    said = allowed(("orders.example",)).refusal(address)
    assert said is not None and said.startswith(f"{address} is ") and kind in said


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::1", "fd12:3456::1", "224.0.0.1"])
def test_one_that_is_named_is_asked_and_its_neighbour_is_not(address: str) -> None:
    assert allowed((address,)).refusal(address) is None
    assert allowed((address,)).refusal(str(ipaddress.ip_address(address) + 1)) is not None


def test_a_network_names_all_of_its_addresses() -> None:
    assert allowed(("10.0.0.0/8",)).refusal("10.200.0.1") is None
    assert allowed(("10.0.0.0/8",)).refusal("192.168.0.1") is not None


@pytest.mark.parametrize("address", ["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::"])
def test_who_names_translated_addresses_has_not_named_where_they_lead(address: str) -> None:
    everything = allowed(("::ffff:0:0/96", "64:ff9b::/96", "2002::/16"))
    assert "169.254.169.254 is link-local" in (everything.refusal(address) or "")
    assert allowed(("64:ff9b::/96",)).refusal("64:ff9b::808:808") is None


def embedded(length: int, address: str) -> str:
    """As RFC 6052 puts it behind a prefix of that length in RFC 8215's."""
    v4, prefix = int(ipaddress.IPv4Address(address)), int(ipaddress.IPv6Address("64:ff9b:1::"))
    if length == 96:
        return str(ipaddress.IPv6Address(prefix | v4))
    before, behind = v4 >> (32 - (64 - length)) if length < 64 else 0, v4 & ((1 << (32 - (64 - length))) - 1)
    return str(ipaddress.IPv6Address(prefix | before << 64 | behind << (56 - (32 - (64 - length)))))


@pytest.mark.parametrize("length", [48, 56, 64, 96])
@pytest.mark.parametrize("inner", ["127.0.0.1", "169.254.169.254", "10.1.2.3", "192.168.0.1"])
def test_a_network_of_ones_own_that_translates_leads_nowhere_either(length: int, inner: str) -> None:
    named = allowed(("64:ff9b:1::/48",))
    assert f"{inner} is " in (named.refusal(embedded(length, inner)) or "")
    assert named.refusal(embedded(length, "8.8.4.4")) is None
    assert allowed(("64:ff9b:1::/48", inner)).refusal(embedded(96, inner)) is None


def test_the_prefix_is_read_as_it_is_written_down() -> None:
    written = {48: "64:ff9b:1:c000:2:2100::", 56: "64:ff9b:1:c0:0:221::", 64: "64:ff9b:1:0:c0:2:2100:0", 96: "64:ff9b:1::c000:221"}
    assert {length: embedded(length, "192.0.2.33") for length in written} == written


@pytest.mark.parametrize("text", ["fe80::1%eth0", "localhost", "", "1.2.3", "0x7f.1"])
def test_what_is_no_address_is_refused(text: str) -> None:
    assert allowed(("0.0.0.0/0", "::/0")).refusal(text) == f"{text} is no address"


@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_nothing_is_asked_that_the_library_does_not_call_global_too(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    assert addresses.kind_of(address) is not None or address.is_global


@pytest.mark.parametrize("entry", ["a b", "http://a", "*.example", "a..b", "-a", "10.0.0.1/8", "10.0.0.0/33", "user@host", "", "exämple"])
def test_an_entry_that_names_nothing_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="neither a host nor an address nor a network"):
        allowed((entry,))


def test_a_host_is_asked_by_the_name_that_is_listed() -> None:
    listed = allowed(("Orders.Example", "127.0.0.1", "[::1]"))
    assert listed.host("orders.example") and listed.host("ORDERS.example") and listed.host("127.0.0.1") and listed.host("::1")
    assert not listed.host("x.orders.example") and not listed.host("127.1")
