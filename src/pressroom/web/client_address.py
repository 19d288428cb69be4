"""The client's address, behind reverse proxies only as far as those are trusted. Pure."""

import ipaddress

from pressroom.settings import Networks

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def parse(text: str) -> Address | None:
    """An address without zone, and v4 where it is a v4-mapped v6 one; None when it is none."""
    try:
        address = ipaddress.ip_address(text.strip().strip("[]").partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def client_address(peer: str, forwarded_for: str | None, trusted: Networks) -> str:
    """The address of the client: the peer, unless that is a trusted proxy.

    Then the right-most entry of X-Forwarded-For that is not itself a trusted proxy: whatever stands left of
    it was written by the client and proves nothing.
    """
    address = parse(peer)
    if address is None:
        return peer
    if not trusted or forwarded_for is None:
        return str(address)
    for entry in reversed(forwarded_for.split(",")):
        if not any(address in network for network in trusted):
            break
        nearer = parse(entry)
        if nearer is None:
            break
        address = nearer
    return str(address)


def allowed(client: str, allowlist: str) -> bool:
    """Whether `client` lies in one of the networks of `allowlist` (separated by spaces; empty allows all)."""
    if not allowlist:
        return True
    address = parse(client)
    return address is not None and any(address in ipaddress.ip_network(part) for part in allowlist.split())
