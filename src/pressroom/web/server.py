"""The HTTP server: granian, with options on the listening socket that every connection inherits."""

import contextlib
import ctypes
import os
import resource
import socket
from typing import Any, Final

# With an arena for each thread, an allocator keeps the memory of a thousand connections for good, several times.
# There are two: granian's, which reads this variable when it is loaded, and the C library's, which is set before there
# are threads. Python allocates under its lock, so nobody waits for the single arena.
os.environ.setdefault("_RJEM_MALLOC_CONF", "narenas:1,background_thread:true,dirty_decay_ms:500,muzzy_decay_ms:0")
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server

from pressroom.settings import Settings
from pressroom.web.asgi import Application

M_ARENA_MAX: Final = -8
"""The number that glibc's malloc.h gives this option."""

with contextlib.suppress(OSError, AttributeError):
    ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)

CONNECTIONS: Final = 16_384
"""Connections that are served at once, but at most half of the files that may be open. Further ones wait to be
accepted."""

BUFFER: Final = 64 * 1024
"""Bytes of a connection that are buffered in each direction. The head of a request must fit."""

HEADERS_MILLISECONDS: Final = 10_000
"""Milliseconds that a client may take to send the head of a request."""

UNSENT: Final = 64 * 1024
"""Bytes of a connection that the kernel takes before the client reads them; without this, megabytes each."""


class ReadersServer(Server):
    """A server whose connections end when the client takes nothing for `reader_seconds` (docs/limits.md#slow-readers).

    Only the kernel sees whether the client took a single byte. On systems without these options of Linux, clients that
    stall use what `web.response_sending` allows them.
    """

    _shd: Any
    _ssp: Any

    def __init__(self, target: Any, *, reader_seconds: int, **options: Any) -> None:
        super().__init__(target, **options)
        self._reader_seconds = reader_seconds

    def _init_shared_socket(self) -> None:
        super()._init_shared_socket()
        if self._shd is None:
            self._shd = self._ssp.build()
            self._ssp = None
        with socket.socket(fileno=os.dup(self._shd.get_fd())) as listening:
            bound_readers(listening, self._reader_seconds)
            listening.listen(self.backlog)  # Before the hooks of the start, which report that the server listens.


def bound_readers(listening: socket.socket, seconds: int) -> None:
    """Has the kernel end connections of this socket whose client takes nothing for `seconds`, and buffer little."""
    for option, value in (("TCP_USER_TIMEOUT", seconds * 1_000), ("TCP_NOTSENT_LOWAT", UNSENT)):
        if (number := getattr(socket, option, None)) is not None:
            with contextlib.suppress(OSError):
                listening.setsockopt(socket.IPPROTO_TCP, number, value)


def make_server(app: Application, settings: Settings) -> ReadersServer:
    """Returns the HTTP server of this process, not yet started."""
    return ReadersServer(
        app,
        reader_seconds=settings.reader_timeout_seconds,
        address=str(socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][4][0]),
        port=settings.port,
        interface=Interfaces.ASGINL,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADERS_MILLISECONDS, max_buffer_size=BUFFER),
        websockets=False,
        backlog=1024,
        backpressure=min(CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2),
        log_enabled=False,
    )
