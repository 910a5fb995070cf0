"""Where a request may go: the hosts that a tool names, and the addresses that are nobody's on the public network unless they are named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from .values import NamedTuple

Address: TypeAlias = IPv4Address | IPv6Address

_NAME = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*\Z", re.ASCII)
# IANA's special-purpose registries, as kinds that a person knows
_SPECIAL_4 = {
    "unspecified": ("0.0.0.0/8",),
    "private": ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    "shared (CGNAT)": ("100.64.0.0/10",),
    "loopback": ("127.0.0.0/8",),
    "link-local": ("169.254.0.0/16",),
    "reserved": ("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4"),
    "multicast": ("224.0.0.0/4",),
}
_SPECIAL_6 = {
    "unspecified": ("::/128",),
    "loopback": ("::1/128",),
    "IPv4-mapped": ("::ffff:0:0/96",),
    "translated (NAT64)": ("64:ff9b::/96", "64:ff9b:1::/48"),
    "translated (Teredo)": ("2001::/32",),
    "translated (6to4)": ("2002::/16",),
    "private": ("fc00::/7",),
    "link-local": ("fe80::/10",),
    "multicast": ("ff00::/8",),
    "reserved": ("2001::/23", "2001:db8::/32", "3fff::/20"),
}
_PUBLIC_6 = IPv6Network("2000::/3")  # nothing outside of it is given to anybody
_KINDS_4 = [(kind, IPv4Network(network)) for kind, networks in _SPECIAL_4.items() for network in networks]
_KINDS_6 = [(kind, IPv6Network(network)) for kind, networks in _SPECIAL_6.items() for network in networks]


class Allowed(NamedTuple):
    """What an egress list names: hosts in small letters, and networks (an address is a network of one)."""

    hosts: frozenset[str]
    networks: tuple[IPv4Network | IPv6Network, ...]

    def host(self, name: str) -> bool:
        """Whether a host, as a URL names it, may be asked at all."""
        address = _address(name)
        return self.names(address) if address is not None else name.lower() in self.hosts

    def names(self, address: Address) -> bool:
        return any(address in network for network in self.networks if network.version == address.version)

    def refusal(self, text: str) -> str | None:
        """Why nothing is sent to this address, which a name may have led to; None: it is public, or named."""
        address = _address(text)
        if address is None:
            return f"{text} is no address"
        if self.names(address):
            inner = _inside(address)  # who names a network of translated addresses has not named where they lead
            return next((why for why in map(self.refusal, map(str, inner)) if why is not None), None)
        kind = kind_of(address)
        return None if kind is None else f"{text} is {kind}, and is not named in allow_hosts"


def allowed(entries: Sequence[str]) -> Allowed:
    """Raises ValueError, with the entry that is neither a host nor an address nor a network."""
    hosts, networks = set(), []
    for entry in entries:
        try:
            networks.append(ip_network(entry.strip("[]"), strict=True))
        except ValueError:
            if not is_host(entry):
                raise ValueError(f"{entry!r} is neither a host nor an address nor a network") from None
            hosts.add(entry.lower())
    return Allowed(frozenset(hosts), tuple(networks))


def is_host(name: str) -> bool:
    """A name as it stands in a URL: letters, digits, hyphens and dots, not an address that is broken."""
    return len(name) < 254 and _NAME.match(name.lower()) is not None


def is_address(text: str) -> bool:
    return _address(text) is not None


def kind_of(address: Address) -> str | None:
    """What is special about an address; None: it is public."""
    kinds: Sequence[tuple[str, IPv4Network | IPv6Network]] = _KINDS_4 if address.version == 4 else _KINDS_6
    found = next((kind for kind, network in kinds if address in network), None)
    return found or ("reserved" if isinstance(address, IPv6Address) and address not in _PUBLIC_6 else None)


def _address(text: str) -> Address | None:
    if "%" in text:  # a zone: of this machine alone
        return None
    try:
        return ip_address(text)
    except ValueError:
        return None


def _inside(address: Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that a translated one may lead to."""
    if not isinstance(address, IPv6Address):
        return ()
    if address in IPv6Network("64:ff9b::/96"):
        return (IPv4Address(int(address) & 0xFFFFFFFF),)
    if address in IPv6Network("64:ff9b:1::/48"):
        return _local(int(address))
    inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
    return () if inner is None else (inner,)


def _local(bits: int) -> tuple[IPv4Address, ...]:
    """Of RFC 8215's prefix, in which a network has one of its own of any length: wherever RFC 6052 would put an address. It leaves out the
    bits from 64 to 71, and what stands behind the address is zero."""
    joined = (bits >> 64 & 0xFFFF) << 56 | bits & ((1 << 56) - 1)  # from bit 48 on, without those
    lengths = (40, 32, 24, 0) if not bits >> 56 & 0xFF else (0,)  # bits behind the address
    found = [joined >> behind & 0xFFFFFFFF for behind in lengths if not joined & ((1 << behind) - 1)]
    return tuple(map(IPv4Address, [one for one in found if one] or found))
