"""Sends requests over aiohttp's connections, with checks of every address. `on_demand` loads it.

Pool, TLS and the parser of responses are aiohttp's. Its session is not used: it would double the cost of a request, and
nothing that it adds is wanted here (docs/architecture.md#requests-to-other-hosts).
"""

import asyncio
import functools
import ssl
from collections.abc import Mapping
from typing import Final
from weakref import WeakValueDictionary

import aiohttp
import msgspec
from yarl import URL

from pressroom.logs import Log
from pressroom.outbound.allowed_addresses import Policy
from pressroom.outbound.connections import Connector, Exchange, Resolver, Shares
from pressroom.outbound.explain import explained
from pressroom.outbound.heads import Method, request_head
from pressroom.outbound.lookups import LookUps, Resolve
from pressroom.outbound.response import Failure, OutboundFailed, OutboundResponse, UrlRefused
from pressroom.outbound.response_reader import ResponseReader
from pressroom.outbound.urls import Target

VET_SECONDS: Final = 5.0
READ_URLS: Final = 2_048
"""URLs whose reading is remembered."""

_HEADERS: Final = (
    "content-type",
    "content-encoding",
    "content-length",
    "location",
    "retry-after",
    "server",
    "x-service-retry-soon",
)


class Destination(msgspec.Struct, frozen=True):
    """The parts of a URL, read once for all requests to it.

    key: its key in aiohttp's pool, with the peer's address. path, host: as they are sent.
    """

    target: Target
    key: aiohttp.ClientRequest
    path: str
    host: str


class HttpClient:
    """Sends requests to public addresses, by the contract of `OutboundClient`."""

    def __init__(
        self,
        policy: Policy,
        *,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        log: Log | None = None,
        each_address: int | None = None,
    ) -> None:
        self._policy = policy
        self._log = log
        # An account that adds addresses whose names hang must not delay requests of others.
        self._look_ups, self._vetting = LookUps(), LookUps()
        self._resolver = Resolver(policy, resolve or self._look_ups)
        self._vetter = Resolver(policy, resolve or self._vetting)
        self._lock_of: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tls = tls or _verifying()
        self._shares = Shares(each_address)
        self._connector: Connector | None = None
        self._closed = False
        self._read = functools.lru_cache(READ_URLS)(self._read_afresh)

    async def vet(self, url: str, asker: str = "") -> None:
        """Checks whether a request to `url` would be sent. Raises UrlRefused."""
        target = self._read(url).target
        # `read` has checked it already.
        if target.address is not None:
            return
        try:
            # A look-up that hangs keeps its thread. One at a time for each account, so that none takes all threads.
            async with asyncio.timeout(VET_SECONDS), self._lock_of.setdefault(asker, asyncio.Lock()):
                await self._vetter.vetted(target.host, target.port)
        except TimeoutError:
            raise UrlRefused(self._policy.unresolved(target.host, VET_SECONDS).message) from None
        except OutboundFailed as failed:
            raise UrlRefused(failed.message) from None

    async def request(
        self,
        method: Method,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        seconds: float,
        read: int,
        keep: int,
    ) -> OutboundResponse:
        """Sends one request and returns the response, like `OutboundClient.request`. Raises OutboundFailed."""
        exchange = Exchange(fresh=False)
        try:
            to = self._read(url)
            # Over both tries: a peer that closes late must not get twice the time.
            async with asyncio.timeout(seconds):
                try:
                    return await self._exchange(exchange, method, to, headers, body, read, keep)
                except (aiohttp.ClientConnectionError, ConnectionError):
                    # Some of the response came: the peer has acted on the request, and would act twice.
                    if not exchange.stale:
                        raise
                # The server closed an idle connection at that moment: nothing was acted on, so one new connection is
                # tried.
                self._shares.give_back(exchange)
                exchange = Exchange(fresh=True)
                return await self._exchange(exchange, method, to, headers, body, read, keep)
        except UrlRefused as refused:
            raise OutboundFailed(Failure.REFUSED_ADDRESS, refused.message) from None
        except TimeoutError:
            raise OutboundFailed(Failure.TIMEOUT, f"No complete answer within {seconds:g} seconds.") from None
        except Exception as error:
            raise self._failure(error, exchange) from error
        finally:
            self._shares.give_back(exchange)

    async def close(self) -> None:
        """Closes every connection; requests that are under way fail."""
        self._closed = True
        self._look_ups.close()
        self._vetting.close()
        if self._connector is not None:
            await self._connector.close()

    async def _exchange(
        self,
        exchange: Exchange,
        method: Method,
        to: Destination,
        headers: Mapping[str, str],
        body: bytes | None,
        read: int,
        keep: int,
    ) -> OutboundResponse:
        head = request_head(method, to.path, to.host, headers, None if body is None else len(body))
        # Opened at the first request: it needs the running loop.
        connector = self._connector or self._open()
        connection, wire = await connector.take(exchange, to.key)
        reader = ResponseReader(read, min(keep, read))
        try:
            await wire.ask(head + (body or b""), reader)
        except BaseException:
            wire.abort()  # A close would wait until the peer has taken all that is still to be sent.
            connection.close()
            raise
        connection.release()
        return OutboundResponse(reader.status, reader.headers(_HEADERS), bytes(reader.body), reader.complete)

    def _open(self) -> Connector:
        if self._closed:
            raise OutboundFailed(Failure.OURS, "This server is stopping.")
        self._connector = Connector(self._policy, self._resolver, self._tls, self._shares)
        return self._connector

    def _read_afresh(self, url: str) -> Destination:
        target = self._policy.read(url)
        host = f"[{target.host}]" if ":" in target.host else target.host
        built = URL.build(
            scheme=target.scheme,
            authority=f"{host}:{target.port}",
            path=target.path,
            query_string=target.query,
            encoded=True,
        )
        # aiohttp connects by its own parser's reading. Where that differs from the checked one, the check was for
        # another host.
        if (built.scheme, built.raw_host, built.port) != (target.scheme, target.host, target.port):
            raise UrlRefused("The URL can be read in two ways.")
        key = aiohttp.ClientRequest("GET", built, loop=asyncio.get_running_loop())
        return Destination(target, key, built.raw_path_qs, built.host_port_subcomponent or host)

    def _failure(self, error: Exception, exchange: Exchange) -> OutboundFailed:
        if exchange.busy:
            return OutboundFailed(Failure.BUSY, "Too many requests are under way to this host's address.")
        if exchange.refusal is not None:
            return exchange.refusal
        if self._closed:
            return OutboundFailed(Failure.OURS, "This server is stopping.")
        failed = explained(error, heard=exchange.wire is not None and exchange.wire.heard > 0)
        if failed is None:
            if self._log is not None:
                self._log.recurring("outbound request broke", error)
            return OutboundFailed(Failure.OURS, "The request could not be carried out.")
        return failed


@functools.cache
def _verifying() -> ssl.SSLContext:
    context = ssl.create_default_context()
    # aiohttp reads nothing else: a host that speaks only HTTP/2 fails at the handshake, not at its first bytes.
    context.set_alpn_protocols(["http/1.1"])
    return context
