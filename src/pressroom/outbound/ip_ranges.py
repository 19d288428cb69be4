"""The ranges of public addresses. Pure, with tables of our own: `is_global` of `ipaddress` changes with Python.

`allowed_addresses` decides which of them the server may connect to.
"""

import ipaddress
from collections.abc import Iterator
from typing import Final

from pressroom.settings.values import Networks

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_NOT_PUBLIC_4: Final = tuple(
    (ipaddress.IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "an address of this machine"),
        ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "an address inside a provider's network"),
        ("127.0.0.0/8", "a loopback address"),
        ("168.63.129.16/32", "a cloud's metadata address"),
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.0.2.0/24", "an address for documentation"),
        ("192.88.99.0/24", "an address of 6to4 relays"),
        ("192.168.0.0/16", "a private address"),
        ("198.18.0.0/15", "an address for benchmarks"),
        ("198.51.100.0/24", "an address for documentation"),
        ("203.0.113.0/24", "an address for documentation"),
        ("224.0.0.0/4", "a multicast address"),
        ("255.255.255.255/32", "the broadcast address"),
        ("240.0.0.0/4", "a reserved address"),
    )
)

_NOT_PUBLIC_6: Final = tuple(
    (ipaddress.IPv6Network(network), kind)
    for network, kind in (
        ("::/128", "an address of this machine"),
        ("::1/128", "a loopback address"),
        ("100::/64", "an address that discards everything"),
        ("2001::/23", "a reserved address"),
        ("2001:db8::/32", "an address for documentation"),
        ("3fff::/20", "an address for documentation"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a site-local address"),
        ("ff00::/8", "a multicast address"),
    )
)

_GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")

NEVER: Final[Networks] = tuple(
    ipaddress.ip_network(network)
    for network in (
        "100.100.100.200/32",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "192.0.0.192/32",
        "fd00:ec2::/32",
        "fd20:ce::254/128",
        "fe80::/10",
    )
)
"""Link-local addresses, and those at which clouds hand out credentials: no setting lets anything reach them."""

_MAPPED: Final = ipaddress.IPv6Network("::ffff:0:0/96")
_TRANSLATED: Final = ipaddress.IPv6Network("::ffff:0:0:0/96")
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")
_LOCAL_NAT64: Final = ipaddress.IPv6Network("64:ff9b:1::/48")
_6TO4: Final = ipaddress.IPv6Network("2002::/16")
_TEREDO: Final = ipaddress.IPv6Network("2001::/32")
_ISATAP: Final = (0x00005EFE, 0x02005EFE)


def parse_address(text: str) -> IpAddress | None:
    """Returns the address that `text` spells; None when it is not one, or has a zone ("fe80::1%eth0")."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return None
    return address


def embedded(address: ipaddress.IPv6Address) -> tuple[str, tuple[ipaddress.IPv4Address, ...]] | None:
    """Returns the form of a v6 address that stands for v4 ones, and every v4 address that it may lead to; else None."""
    if int(address) <= 1:
        return None
    for network, form, shifts in _FORMS:
        if address in network:
            inner = tuple(ipaddress.IPv4Address((int(address) >> shift) & 0xFFFFFFFF) for shift in shifts)
            if network is _TEREDO:  # The client's address is written with every bit turned over.
                inner = (ipaddress.IPv4Address(int(inner[0]) ^ 0xFFFFFFFF), inner[1])
            if network is _LOCAL_NAT64:
                inner = (*inner, _around_the_gap(address))
            return form, inner
    if (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        return "an ISATAP form", (ipaddress.IPv4Address(int(address) & 0xFFFFFFFF),)
    return None


_FORMS: Final[tuple[tuple[ipaddress.IPv6Network, str, tuple[int, ...]], ...]] = (
    (_MAPPED, "a v4-mapped form", (0,)),
    (_TRANSLATED, "a translated form", (0,)),
    (_COMPATIBLE, "a v4-compatible form", (0,)),
    (_NAT64, "a NAT64 form", (0,)),
    (_LOCAL_NAT64, "a NAT64 form", (0,)),
    (_6TO4, "a 6to4 form", (80,)),
    (_TEREDO, "a Teredo form", (0, 64)),
)


def _around_the_gap(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address:
    """Returns the v4 address behind a prefix of 48 bits; RFC 6052 leaves out bits 64 to 71."""
    bits = int(address)
    return ipaddress.IPv4Address((((bits >> 64) & 0xFFFF) << 16) | ((bits >> 40) & 0xFFFF))


def not_public(address: IpAddress) -> str | None:
    """Returns why an address is not public ("a private address"); None when it is public.

    An address that stands for another is never public, for the place of its translation is unknown.
    """
    for kind in _kinds(address):
        return kind
    return None


def is_public(address: IpAddress) -> bool:
    """Returns whether any host on the internet could have this unicast address."""
    return not_public(address) is None


def _kinds(address: IpAddress) -> Iterator[str]:
    if isinstance(address, ipaddress.IPv4Address):
        yield from (kind for network, kind in _NOT_PUBLIC_4 if address in network)
        return
    if (found := embedded(address)) is not None:
        form, inner = found
        yield f"{form} of {inner[0]}"
    yield from (kind for network, kind in _NOT_PUBLIC_6 if address in network)
    if address not in _GLOBAL_UNICAST:
        yield "a reserved address"
