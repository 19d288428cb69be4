"""The outbound client. Its HTTP library is loaded with the first request: a sixth of a server's memory at rest."""

import ssl
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from pressroom.logs import Log
from pressroom.outbound.allowed_addresses import Policy
from pressroom.outbound.heads import Method
from pressroom.outbound.lookups import Resolve
from pressroom.outbound.response import OutboundResponse
from pressroom.threads import MadeOnce

if TYPE_CHECKING:
    from pressroom.outbound.client import HttpClient


class OutboundClient:
    """Sends requests to public addresses. Belongs to one event loop, and is closed with `close`.

    resolve: looks names up; None: the system's resolver. tls: verifies hosts; None: by the system's authorities. log:
    gets lines about what should not happen. each_address: how many requests may be under way to one address.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        log: Log | None = None,
        each_address: int | None = None,
    ) -> None:
        self._loading = MadeOnce(partial(_load, policy, resolve, tls, log, each_address))
        self._loaded: HttpClient | None = None
        self._closed = False

    async def prepare(self) -> None:
        """Loads the HTTP client, once. It takes a second where the machine is slow, which a deadline of the
        caller's own must not include."""
        if self._loaded is None:
            await self._load()

    async def vet(self, url: str, asker: str = "") -> None:
        """Checks whether a request to `url` would be sent: its form, and every address that its host has now.

        Makes one look-up at a time for each `asker`, so that nobody takes all threads. Raises UrlRefused, also when the
        name does not resolve within five seconds.
        """
        await (self._loaded or await self._load()).vet(url, asker)

    async def request(
        self,
        method: Method,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        seconds: float = 10.0,
        read: int = 65_536,
        keep: int = 2_048,
    ) -> OutboundResponse:
        """Sends one request and returns the response; `seconds` is for everything from the look-up to the last byte.

        Redirects are not followed, bodies not decompressed. Of a body about `read` bytes are read at most, then the
        connection is closed, which is no failure; `keep` of them are returned. Raises OutboundFailed.

        A kept connection may have been closed by the peer just when it was taken. If it breaks before one byte of
        the response came, the request is sent once more, on a new connection, within the same deadline. A peer may get
        it twice that way, as it may get any webhook twice.
        """
        client = self._loaded or await self._load()
        return await client.request(method, url, headers, body, seconds=seconds, read=read, keep=keep)

    async def close(self) -> None:
        """Closes every connection; requests that are under way fail."""
        self._closed = True
        if self._loaded is not None:
            await self._loaded.close()

    async def _load(self) -> "HttpClient":
        client = self._loaded = await self._loading.get()
        if self._closed:
            await client.close()
        return client


def _load(
    policy: Policy, resolve: Resolve | None, tls: ssl.SSLContext | None, log: Log | None, each_address: int | None
) -> "HttpClient":
    from pressroom.outbound.client import HttpClient

    return HttpClient(policy, resolve=resolve, tls=tls, log=log, each_address=each_address)
