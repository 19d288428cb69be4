"""Addresses that settings name: of Redis, alone, behind sentinels or as a cluster (docs/operations.md#redis), and of
the mail server and the sender (docs/mail.md#settings).
"""

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

PORT: Final = 6_379
SENTINEL_PORT: Final = 26_379

_UNREADABLE: Final = "has no readable host and port; is its password URL-encoded?"

_SCHEME: Final = re.compile(r"(rediss?)(?:\+(cluster|sentinel))?")
_NODE: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")

PORTS: Final = {"smtp": 587, "smtps": 465}
_ADDRESS: Final = r"[^\s@<>\"(),:;\\\[\]\x00-\x1f\x7f]+@[^\s@<>\"(),:;\\\[\]\x00-\x1f\x7f]+"
_MAILBOX: Final = re.compile(rf"(?:([^<>\"\x00-\x1f\x7f]*)<({_ADDRESS})>|({_ADDRESS}))")


class RedisKind(Enum):
    """The kind of server at an address."""

    ALONE = auto()
    CLUSTER = auto()
    SENTINEL = auto()


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """A taken apart `PRESSROOM_REDIS_URL`. `nodes` are hosts with ports: of the cluster, or of the sentinels.

    `name` is the one under which sentinels know the primary. `url` is the whole address, for a Redis alone.
    """

    kind: RedisKind
    url: str = field(repr=False)
    nodes: tuple[tuple[str, int], ...] = ()
    name: str = ""
    database: int = 0
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False

    @property
    def shown(self) -> str:
        """Returns the host and port, without secrets, for a log line."""
        return ",".join(f"{host}:{port}" for host, port in self.nodes) or urlsplit(self.url).path


def parse_redis(url: str) -> RedisAddress:
    """Returns the address. Raises ValueError, without quoting the text, for any other."""
    try:
        parts = urlsplit(url)
    except ValueError:  # Python's message may quote the password, as it does below.
        raise ValueError(_UNREADABLE) from None
    scheme = _SCHEME.fullmatch(parts.scheme)
    if parts.scheme == "unix":
        return RedisAddress(RedisKind.ALONE, url)
    if scheme is None:
        raise ValueError("is none of redis://…, rediss://…, unix://…, redis+cluster://… and redis+sentinel://…")
    if "@" in parts.path:
        raise ValueError(_UNREADABLE)
    kind = {None: RedisKind.ALONE, "cluster": RedisKind.CLUSTER, "sentinel": RedisKind.SENTINEL}[scheme[2]]
    if kind is RedisKind.ALONE:
        return RedisAddress(kind, url, (_node(parts),))
    if parts.query or parts.fragment:
        raise ValueError("takes no options after ? or #")
    name, database = _path(parts, kind)
    return RedisAddress(
        kind,
        url,
        _nodes(parts.netloc, SENTINEL_PORT if kind is RedisKind.SENTINEL else PORT),
        name=name,
        database=database,
        username=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        tls=scheme[1] == "rediss",
    )


def _node(parts: SplitResult) -> tuple[str, int]:
    """Returns the host and port of a Redis alone."""
    try:
        return parts.hostname or "localhost", parts.port or PORT
    except ValueError:
        raise ValueError(_UNREADABLE) from None


def _path(parts: SplitResult, kind: RedisKind) -> tuple[str, int]:
    """Returns the sentinels' name of the primary and the number of the database."""
    path = [unquote(part) for part in parts.path.strip("/").split("/") if part]
    if kind is RedisKind.CLUSTER:
        if path:
            raise ValueError("has a database number; a cluster has database 0 alone: redis+cluster://HOST:PORT,…")
        return "", 0
    if not path:
        raise ValueError("lacks the name of the primary: redis+sentinel://HOST:PORT,…/NAME/0")
    if len(path) > 2 or not (path[1:] or ["0"])[0].isdecimal():
        raise ValueError("is not redis+sentinel://HOST:PORT,…/NAME/0")
    return path[0], int(path[1]) if path[1:] else 0


def _nodes(netloc: str, port: int) -> tuple[tuple[str, int], ...]:
    nodes: list[tuple[str, int]] = []
    for written in netloc.rpartition("@")[2].split(","):
        node = _NODE.fullmatch(written)
        if node is None or int(node[2] or port) not in range(1, 65_536):
            raise ValueError("has a host that is not HOST:PORT; several are separated by commas")
        nodes.append((node[1].strip("[]"), int(node[2] or port)))
    return tuple(nodes)


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in.

    `tls`: `implicit` from the first byte, `starttls` demanded before anything is said, `off` never.
    """

    host: str
    port: int
    tls: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)

    @property
    def place(self) -> str:
        """Returns host and port, as a message shows them."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Mailbox:
    """An e-mail address, with the name that is shown with it."""

    address: str
    name: str = ""


def read_mail_server(value: str) -> MailServer | None:
    """Returns the server of an address such as smtp://USER:PASSWORD@HOST:587; None for an empty one.

    Raises ValueError, whose message never quotes the address.
    """
    if not value:
        return None
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise ValueError("is not smtp://HOST:PORT") from None  # The message of urlsplit may quote a password.
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/") or parts.fragment:
        raise ValueError("is neither smtp://HOST:PORT nor smtps://HOST:PORT")
    options = parse_qsl(parts.query, keep_blank_values=True)
    if options not in ([], [("tls", "off")]) or (options and parts.scheme == "smtps"):
        raise ValueError("may end in ?tls=off alone, and smtps:// in nothing")
    tls = "implicit" if parts.scheme == "smtps" else "off" if options else "starttls"
    username, password = (unquote(part) if part else None for part in (parts.username, parts.password))
    if (username is None) != (password is None):
        raise ValueError("has a user without a password, or the other way round")
    if username is not None and tls == "off":
        raise ValueError("would send its password unencrypted; leave ?tls=off away")
    return MailServer(parts.hostname, port or PORTS[parts.scheme], tls, username, password)


def read_mailbox(value: str) -> Mailbox:
    """Returns the mailbox of `Name <name@example.org>` or an address alone. Raises ValueError."""
    found = _MAILBOX.fullmatch(value)
    if found is None:
        raise ValueError("is neither name@example.org nor Name <name@example.org>")
    name, named, bare = found.groups()
    return Mailbox(named or bare, (name or "").strip())
