"""Programs that publish by way of two servers through a fail-over of their database, and their answers."""

import asyncio
import contextlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, pairwise
from pathlib import Path
from typing import Final, Literal

from tests.harness.histories import History
from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher
from tests.harness.wire import Reply, Request
from tests.services import pgbouncer, toxiproxy
from tests.services.pgbouncer import PgBouncer
from tests.services.postgres_cluster import PostgresCluster, several_hosts
from tests.services.toxiproxy import Link, Toxiproxy

Way = Literal["direct", "session", "transaction", "resets"]

RESETS: Final = 0.1
"""Share of the connections to the database that are reset."""


class Wanderer(Publisher):
    """A publisher that turns to the next server when one fails it, and records all in a history."""

    def __init__(self, servers: Sequence[ServerProcess], key: str, name: str, history: History) -> None:
        super().__init__(servers[0], key, name)
        self.acknowledged_at: list[float] = []
        self._servers = cycle(servers)
        self._history = history

    async def ask(self, request: Request) -> Reply | None:
        """Sends a request once; returns None when no answer comes."""
        with self._history.call("create", request.headers["Idempotency-Key"], "create") as told:
            reply = await super().ask(request)
            if reply is not None and reply.status in {200, 201}:
                told(replayed=reply.status == 200, value=reply.json()["id"])
        if reply is None or reply.status == 503:
            self.hang_up()
            self._server = next(self._servers)
        else:
            self.acknowledged_at.append(asyncio.get_running_loop().time())
        return reply


def longest_pause(wanderers: Sequence[Wanderer]) -> float:
    """The longest time, in seconds, in which none of them had an answer."""
    times = sorted(time for each in wanderers for time in each.acknowledged_at)
    return max(later - earlier for earlier, later in pairwise(times))


@dataclass(frozen=True)
class Access:
    """The way of servers to the database of a cluster: their settings, and the operator's acts after a fail-over."""

    settings: Mapping[str, object]
    bouncer: PgBouncer | None = None
    links: Sequence[Link] = ()

    def follow(self, cluster: PostgresCluster) -> None:
        """Leads to the new primary what does not find it by itself."""
        if self.bouncer is not None:
            self.bouncer.point_at(cluster.primary.port)

    @contextlib.contextmanager
    def disturbed(self) -> Generator[None]:
        """Has a share of the connections reset, those that are open and those that are made within."""
        toxics = [(link, link.poison("reset_peer", share=RESETS, timeout=300)) for link in self.links]
        yield
        for link, toxic in toxics:
            link.cure(toxic)


def why_not(way: Way) -> str | None:
    """Returns why a way cannot be gone here, or None if it can."""
    if way == "resets":
        return toxiproxy.available()
    return None if way == "direct" else pgbouncer.available()


@contextlib.contextmanager
def access(way: Way, cluster: PostgresCluster, database: str, folder: Path) -> Generator[Access]:
    """Opens a way to a database."""
    hosts = cluster.url(database)
    if way == "direct":
        yield Access({"DATABASE_URL": hosts})
    elif way == "resets":
        with Toxiproxy.start(folder / "toxiproxy") as proxy:
            links = [proxy.link(node.port) for node in cluster.nodes]
            yield Access({"DATABASE_URL": several_hosts([link.port for link in links], database)}, links=links)
    else:
        with PgBouncer.start(folder / "pgbouncer", cluster.primary.port, mode=way) as bouncer:
            pooled = {"DATABASE_POOLER": way, "DATABASE_DIRECT_URL": hosts}
            yield Access({"DATABASE_URL": bouncer.database_url(database), **pooled}, bouncer)
