"""Connections to other hosts: made only to addresses that were checked, kept alive for a little while, bounded.

aiohttp makes and keeps connections. It does not limit the cost of a response, does not notice all bytes that a peer
sends between requests, and does not tell whether a broken connection had been used before; this module does.
"""

import asyncio
import functools
import socket
import ssl
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, cast

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http_exceptions import HttpProcessingError

from pressroom.outbound.allowed_addresses import Policy
from pressroom.outbound.explain import is_ours
from pressroom.outbound.lookups import Resolve
from pressroom.outbound.response import Failure, OutboundFailed
from pressroom.outbound.response_reader import ResponseReader

IDLE_SECONDS: Final = 15.0
LONGEST_SECONDS: Final = 60.0
"""Age from which no further request begins on a connection. Without it, a name that leads elsewhere would not be
noticed while its connections are busy."""

KEPT: Final = 1_024
"""Connections that are kept alive at once; further ones are closed after their request."""

READS: Final = 32
READ_BYTES: Final = 512
"""After so many reads of a response, a peer is read less often when its reads bring fewer bytes each on average."""

GATHER_SECONDS: Final = 0.05
GATHER_BYTES: Final = 16_384
"""How long, and up to how many bytes, the data of such a peer gathers in the kernel before it is read."""

ADDRESSES_TRIED: Final = 8

UNLIMITED: Final = aiohttp.ClientTimeout(total=None, connect=None, sock_read=None, sock_connect=None)
"""The client has one deadline for everything."""

AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]]
"""A result of getaddrinfo; the last part starts with the address."""


class Exchange:
    """One try at a request: options for the connection layer, and that layer's findings."""

    __slots__ = ("addresses", "busy", "fresh", "refusal", "reused", "wire")

    def __init__(self, *, fresh: bool) -> None:
        self.fresh = fresh
        self.reused = False
        self.wire: Wire | None = None
        self.refusal: OutboundFailed | None = None
        self.addresses: list[str] = []
        self.busy = False

    @property
    def stale(self) -> bool:
        """Whether it broke on a kept-alive connection before one byte of the response: the peer had closed it."""
        return self.reused and self.wire is not None and self.wire.heard == 0


EXCHANGE: Final[ContextVar[Exchange]] = ContextVar("exchange")


class Shares:
    """Counts requests under way to each address. Each may have `most`; None: any number."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._under_way: Counter[str] = Counter()

    def take(self, exchange: Exchange, address: str) -> None:
        """Counts a connection of an exchange. Raises ConnectionRefusedError when the address has as many as it may."""
        if self._most is not None and self._under_way[address] >= self._most:
            exchange.busy = True
            raise ConnectionRefusedError("as many requests as are allowed are under way to this address")
        self._under_way[address] += 1
        exchange.addresses.append(address)

    def give_back(self, exchange: Exchange) -> None:
        """Ends the count of an exchange."""
        for address in exchange.addresses:
            self._under_way[address] -= 1
            if not self._under_way[address]:
                del self._under_way[address]
        exchange.addresses.clear()


class KeepAliveCount:
    """How many of the open connections are kept alive."""

    def __init__(self) -> None:
        self.keeping = 0


class Wire(ResponseHandler):
    """One connection. Bytes received go to the reader of a response; bytes between requests close the connection.

    Attributes:
        heard: Bytes that came since the latest request began.
        used: Whether a request began on it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, keep_alive_count: KeepAliveCount) -> None:
        super().__init__(loop)
        self.heard = 0
        self.used = False
        self._loop = loop
        self._made_at = loop.time()
        self._keep_alive_count = keep_alive_count
        self._keeps = False
        self._reader: ResponseReader | None = None
        self._response: asyncio.Future[None] | None = None
        self._reads = 0
        self._gathering: asyncio.TimerHandle | None = None

    @property
    def is_old(self) -> bool:
        """Whether no further request may begin on it."""
        return self._loop.time() - self._made_at >= LONGEST_SECONDS

    @property
    def has_unread(self) -> bool:
        """Whether bytes wait to be read that no request asked for, or the peer has closed the connection.

        They would be taken for the response to the next request. Over TLS a new connection may have some that are no
        part of a response, so this is for connections that were used before.
        """
        with _borrowed(self.transport) as connected:
            if connected is None:
                return True
            try:
                connected.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            except OSError:
                return True
            return True

    def begin(self) -> None:
        """Prepares for a request."""
        # Decided once for a connection, so that its count is given back once (`connection_lost`).
        if not self.used:
            self._keep_or_not()
        self.heard = self._reads = 0
        self.used = True

    async def ask(self, request: bytes, reader: ResponseReader) -> None:
        """Sends a whole request and returns when `reader` has read the response.

        Raises OutboundFailed and aiohttp's errors.
        """
        transport = self.transport
        if transport is None or transport.is_closing():
            raise aiohttp.ClientConnectionResetError("closed before it was used")
        self._reader, self._response = reader, self._loop.create_future()
        # Head and body in one write: one system call, and one packet where they fit into it.
        transport.write(request)
        try:
            await self._response
        finally:
            self._reader = self._response = None

    def rest(self) -> None:
        """Ends a request: from now on the peer must send nothing.

        The connection is not kept if some of the request is still unsent. Over TLS that is unknown of bytes that are
        encrypted already, but no delivery is long enough for this to matter. One that is not kept is cut off: a close
        would wait for the unsent bytes, and over TLS for the peer's goodbye.
        """
        self._read_at_once()
        if self.transport is not None and (self.should_close or self.transport.get_write_buffer_size()):
            self.force_close()
            self.abort()

    def connection_lost(self, exc: BaseException | None) -> None:
        if self._keeps:
            self._keep_alive_count.keeping -= 1
        if self._gathering is not None:
            self._gathering.cancel()
        super().connection_lost(exc)
        if self._reader is None:
            return
        if self._reader.end_of_input():
            self._end()
        elif self._reader.head is not None:
            self._end(aiohttp.ClientPayloadError("closed within the body"))
        else:
            self._end(aiohttp.ServerDisconnectedError())

    def data_received(self, data: bytes) -> None:
        self.heard += len(data)
        reader = self._reader
        if reader is None or reader.ended:  # Nobody asked.
            self.force_close()
            self.abort()
            return
        try:
            if reader.feed(data):
                self._end()
        except (HttpProcessingError, OutboundFailed) as error:
            self._end(error)
        self._reads += 1
        # A peer that sends byte by byte would otherwise cost a step of the event loop for each.
        if self._reads > READS and self.heard < READ_BYTES * self._reads:
            self._read_less_often()

    def _end(self, error: Exception | None = None) -> None:
        """Ends the response under way. The connection is used again only if that is complete and nothing follows it."""
        reader, response = self._reader, self._response
        # Bytes that are left would be read as the response to the next request, perhaps of another account.
        if reader is None or not reader.leaves_nothing:
            self.force_close()
        if response is None or response.done():
            return
        if error is None:
            response.set_result(None)
        else:
            response.set_exception(error)

    def _keep_or_not(self) -> None:
        if self._keep_alive_count.keeping < KEPT and self.is_connected():
            self._keeps = True
            self._keep_alive_count.keeping += 1
        else:
            self.force_close()

    def _read_less_often(self) -> None:
        """Makes the kernel gather further bytes: a read of one byte costs as much time as one of some kilobytes."""
        if self._gathering is None and self._set_low_water(GATHER_BYTES):
            self._gathering = self._loop.call_later(GATHER_SECONDS, self._read_at_once)

    def _read_at_once(self) -> None:
        if self._gathering is not None:
            self._gathering.cancel()
            self._gathering = None
            self._set_low_water(1)

    def _set_low_water(self, number: int) -> bool:
        with _borrowed(self.transport) as connected:
            if connected is None:
                return False
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, number)
            return True


@contextmanager
def _borrowed(transport: asyncio.BaseTransport | None) -> Generator[socket.socket | None]:
    """Gives the socket below a transport, also below TLS, while the context lasts; None when it is closed.

    A transport's own socket object can neither read nor report waiting bytes.
    """
    given: object = None if transport is None else transport.get_extra_info("socket")
    descriptor = cast("socket.socket", given).fileno() if given is not None else -1
    if descriptor < 0:
        yield None
        return
    borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=descriptor)
    try:
        yield borrowed
    finally:
        # Without this, the descriptor would be closed under the transport.
        borrowed.detach()


class Resolver(AbstractResolver):
    """Resolves names for aiohttp: returns addresses only when every one of them may be reached."""

    def __init__(self, policy: Policy, look_up: Resolve) -> None:
        self._policy = policy
        self._look_up = look_up

    async def vetted(self, host: str, port: int) -> list[str]:
        """Returns the addresses of a name. Raises OutboundFailed (NAME, REFUSED_ADDRESS)."""
        try:
            addresses = await self._look_up(host, port)
        except OSError as error:
            if is_ours(error):
                raise OutboundFailed(Failure.OURS, "This server could not look the name up just then.") from None
            addresses = []
        except UnicodeError:
            addresses = []
        if not addresses:
            raise self._policy.unresolved(host)
        # All of them: with one public and one private address, the peer could choose the moment at which the private
        # one is taken.
        for address in addresses:
            if why := self._policy.objection(address):
                raise self._policy.refused(address, why)
        return addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Resolves for aiohttp, once for each new connection."""
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in (await self.vetted(host, port))[:ADDRESSES_TRIED]
        ]

    async def close(self) -> None:
        """Nothing to close: the look-up belongs to the client."""


class Connector(aiohttp.TCPConnector):
    """The pool of connections. Each new socket is checked once more, by the very address that it connects to."""

    def __init__(self, policy: Policy, resolver: Resolver, tls: ssl.SSLContext, shares: Shares) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]  # a tuple of anything in aiohttp's own types
            ssl=tls,
            limit=0,
            # A cached address would outlive the time for which its name's owner vouches, and the check of it.
            use_dns_cache=False,
            resolver=resolver,
            keepalive_timeout=IDLE_SECONDS,
            socket_factory=self._socket,
        )
        self._policy = policy
        self._shares = shares
        self._factory = functools.partial(Wire, self._loop, KeepAliveCount())

    def _socket(self, info: AddressInfo) -> socket.socket:
        family, kind, protocol, _, address = info
        # The last check before the connection is made, on the very address: nothing resolves a name after it.
        why = self._policy.objection(str(address[0]))
        if why is not None:
            EXCHANGE.get().refusal = self._policy.refused(str(address[0]), why)
            raise PermissionError("refused address")
        self._shares.take(EXCHANGE.get(), str(address[0]))
        return socket.socket(family, kind, protocol)

    async def take(self, exchange: Exchange, key: aiohttp.ClientRequest) -> tuple[Connection, Wire]:
        """Returns a connection for one request: a new one, or one that was kept alive if it may be used."""
        EXCHANGE.set(exchange)
        while True:
            # aiohttp gives kept connections first. Each that may not be used is closed, until a new one comes.
            connection = await self.connect(key, [], UNLIMITED)
            wire = connection.protocol
            if not isinstance(wire, Wire):
                raise TypeError("This aiohttp makes connections in another way than we know.")
            if not wire.used or not (exchange.fresh or wire.should_close or wire.is_old or wire.has_unread):
                break
            connection.close()
        exchange.reused = wire.used
        if exchange.reused:
            self._take_again(exchange, connection)
        exchange.wire = wire
        wire.begin()
        connection.add_callback(wire.rest)
        return connection, wire

    def _take_again(self, exchange: Exchange, connection: Connection) -> None:
        """Counts a connection that was kept alive; it is closed when its address has as many requests as it may."""
        transport = connection.transport
        peer: object = transport.get_extra_info("peername") if transport is not None else None
        if isinstance(peer, tuple):
            try:
                self._shares.take(exchange, str(cast("tuple[object, ...]", peer)[0]))
            except ConnectionRefusedError:
                connection.close()
                raise
