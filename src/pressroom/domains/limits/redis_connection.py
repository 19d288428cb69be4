"""Connections to Redis, alone, behind sentinels or as a cluster (docs/operations.md#redis)."""

from typing import Any

from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.cluster import ClusterNode, RedisCluster
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel
from redis.backoff import NoBackoff

from pressroom.settings.addresses import RedisAddress, RedisKind

CONNECTIONS = 1_000
"""More than ever are open: the caller bounds how many calls run at once."""

AGAIN = Retry(NoBackoff(), 1)
"""A call is sent again when the connection turns out to be dead, as all idle ones do after a restart of Redis. At worst
it counts twice then."""

CONNECT = 5
"""Seconds that connecting may take. Sending and reading have no time-out of their own, which would cost a task for each
command: the caller bounds the whole call."""

MOVES = 3
"""How often a call follows a key to another node of a cluster, or asks for the nodes again."""


def open_redis(address: RedisAddress, timeout: float) -> Redis | RedisCluster:
    """Returns a client that connects when it is first used. `timeout` (seconds) is for one sentinel or node."""
    match address.kind:
        case RedisKind.ALONE:
            pool = ConnectionPool.from_url(  # pyright: ignore[reportUnknownMemberType]  # untyped options
                address.url,
                max_connections=CONNECTIONS,
                retry=AGAIN,
                socket_timeout=None,
                socket_connect_timeout=CONNECT,
            )
            return Redis.from_pool(pool)  # which closes it too
        case RedisKind.SENTINEL:
            return _behind_sentinels(address, timeout)
        case RedisKind.CLUSTER:
            return _Cluster(
                startup_nodes=[ClusterNode(host, port) for host, port in address.nodes],
                username=address.username,
                password=address.password,
                ssl=address.tls,
                retry=Retry(NoBackoff(), MOVES),
                max_connections=CONNECTIONS,
                socket_connect_timeout=timeout,
                socket_timeout=timeout,
            )


class _Cluster(RedisCluster):
    """A client that connects to a cluster also while one of its nodes is away."""

    async def initialize(self, *args: Any, **kwargs: Any) -> RedisCluster:
        """Connects. The first known node is asked for the others; when that fails, the next try asks another."""
        try:
            return await super().initialize(*args, **kwargs)
        except BaseException:
            # redis-py asks the same node first each time. While that one is away, no connection to the others would
            # ever be made.
            for node in self.nodes_manager.get_nodes_by_server_type("primary")[:1]:
                self.nodes_manager.move_node_to_end_of_cached_nodes(node.name)
            raise


def _behind_sentinels(address: RedisAddress, timeout: float) -> Redis:
    sentinels = Sentinel(
        address.nodes,
        sentinel_kwargs={"socket_connect_timeout": timeout, "socket_timeout": timeout},
        username=address.username,
        password=address.password,
        db=address.database,
        ssl=address.tls,
        max_connections=CONNECTIONS,
        retry=AGAIN,
        socket_timeout=None,
        socket_connect_timeout=CONNECT,
    )
    return sentinels.master_for(address.name)  # pyright: ignore[reportUnknownMemberType]  # untyped options
