"""How the text of a setting becomes its value. Each function raises ValueError with the end of a sentence."""

import ipaddress
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from pressroom.settings.addresses import parse_redis
from pressroom.text import username_shape

RETRIES: Final = 4
"""Attempts to deliver a webhook after the first one."""

DIGITS: Final = 30
"""Digits that a number may have, zeros in front included."""

Networks = tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]


def read_text(value: str) -> str:
    return value


def read_flag(value: str) -> bool:
    if value.lower() in ("1", "true", "yes", "on"):
        return True
    if value.lower() in ("", "0", "false", "no", "off"):
        return False
    raise ValueError("is neither 1 nor 0")


def whole_number(least: int, most: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        # Python refuses to read thousands of digits, in words of its own.
        if not (value.isascii() and value.isdigit() and len(value) <= DIGITS and least <= int(value) <= most):
            raise ValueError(f"is not a whole number from {least:,} to {most:,}")
        return int(value)

    return read


def optional_port(value: str) -> int | None:
    return whole_number(1, 65_535)(value) if value else None


_HOST: Final = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")
_PLAIN: Final = re.compile(r"[!#-;=?-\[\]_a-z~]+")
"""Characters that an address may have: printable ASCII without those that mean something to browsers or HTML."""


def read_web_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("is not an http:// or https:// address")
    if parts.username is not None:
        raise ValueError("must not hold a password")
    if not _HOST.fullmatch(parts.netloc) or not _PLAIN.fullmatch(value):
        raise ValueError("is not written as browsers send it: ASCII without spaces, a host name as xn--…")
    _ = parts.port  # Raises ValueError when it is no port number.
    return value.rstrip("/")


def optional_address(value: str) -> str | None:
    return read_web_address(value) if value else None


def mail_domain(base_url: str) -> str:
    """Returns the host of the base address if it is a name, and localhost for an IP address."""
    host = urlsplit(base_url).hostname or ""
    return host if re.fullmatch(r"[a-z0-9.-]*[a-z][a-z0-9.-]*", host) else "localhost"


def read_base_address(value: str) -> str:
    address = read_web_address(value)
    if urlsplit(address).path:
        raise ValueError("has a path; pages and the API are served at the root of a host, so give them a host name")
    return address


def read_database(value: str) -> str:
    if not value.startswith(("sqlite:///", "postgresql://", "postgres://")):
        raise ValueError("is neither sqlite:///FILE nor postgresql://…")
    try:
        urlsplit(value)
    except ValueError:
        raise ValueError("is no address of a database; is its password URL-encoded?") from None
    return value


def read_replica(value: str) -> str | None:
    if value and not value.startswith(("postgresql://", "postgres://")):
        raise ValueError("is not postgresql://…")
    return value or None


def read_schema(value: str) -> str:
    # The name stands in statements and in names of channels, which PostgreSQL cuts after 63 bytes.
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,47}", value):
        raise ValueError("is no name of 1 to 48 lower-case letters, digits and _ that begins with a letter")
    if value.startswith("pg_") or value == "information_schema":
        raise ValueError("is a name that PostgreSQL keeps for itself")
    return value


class Pooler(StrEnum):
    """Whose sessions the connections to PostgreSQL are."""

    SESSION = "session"
    TRANSACTION = "transaction"


def read_pooler(value: str) -> Pooler:
    if value not in {each.value for each in Pooler}:
        raise ValueError("is neither session nor transaction")
    return Pooler(value)


_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
_BLOBS_PREFIX: Final = re.compile(r"(?:/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?")


def read_blobs(value: str) -> str:
    if value.startswith("file:///") and value.strip("/") != "file:":
        return value
    if not value.startswith("s3://"):
        raise ValueError("is neither file:///FOLDER nor s3://BUCKET/PREFIX")
    try:
        parts = urlsplit(value)
    except ValueError:
        raise ValueError("is not s3://BUCKET/PREFIX") from None  # The message of urlsplit may quote a password.
    if not _BUCKET.fullmatch(parts.netloc) or not _BLOBS_PREFIX.fullmatch(parts.path) or parts.fragment:
        raise ValueError("is not s3://BUCKET/PREFIX; credentials belong into AWS_ACCESS_KEY_ID and others")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if not options.keys() <= {"endpoint", "region"}:
        raise ValueError("may end in ?endpoint=…&region=… alone; credentials belong into AWS_ACCESS_KEY_ID and others")
    if "endpoint" in options:
        try:
            _ = urlsplit(read_web_address(options["endpoint"])).port
        except ValueError:
            raise ValueError(
                "has an endpoint that is not http://HOST:PORT or https://HOST without a password"
            ) from None
    if "region" in options and not re.fullmatch("[a-z0-9-]+", options["region"]):
        raise ValueError("has a region that is none, such as eu-central-1")
    return value


def read_redis(value: str) -> str | None:
    if value:
        parse_redis(value)
    return value or None


def read_networks(value: str) -> Networks:
    try:
        return tuple(ipaddress.ip_network(part) for part in value.replace(",", " ").split())
    except ValueError as error:
        raise ValueError(f"is not a list of networks such as 10.0.0.0/8 ({error})") from None


def read_usernames(value: str) -> frozenset[str]:
    """Returns the shapes of user names that are separated by commas."""
    names = [name.strip() for name in value.split(",") if name.strip()]
    if wrong := next((name for name in names if not re.fullmatch(r"[A-Za-z0-9_]{1,30}", name)), None):
        raise ValueError(f"holds {wrong[:60]!r}, which is no user name: they have up to 30 of A-Z, a-z, 0-9 and _")
    return frozenset(map(username_shape, names))


def read_waits(value: str) -> tuple[float, ...]:
    try:
        waits = tuple(float(part) for part in value.split(","))
    except ValueError:
        waits = ()
    if len(waits) != RETRIES or not all(0 <= wait <= 86_400 for wait in waits):
        raise ValueError(f"is not {RETRIES} numbers of seconds such as 60,120,240,480")
    return waits


class WhenAway(StrEnum):
    """The treatment of limited requests while the limits cannot be counted together."""

    REFUSE = "refuse"
    LOCAL = "local"


def read_when_away(value: str) -> WhenAway:
    if value not in {each.value for each in WhenAway}:
        raise ValueError("is neither refuse nor local")
    return WhenAway(value)


class Signup(StrEnum):
    """The rule for sign-up."""

    OPEN = "open"
    INVITE = "invite"
    CLOSED = "closed"


def read_signup(value: str) -> Signup:
    if value not in {each.value for each in Signup}:
        raise ValueError("is neither open nor invite nor closed")
    return Signup(value)


def read_confinement(value: str) -> bool:
    if value not in ("full", "available"):
        raise ValueError("is neither full nor available")
    return value == "full"
