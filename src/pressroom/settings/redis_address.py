"""Addresses of Redis, alone, behind sentinels or as a cluster (docs/operations.md#redis)."""

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

PORT: Final = 6_379
SENTINEL_PORT: Final = 26_379

_UNREADABLE: Final = "has no readable host and port; is its password URL-encoded?"

_SCHEME: Final = re.compile(r"(rediss?)(?:\+(cluster|sentinel))?")
_NODE: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")


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
