"""The one parser of URLs, for checking and for sending. Pure.

Programs read odd URLs differently, and that is how requests get to hosts that nobody meant. So a URL that can be read
in two ways is refused here, with what to write instead.
"""

import ipaddress
import re
import unicodedata
from typing import Final
from urllib.parse import quote

import idna
import msgspec

from pressroom.outbound.ip_ranges import IpAddress
from pressroom.outbound.response import UrlRefused

MOST_CHARACTERS: Final = 2_048
LONGEST_NAME: Final = 253
_TOO_LONG: Final = f"The host name is longer than {LONGEST_NAME} characters."
_PORTS: Final = {"https": 443, "http": 80}

_SHAPE: Final = re.compile(r"([^:/?#]*)://([^/?]*)(/[^?]*)?(?:\?(.*))?", re.DOTALL)
_BRACKETED: Final = re.compile(r"\[([0-9A-Fa-f:.]+)\](:.*)?")
_LABEL: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PORT: Final = re.compile(r"[1-9][0-9]{0,4}")
_HALF_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NOT_IN_URLS: Final = frozenset('\\"<>^`{|}')
_AS_IT_IS: Final = "!#$%&'()*+,-./:;=?@[]_~"


class Target(msgspec.Struct, frozen=True):
    """A URL, read: what to connect to and what to ask for.

    `host` is in lower case, ASCII, without brackets; `address` is set when it is an address. `path` starts with a
    slash; `query` is without its question mark.
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str
    address: IpAddress | None


def read_url(url: str) -> Target:
    """Reads an http or https URL. Raises UrlRefused, with a message for the person who wrote it."""
    _check_characters(url)
    shape = _SHAPE.fullmatch(url)
    if shape is None or shape[1].lower() not in _PORTS:
        raise UrlRefused("The URL does not start with https:// and a host; write it as https://host/path.")
    scheme = shape[1].lower()
    host, port = _split(shape[2])
    if _HALF_ESCAPE.search(url):
        raise UrlRefused("The URL has a % that is not followed by two hexadecimal digits; write it as %25.")
    address = _literal(host)
    return Target(
        scheme=scheme,
        host=_name(host) if address is None else str(address),
        port=_PORTS[scheme] if port is None else _port(port),
        path=quote(shape[3] or "/", safe=_AS_IT_IS),
        query=quote(shape[4] or "", safe=_AS_IT_IS),
        address=address,
    )


def _check_characters(url: str) -> None:
    if len(url) > MOST_CHARACTERS:
        raise UrlRefused(f"The URL has {len(url):,} characters; at most {MOST_CHARACTERS:,} are allowed.")
    for character in url:
        if character in _NOT_IN_URLS or unicodedata.category(character)[0] in "CZ":
            shown = f"the character {character}" if character in _NOT_IN_URLS else f"U+{ord(character):04X}"
            raise UrlRefused(f"The URL holds {shown}, which URLs cannot hold; leave it out or percent-encode it.")
    if "#" in url:
        raise UrlRefused("The URL has a fragment, which is never sent; leave out # and what follows.")


def _split(authority: str) -> tuple[str, str | None]:
    """Returns host (with its brackets) and port of `host:port`."""
    if "@" in authority:
        raise UrlRefused("The URL holds a user name or password; leave out everything up to the @.")
    if authority.startswith("["):
        bracketed = _BRACKETED.fullmatch(authority)
        if bracketed is None:
            raise UrlRefused("The address in brackets is not an IPv6 address without a zone.")
        host, rest = f"[{bracketed[1]}]", bracketed[2] or ""
    else:
        host, colon, port = authority.partition(":")
        rest = colon + port
    if not host:
        raise UrlRefused("The URL has no host; write it as https://host/path.")
    return host, rest[1:] if rest else None


def _port(text: str) -> int:
    if not _PORT.fullmatch(text) or int(text) > 65_535:
        raise UrlRefused("The port of the URL is not a number from 1 to 65535 without leading zeros.")
    return int(text)


def _literal(host: str) -> IpAddress | None:
    """Returns the address that the host spells; None when it is a name. Of v4 only the canonical spelling is taken."""
    if host.startswith("["):
        try:
            return ipaddress.IPv6Address(host[1:-1])
        except ValueError:
            raise UrlRefused("The address in brackets is not an IPv6 address without a zone.") from None
    # A last label of digits makes browsers read the whole host as an address, in octal and hexadecimal too: `0177.1` is
    # 127.0.0.1.
    if not _NUMBER.fullmatch(host.rpartition(".")[2].lower()):
        return None
    try:
        return ipaddress.IPv4Address(host)
    except ValueError:
        raise UrlRefused("The host is a number, but not an address like 192.0.2.1: four decimal numbers.") from None


def _name(host: str) -> str:
    """Returns the host name in ASCII and lower case."""
    if host.endswith((".", "\u3002", "\uff0e", "\uff61")):
        raise UrlRefused("The host ends with a dot; leave it out.")
    if len(host) > LONGEST_NAME:  # Before IDNA, which takes its time, and shortens nothing.
        raise UrlRefused(_TOO_LONG)
    name = ".".join(_label(label) for label in host.split("."))
    if len(name) > LONGEST_NAME:
        raise UrlRefused(_TOO_LONG)
    return name


def _label(label: str) -> str:
    """Returns one part of a name in ASCII. Raises UrlRefused for another spelling of a name that is in ASCII."""
    made = label.lower()
    try:
        if not label.isascii():
            made = idna.encode(label, uts46=True, std3_rules=True, transitional=False).decode("ascii")
            # Full-width letters and ideographic dots become ASCII: a name that looks like another one, or has more
            # parts.
            if not made.startswith("xn--") or "." in made:
                raise UrlRefused(f"The host holds other characters for {made}; write it in plain letters.")
        elif made.startswith("xn--"):
            idna.ulabel(made)
    except (idna.IDNAError, UnicodeError):
        raise UrlRefused("The host is not a name that IDNA allows.") from None
    if not _LABEL.fullmatch(made):
        raise UrlRefused("The host is not a name: letters, digits and hyphens between dots, up to 63 each.")
    return made
