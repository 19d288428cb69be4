"""Sends responses to clients that may read slowly, or not at all (docs/limits.md#slow-readers).

A large response goes out in small pieces, each as soon as the one before has been taken. How many bytes such responses
hold at once is limited, in all and for one address. The kernel ends connections that take nothing (`web.server`).
"""

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import AsyncIterator
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

from pressroom.web.asgi import HeaderList, Receive, Send
from pressroom.web.client_address import network_of
from pressroom.web.request import Request
from pressroom.web.response import EndlessBody, Response

PIECE: Final = 16 * 1024
"""Bytes that are passed to the server at once; it holds a few pieces of each connection."""

LARGE: Final = 64 * 1024
"""Bytes above which a response counts against the budget; the server holds smaller ones whole."""

STREAM: Final = 256 * 1024
"""Bytes that a stream holds while it is sent: pieces read ahead, and the server's buffers."""

SHARE: Final = 8
"""One address may use an eighth of the budget."""

RETRY_SECONDS: Final = 5


class SendBudget:
    """The bytes that large responses under way may hold: `most` in all, an eighth of them for one address."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0
        self._by_network: Counter[str] = Counter()

    def take(self, client: str, size: int) -> bool:
        """Takes `size` bytes for a response to `client`. Returns False when too little is left, in all or for it."""
        network = network_of(client)
        held = self._by_network.get(network, 0)
        # One response always passes, however large: it has been made already.
        if (self._held and self._held + size > self._most) or (held and held + size > self._most // SHARE):
            return False
        self._held += size
        self._by_network[network] = held + size
        return True

    def give_back(self, client: str, size: int) -> None:
        """Gives back `size` bytes that were taken."""
        if not size:
            return
        network = network_of(client)
        self._held -= size
        self._by_network[network] -= size
        # Otherwise every address that ever read something large would stay here.
        if not self._by_network[network]:
            del self._by_network[network]


def held_bytes(response: Response, *, head: bool) -> int:
    """Returns the bytes that a response takes from the budget while it is sent; 0 for a small one."""
    if head:
        return 0
    if response.stream is not None:
        return STREAM if response.length > LARGE else 0
    return len(response.body) if len(response.body) > LARGE else 0


def is_small(response: Response) -> bool:
    """Returns whether a response goes out whole, as one piece that counts against no budget."""
    return response.stream is None and response.endless is None and len(response.body) <= LARGE


async def send_small(send: Send, response: Response, more_headers: HeaderList, *, head: bool) -> None:
    """Sends a response that `is_small`; to a HEAD request its headers alone."""
    await send({"type": "http.response.start", "status": response.status, "headers": head_of(response, more_headers)})
    await send({"type": "http.response.body", "body": b"" if head else response.body, "more_body": False})


def head_of(response: Response, more_headers: HeaderList) -> HeaderList:
    """Returns all headers of a response."""
    headers = [(b"content-type", response.content_type), *more_headers, *response.headers]
    if response.endless is None and response.status not in (
        204,
        304,
    ):  # 204 must not have it; with 304 it would be that of the 200 (RFC 9110, 8.6).
        headers.append((b"content-length", b"%d" % _length(response)))
    return headers


def _length(response: Response) -> int:
    return response.length if response.stream is not None else len(response.body)


async def send_response(
    send: Send, response: Response, more_headers: HeaderList, *, head: bool, receive: Receive | None
) -> None:
    """Sends a response; to a HEAD request its headers alone. Ends early when the client hangs up.

    Args:
        send: Takes the messages.
        response: What to send.
        more_headers: Headers on top of those of the response.
        head: Whether the request is a HEAD.
        receive: Reports that the client hung up; None while more of the request's body may come.
    """
    if is_small(response):
        await send_small(send, response, more_headers, head=head)
        return
    await send({"type": "http.response.start", "status": response.status, "headers": head_of(response, more_headers)})
    if not head and _length(response) > LARGE:
        await _send_pieces(send, response.stream or _pieces(response.body), receive)
        return
    body = b""
    if response.stream is not None and not head:
        body = b"".join([piece async for piece in response.stream])
    await send({"type": "http.response.body", "body": body, "more_body": False})


async def _send_pieces(send: Send, pieces: AsyncIterator[bytes], receive: Receive | None) -> None:
    gone = asyncio.ensure_future(_hung_up(receive)) if receive is not None else None
    try:
        async for piece in pieces:
            for at in range(0, len(piece), PIECE):
                # The server takes bytes for a client that is gone without an error; without this the whole stream would
                # be read for nobody.
                if gone is not None and gone.done():
                    return
                await send({"type": "http.response.body", "body": piece[at : at + PIECE], "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        if gone is not None:
            gone.cancel()


async def send_endless(send: Send, headers: HeaderList, body: EndlessBody, receive: Receive, seconds: float) -> None:
    """Sends an endless body piece by piece, until it ends, is cut off, or the client hangs up.

    It also ends when the client takes nothing of a piece for `seconds`: it must hold no memory for a reader who stalls.
    """
    loop = asyncio.get_running_loop()
    gone = asyncio.ensure_future(_hung_up(receive))
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None) as limit:

                def cut_off(seconds: float) -> None:
                    with contextlib.suppress(RuntimeError):  # It has ended in this very moment.
                        limit.reschedule(loop.time() + seconds)

                body.cut_off = cut_off
                gone.add_done_callback(lambda _: cut_off(0))
                await send({"type": "http.response.start", "status": 200, "headers": headers})
                del headers
                async for piece in body:
                    for at in range(0, len(piece), PIECE):
                        async with asyncio.timeout(seconds):
                            await send(
                                {"type": "http.response.body", "body": piece[at : at + PIECE], "more_body": True}
                            )
                await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        gone.cancel()
        body.cut_off = None


async def _hung_up(receive: Receive) -> None:
    """Returns when the client has hung up."""
    while (await receive()).get("type") != "http.disconnect":
        pass


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    yield body


C = TypeVar("C")

_PLACE: Final = re.compile(r"{(\w+)}")


_MADE: Final = "{made}"


class _Made(msgspec.Struct):
    """The field that the response to every creation has."""

    id: str


_decoder = msgspec.json.Decoder(_Made)


def location_of(template: str, request: Request[C], response: Response) -> tuple[bytes, bytes]:
    """Returns the header Location.

    Args:
        template: A path in which `{made}` stands for the id in the response, other names for the request's parameters.
        request: The request.
        response: The response to it: a 201, or the replay of one.
    """
    made = _decoder.decode(response.body).id
    if request.parameters:
        known = {**request.parameters, "made": made}
        path = _PLACE.sub(lambda place: quote(known[place[1]], safe=""), template)
    else:
        path = template.replace(_MADE, quote(made, safe=""))
    return b"location", (request.settings.base_url + path).encode()
