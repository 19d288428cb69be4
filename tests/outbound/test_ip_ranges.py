"""Which addresses are public, beside an oracle that is built on the standard library."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.outbound.ip_ranges import IpAddress, embedded, is_public, not_public, parse_address

ALSO_REFUSED = [
    ipaddress.ip_network(text)
    for text in [
        "100.64.0.0/10",
        "168.63.129.16/32",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "2001::/23",
        "3fff::/20",
        "fec0::/10",
    ]
]
FIRST_AND_LAST = [
    address
    for text in [
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "::/128",
        "::1/128",
        "::ffff:0:0/96",
        "::/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "100::/64",
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "4000::/2",
        "fc00::/7",
        "fe80::/10",
        "fec0::/10",
        "ff00::/8",
    ]
    for address in (ipaddress.ip_network(text)[0], ipaddress.ip_network(text)[-1])
]


def oracle(address: IpAddress) -> bool:
    """Public as far as the standard library knows, less what it does not know or lets through."""
    if isinstance(address, ipaddress.IPv6Address):
        stands_for_v4 = address.ipv4_mapped or address.sixtofour or address.teredo
        isatap = f"{int(address):032x}"[16:24] in ("00005efe", "02005efe")
        if stands_for_v4 or isatap or address not in ipaddress.ip_network("2000::/3"):
            return False
    never = address.is_multicast or address.is_reserved or address.is_unspecified or address.is_loopback
    private = address.is_private or address.is_link_local or not address.is_global
    return not (never or private or any(address in network for network in ALSO_REFUSED))


@given(st.ip_addresses())
def test_agrees_with_the_standard_library(address: IpAddress) -> None:
    assert is_public(address) == oracle(address)


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:0:0", "::", "64:ff9b::", "::ffff:0:0:0", "2a00::5efe:0:0"]))
def test_mapped_v4_address_is_never_public(inner: ipaddress.IPv4Address, prefix: str) -> None:
    address = ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | int(inner))
    assert not is_public(address)
    if int(address) > 1:
        found = embedded(address)
        assert found is not None
        assert inner in found[1]


@given(st.ip_addresses(v=4))
def test_6to4_is_taken_apart(inner: ipaddress.IPv4Address) -> None:
    address = ipaddress.IPv6Address((0x2002 << 112) | (int(inner) << 80) | 5)
    assert not_public(address) == f"a 6to4 form of {inner}"


@given(st.ip_addresses(v=4), st.ip_addresses(v=4))
def test_teredo_is_taken_apart(server: ipaddress.IPv4Address, client: ipaddress.IPv4Address) -> None:
    address = ipaddress.IPv6Address((0x20010000 << 96) | (int(server) << 64) | (int(client) ^ 0xFFFFFFFF))
    assert embedded(address) == ("a Teredo form", (client, server))


@pytest.mark.parametrize("address", FIRST_AND_LAST, ids=str)
def test_a_range_is_refused_from_its_first_to_its_last(address: IpAddress) -> None:
    assert not is_public(address)
    assert not oracle(address)


@pytest.mark.parametrize(
    "text",
    [
        "1.0.0.0",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2001:200::",
        "2001:4860:4860::8888",
        "2606:4700::1111",
        "2a00:1450::1",
        "3ffe:ffff::1",
    ],
)
def test_public_addresses(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["", "x", "127.1", "0x7f.1", "127.0.0.01", "fe80::1%eth0", "1.2.3.4/32", " 1.2.3.4"])
def test_address_in_another_notation_is_refused(text: str) -> None:
    assert parse_address(text) is None
