"""Whose address a request comes from."""

import ipaddress

import pytest

from pressroom.web.client_address import allowed, client_address, network_of, parse

PROXIES = (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("2001:db8:1::/48"))

ADDRESSES = {
    "192.0.2.1": "192.0.2.1",
    " 192.0.2.1\t": "192.0.2.1",
    "192.0.2.1:4711": "192.0.2.1",
    "2001:DB8::0:1": "2001:db8::1",
    "[2001:db8::1]": "2001:db8::1",
    "[2001:db8::1]:4711": "2001:db8::1",
    "fe80::1%eth0": "fe80::1",
    "[fe80::1%eth0]:80": "fe80::1",
    "::ffff:192.0.2.1": "192.0.2.1",
    "[::ffff:c000:201]:80": "192.0.2.1",
    "::ffff:192.0.2.1%1": "192.0.2.1",
    "::192.0.2.1": "::c000:201",
    "": None,
    "[": None,
    "[]": None,
    "unknown": None,
    "localhost:80": None,
    "192.0.2": None,
    "192.0.2.1.": None,
    "192.0.2.01": None,
    "192.0.2.1/32": None,
    "192.0.2.256": None,
    "1.2.3.4, 5.6.7.8": None,
    "٣.0.2.1": None,
    "::1::": None,
    "\x00": None,
}


@pytest.mark.parametrize(("text", "expected"), ADDRESSES.items(), ids=ascii)
def test_parse(text: str, expected: str | None) -> None:
    found = parse(text)
    assert (None if found is None else str(found)) == expected


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("192.0.2.1", None, "192.0.2.1"),
        ("192.0.2.1", "198.51.100.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", None, "192.0.2.1"),
        ("10.0.0.1", None, "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("::ffff:10.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("2001:db8:1::9", "2001:db8:2::1", "2001:db8:2::1"),
        ("10.0.0.1", "198.51.100.1, 192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "198.51.100.1, 192.0.2.1, 10.1.1.1", "192.0.2.1"),
        ("10.0.0.1", "198.51.100.1,10.1.1.1,192.0.2.1", "192.0.2.1"),
        ("10.0.0.1", "10.2.2.2, 10.1.1.1", "10.2.2.2"),
        ("10.0.0.1", "192.0.2.1, unknown, 10.1.1.1", "10.1.1.1"),
        ("10.0.0.1", "192.0.2.1,", "10.0.0.1"),
        ("10.0.0.1", "192.0.2.1:99", "192.0.2.1"),
        ("", "192.0.2.1", ""),
        ("unix:", "192.0.2.1", "unix:"),
    ],
)
def test_the_nearest_address_that_no_proxy_of_ours_has(peer: str, forwarded: str | None, expected: str) -> None:
    assert client_address(peer, forwarded, PROXIES) == expected


def test_without_trusted_proxies_only_the_peer_counts() -> None:
    assert client_address("10.0.0.1", "192.0.2.1", ()) == "10.0.0.1"


@pytest.mark.parametrize(
    ("client", "allowlist", "expected"),
    [
        ("192.0.2.1", "", True),
        ("", "", True),
        ("192.0.2.1", "192.0.2.0/24", True),
        ("192.0.2.1", "198.51.100.0/24 192.0.2.1/32", True),
        ("192.0.3.1", "198.51.100.0/24 192.0.2.0/24", False),
        ("::ffff:192.0.2.1", "192.0.2.0/24", True),
        ("2001:db8::1", "2001:db8::/32", True),
        ("2001:db8::1", "0.0.0.0/0", False),
        ("192.0.2.1", "::/0", False),
        ("", "0.0.0.0/0 ::/0", False),
        ("unix:", "0.0.0.0/0", False),
    ],
)
def test_allowed(client: str, allowlist: str, *, expected: bool) -> None:
    assert allowed(client, allowlist) is expected


@pytest.mark.parametrize(
    ("client", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:0:7:1:2:3:4", "2001:db8:0:7::/64"),
        ("2001:db8:0:8::1", "2001:db8:0:8::/64"),
    ],
)
def test_client_is_an_ipv4_address_or_a_64_bit_network(client: str, network: str) -> None:
    assert network_of(client) == network
