"""The same-origin rule, and the header Host: the stated source and target of a request."""

from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from pressroom.errors import Code, CrossOrigin, FieldError, Invalid
from pressroom.web.headers import Headers

_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}
"""Ports that browsers leave out of an origin."""


def check_same_origin(headers: Headers, base_url: str) -> None:
    """Raises CrossOrigin when a browser reports another site as the source of the request.

    `Sec-Fetch-Site` decides if it is there, otherwise `Origin`, which must be that of the base address
    (docs/proxy.md#requirements). A client that sends neither is no browser.
    """
    if headers.fetch_site is not None:
        if headers.fetch_site in ("same-origin", "none"):
            return
    elif headers.origin is None or _is_ours(headers, base_url):
        return
    raise CrossOrigin(_explained(headers, base_url))


def check_host(http_version: str, headers: Headers) -> None:
    """Raises Invalid unless a request of HTTP/1.1 has exactly one Host header (RFC 9112, 3.2)."""
    if http_version in ("1", "1.0") and not headers.host:
        return
    if not headers.host.strip():
        raise Invalid([FieldError("header.Host", Code.REQUIRED, "A request of HTTP/1.1 needs a Host header.")])
    if "\n" in headers.host:
        raise Invalid([FieldError("header.Host", Code.DUPLICATE, "A request has one Host header, not several.")])


def names_own_host(headers: Headers, base_url: str) -> bool:
    """Returns whether the request asks for the host of the base address or a loopback host.

    Any other name may be one that a foreign site leads here, to read as a page of its own (DNS rebinding).
    """
    name = _name_of(headers.host.strip().lower())
    if name in ("localhost", urlsplit(base_url).hostname):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _explained(headers: Headers, base_url: str) -> str:
    """Returns the message for the operator: the sent origin, and the expected one."""
    sent = f"the origin {_quoted(headers.origin)}" if headers.origin is not None else "no Origin"
    if headers.fetch_site is not None:
        sent += f" and Sec-Fetch-Site {_quoted(headers.fetch_site)}"
    if headers.host.lower() != urlsplit(base_url.lower()).netloc:
        sent += f" with the Host {_quoted(headers.host)}"
    return (
        f"A signed-in request must come from this site itself: the browser sent {sent}, and the base address of this"
        f" server is {base_url}. If that is not how browsers reach it, its operator sets PRESSROOM_BASE_URL."
    )


def _quoted(value: str) -> str:
    return repr(value[:200])


def _is_ours(headers: Headers, base_url: str) -> bool:
    """Returns whether the origin is that of the base address.

    A server on this machine alone has several names, and tunnels give it other ports: with a loopback base address the
    name that it was asked by passes too, if that is `localhost` or an address, which no foreign site can have.
    """
    # Compared as text: a client may send anything here, and a parser would fail on some of it.
    scheme, _, host = (headers.origin or "").lower().partition("://")
    base = urlsplit(base_url.lower())
    if scheme != base.scheme or not host:
        return False
    if host == base.netloc.removesuffix(_DEFAULT_PORTS.get(scheme, "")):
        return True
    return host == headers.host.lower() and _is_local(base.hostname or "") and _is_unclaimed(_name_of(host))


def _is_local(name: str) -> bool:
    """Returns whether a name of the base address is one by which this machine alone, or any address of it, is meant."""
    if name == "localhost":
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _is_unclaimed(name: str) -> bool:
    """Returns whether a name is `localhost` or an address: no DNS server of a stranger leads it here."""
    if name == "localhost":
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _name_of(host: str) -> str:
    """`[::1]:8000` → `::1`: a host without its port."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
