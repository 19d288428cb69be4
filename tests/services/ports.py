"""Ports of this machine for the servers of tests: each is given once, and to one worker of a run."""

import itertools
import os
import random
import socket
from typing import Final

TO_SECOND_PORT: Final = 10_000
"""A port of `free_pair` comes with a second one, so much higher."""

# Below the range of outgoing connections: in that range a client that keeps trying to reach a stopped server may be
# given the server's own port, connect to itself and keep the server from coming back.
_SINGLE: Final = range(10_000, 18_000)
_PAIRED: Final = range(18_000, 22_000)


class _Ports:
    """Ports of a range in an order of its own. A server that is killed for a while finds its port free again.

    The workers of a run divide the range, and none gives a port a second time before it has given all.
    """

    def __init__(self, ports: range, *offsets: int) -> None:
        workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
        own = list(ports[number % workers :: workers])
        random.shuffle(own)
        self._ports = itertools.cycle(own)
        self._offsets = offsets

    def next(self) -> int:
        """Return the next port that nothing listens on, nor on those that come with it."""
        return next(port for port in self._ports if all(_is_free(port + offset) for offset in self._offsets))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


_singles, _pairs = _Ports(_SINGLE, 0), _Ports(_PAIRED, 0, TO_SECOND_PORT)


def free_port() -> int:
    """Return a loopback port that nothing listens on."""
    return _singles.next()


def free_pair() -> int:
    """Return a loopback port that nothing listens on, nor on the one that goes with it."""
    return _pairs.next()
