"""Sending answers to readers who may be slow, or never read at all (docs/limits.md#readers).

A large answer goes out in small pieces, each once the one before has been taken, and has a place: so many of them are
under way at once, in all and to one address. Who takes nothing for a while is cut off by the kernel (`web.server`).
"""

import asyncio
import ipaddress
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final

from pressroom.web.asgi import HeaderList, Receive, Send
from pressroom.web.response import Response

PIECE: Final = 16 * 1024
"""Bytes that are handed over at once: the server holds a few pieces of each connection."""

LARGE: Final = 64 * 1024
"""Bytes from which an answer needs a place; what is smaller the server holds whole."""

STREAM: Final = 256 * 1024
"""Bytes that sending a stream may hold: what was read ahead, and what the server's buffers take."""

SHARE: Final = 8
"""One address may have an eighth of the places."""

RETRY_SECONDS: Final = 5


class SendBudget:
    """The bytes that large responses under way may hold: `most` in all, an eighth of them for one address."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._by_network: Counter[str] = Counter()

    def take(self, client: str, size: int) -> bool:
        """Takes room for `size` bytes to the address `client`; False when there is none, in all or for it."""
        network = _network(client)
        held = self._by_network.get(network, 0)
        # One answer always passes, however large: it is there already.
        if (self._held and self._held + size > self._most) or (held and held + size > self._most // SHARE):
            return False
        self._held += size
        self._by_network[network] = held + size
        return True

    def give_back(self, client: str, size: int) -> None:
        """Gives back what was taken, if anything was."""
        if not size:
            return
        network = _network(client)
        self._held -= size
        self._by_network[network] -= size
        if not self._by_network[network]:
            del self._by_network[network]


def held_bytes(response: Response, *, head: bool) -> int:
    """Bytes that an answer holds while it is sent, so far as it needs a place."""
    if head:
        return 0
    if response.stream is not None:
        return STREAM if response.length > LARGE else 0
    return len(response.body) if len(response.body) > LARGE else 0


async def send_response(
    send: Send, response: Response, more_headers: HeaderList, *, head: bool, receive: Receive | None
) -> None:
    """Sends an answer; of one to HEAD the headers alone. Ends early when the client hangs up.

    `receive` tells that it did; None while the request's own body is still to come.
    """
    length = response.length if response.stream is not None else len(response.body)
    headers = [(b"content-type", response.content_type), *more_headers, *response.headers]
    if response.status != 304:  # Its length would be that of what it stands for (RFC 9110, 8.6).
        headers.append((b"content-length", b"%d" % length))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    if not head and length > LARGE:
        await _send_pieces(send, response.stream or _pieces(response.body), receive)
        return
    body = b"" if head else response.body
    if response.stream is not None and not head:
        body = b"".join([piece async for piece in response.stream])
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _send_pieces(send: Send, pieces: AsyncIterator[bytes], receive: Receive | None) -> None:
    gone = asyncio.ensure_future(_hung_up(receive)) if receive is not None else None
    try:
        async for piece in pieces:
            for at in range(0, len(piece), PIECE):
                if gone is not None and gone.done():
                    return
                await send({"type": "http.response.body", "body": piece[at : at + PIECE], "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        if gone is not None:
            gone.cancel()


async def _hung_up(receive: Receive) -> None:
    """Ends when the client is gone."""
    while (await receive()).get("type") != "http.disconnect":
        pass


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    yield body


def _network(client: str) -> str:
    """Whom a client's address stands for: itself, and for IPv6 its network of 64 bits, all of which one client has."""
    return str(ipaddress.ip_network((client, 64), strict=False)) if ":" in client else client
