"""The client's address, behind trusted reverse proxies too (docs/proxy.md). Pure."""

import ipaddress
from functools import lru_cache

from pressroom.settings.values import Networks


@lru_cache(4096)  # the same clients come again
def parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Returns an address without zone and port, a v4-mapped v6 address as v4; None when `text` is no address.

    Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711` into X-Forwarded-For.
    """
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address


def client_address(peer: str, forwarded_for: str | None, trusted: Networks) -> str:
    """Returns the address of the client.

    That is the peer, unless it is a trusted proxy. Then it is the right-most entry of X-Forwarded-For that is not a
    trusted proxy itself: the text to the left of it was written by the client and proves nothing.

    Args:
        peer: The address that the connection comes from.
        forwarded_for: The header X-Forwarded-For.
        trusted: The networks of trusted proxies.
    """
    if not trusted or forwarded_for is None:
        return _shown(peer)
    address = parse(peer)
    if address is None:
        return peer
    for entry in reversed(forwarded_for.split(",")):
        if not any(address in network for network in trusted):
            break
        nearer = parse(entry)
        if nearer is None:
            break
        address = nearer
    return str(address)


def is_local(peer: str, forwarded_for: str | None) -> bool:
    """Returns whether a request was made on this machine itself.

    One that a proxy on this machine forwards, trusted or not, is as far away as each address that the proxy names.
    """
    addresses = [peer, *(forwarded_for.split(",") if forwarded_for is not None else ())]
    return all(address is not None and address.is_loopback for address in map(parse, addresses))


def is_within(peer: str, networks: Networks) -> bool:
    """Returns whether an address is in one of the networks."""
    address = parse(peer) if networks else None
    return address is not None and any(address in network for network in networks)


@lru_cache(4096)
def network_of(client: str) -> str:
    """Returns the address that counts as one client: an IPv4 address, or the /64 network of an IPv6 address."""
    return str(ipaddress.ip_network((client, 64), strict=False)) if ":" in client else client


@lru_cache(4096)
def _shown(peer: str) -> str:
    return str(parse(peer) or peer)


def allowed(client: str, allowlist: str) -> bool:
    """Returns whether `client` is in one of the networks of `allowlist` (separated by spaces; empty allows all)."""
    if not allowlist:
        return True
    address = parse(client)
    return address is not None and any(address in ipaddress.ip_network(part) for part in allowlist.split())
