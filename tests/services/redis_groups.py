"""Several Redis servers that belong together: one that keeps its data, a primary with sentinels, a cluster."""

import contextlib
import threading
import time
from pathlib import Path
from typing import Any, Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from .ports import free_pair
from .process import DEADLINE, GuardedProcess, Lease, wait_until
from .redis import RedisServer, program

SLOTS = 16_384
DOWN_AFTER_MS = 1_000


class DurableRedis(RedisServer):
    """A Redis with an append-only file, synced every second."""

    def _options(self) -> dict[str, str]:
        return {
            **super()._options(),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "auto-aof-rewrite-percentage": "0",
        }

    @property
    def file(self) -> Path:
        """Its append-only file."""
        folder = self.log.parent
        return next(iter(folder.glob("appendonlydir/*.incr.aof")), folder / "appendonly.aof")


class FileWatch:
    """Notes how long the append-only file of a server is, over time."""

    def __init__(self, server: DurableRedis) -> None:
        self._server = server
        self._sizes: list[tuple[float, int]] = [(0.0, 0)]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._over.set()
        self._thread.join()

    def before(self, moment: float) -> tuple[float, int]:
        """The last note of a moment or before it: its own time, and the bytes that were in the file for sure."""
        return max(noted for noted in self._sizes if noted[0] <= moment)

    def _watch(self) -> None:
        with redis.Redis(port=self._server.port, retry=Retry(NoBackoff(), 0)) as client:
            while not self._over.wait(0.01):
                now = time.monotonic()
                try:
                    # While a sync lasts the server may answer before it writes: the rest is in its buffer.
                    if client.info("persistence")["aof_buffer_length"] == 0:
                        self._sizes.append((now, self._server.file.stat().st_size))
                except redis.ConnectionError:
                    return


class FollowingServer(RedisServer):
    """A replica of another server, the primary."""

    def __init__(self, folder: Path, lease: Lease, primary_port: int = 0) -> None:
        """Describe a server without starting it."""
        super().__init__(folder, lease)
        self._primary_port = primary_port

    @classmethod
    def of(cls, primary: RedisServer, folder: Path) -> Self:
        """Start a replica of `primary`, with its log in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, Lease(folder / "redis.lease"), primary.port)._begin()


class ReplicaRedis(FollowingServer):
    """A Redis that copies another."""

    def _more_words(self) -> list[str]:
        return ["--replicaof", "127.0.0.1", str(self._primary_port)]


class SentinelServer(FollowingServer):
    """A sentinel that alone decides that a primary, known to it as `main`, is gone."""

    def _spawn(self) -> GuardedProcess:
        file = self.log.parent / "sentinel.conf"
        file.write_text(
            f"bind 127.0.0.1\nport {self.port}\ndir {self.log.parent}\n"
            f"sentinel monitor main 127.0.0.1 {self._primary_port} 1\n"
            f"sentinel down-after-milliseconds main {DOWN_AFTER_MS}\nsentinel failover-timeout main 3000\n"
        )
        command = [str(program()), str(file), "--sentinel"]
        return GuardedProcess(command, log=self.log, lease=self._lease, end_signal=self.kill_signal)


class SentinelGroup:
    """A primary, a replica of it, and a sentinel that makes the replica the primary when that one is gone."""

    def __init__(self, folder: Path) -> None:
        self._stack = contextlib.ExitStack()
        self.primary = self._stack.enter_context(RedisServer.start(folder / "primary"))
        self.replica = self._stack.enter_context(ReplicaRedis.of(self.primary, folder / "replica"))
        self.sentinel = self._stack.enter_context(SentinelServer.of(self.primary, folder / "sentinel"))
        assert wait_until(lambda: self._state("replicas") and self._state("replicas")[0]["master-link-status"] == "ok")

    @property
    def url(self) -> str:
        """What PRESSROOM_REDIS_URL is then."""
        return f"redis+sentinel://127.0.0.1:{self.sentinel.port}/main/0"

    def wait_for_copy(self) -> None:
        """Return when the replica has all that the primary has."""
        with redis.Redis(port=self.primary.port) as client:
            assert client.execute_command("WAIT", 1, int(DEADLINE * 1_000)) == 1

    def _state(self, of: str) -> Any:
        with redis.Redis(port=self.sentinel.port) as client:
            return client.sentinel_slaves("main") if of == "replicas" else client.sentinel_master("main")

    def close(self) -> None:
        """End all three."""
        self._stack.close()


class ClusterNode(RedisServer):
    """A node of a cluster that serves its own slots when others are away. Keeps its data."""

    def _free_port(self) -> int:
        return free_pair()

    def _options(self) -> dict[str, str]:
        return {
            **super()._options(),
            "appendonly": "yes",
            "cluster-enabled": "yes",
            "cluster-config-file": str(self.log.parent / "nodes.conf"),
            "cluster-node-timeout": "1000",
            "cluster-require-full-coverage": "no",
        }


class Cluster:
    """Three nodes without replicas, each with a third of the slots."""

    def __init__(self, folder: Path) -> None:
        self._stack = contextlib.ExitStack()
        self.nodes = [self._stack.enter_context(ClusterNode.start(folder / f"node{n}")) for n in range(3)]
        for number, node in enumerate(self.nodes):
            with redis.Redis(port=node.port) as client:
                client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
                client.execute_command("CLUSTER", "ADDSLOTS", *range(SLOTS * number // 3, SLOTS * (number + 1) // 3))
                client.execute_command("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port)
        assert wait_until(lambda: all(map(self.knows_all, self.nodes)))

    @property
    def url(self) -> str:
        """What PRESSROOM_REDIS_URL is then."""
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    @staticmethod
    def knows_all(node: ClusterNode) -> bool:
        """Tell whether a node knows who has each slot."""
        with redis.Redis(port=node.port) as client:
            info = str(client.execute_command("CLUSTER", "INFO"))
            return "cluster_state:ok" in info and f"cluster_slots_ok:{SLOTS}" in info

    def close(self) -> None:
        """End all nodes."""
        self._stack.close()
