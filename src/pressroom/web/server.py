"""The HTTP server: granian, with a listening socket whose options every connection inherits."""

import contextlib
import ctypes
import os
import resource
import socket
from typing import Any, Final

# With an arena for each thread, both allocators keep what a thousand connections held, and hold it several times:
# granian's, which reads this when it is loaded, and the C library's, before there are threads. Python allocates under
# its lock, so that nobody waits for the one arena.
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
"""Connections that are looked at together, as far as they take half of the files that may be open; on top of these
they wait to be accepted."""

BUFFER: Final = 64 * 1024
"""Bytes of a connection that are held in either direction; a request's head must fit."""

HEADERS_MILLISECONDS: Final = 10_000
"""How long a client may take to send the head of a request."""

UNSENT: Final = 64 * 1024
"""Bytes of a connection that the kernel takes ahead of what the reader has room for: without it, megabytes each."""


class ReadersServer(Server):
    """A server whose connections end when their reader takes nothing for `reader_seconds` (docs/limits.md#readers).

    The kernel sees what no program above it does: whether a single byte was taken, however little each time. Where it
    has no such options (they are Linux's), readers that stall hold what `web.sending` allows them.
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


def bound_readers(listening: socket.socket, seconds: int) -> None:
    """Has the kernel cut off readers of this socket's connections that take nothing for `seconds`, and hold little."""
    for option, value in (("TCP_USER_TIMEOUT", seconds * 1_000), ("TCP_NOTSENT_LOWAT", UNSENT)):
        if (number := getattr(socket, option, None)) is not None:
            with contextlib.suppress(OSError):
                listening.setsockopt(socket.IPPROTO_TCP, number, value)


def make_server(app: Application, settings: Settings) -> ReadersServer:
    """The HTTP server of this process, not yet started."""
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
