"""The behaviours of a test's webhook receiver with a request, good and bad."""

import asyncio
import functools
import struct
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, Protocol

MEGABYTE: Final = 1 << 20
PIECE: Final = 256 * 1024
"""Bytes that an endless answer is written in."""

ZEROES: Final = 16 * MEGABYTE
"""Bytes that one piece of a gzip bomb expands to."""


class Exchange(Protocol):
    """One request's connection, as a behaviour sees it."""

    def write(self, data: bytes) -> None:
        """Puts bytes on the wire."""

    async def drained(self) -> None:
        """Waits until the client has taken most of the written bytes."""

    def finish(self, data: bytes = b"") -> None:
        """Writes the last of an answer; the connection is kept for the next request.

        The request counts as answered before the client can have read it all.
        """

    def hold(self, answer: bytes) -> None:
        """Answers when the test releases the path."""

    def close(self) -> None:
        """Closes the connection after the written bytes."""

    def reset(self) -> None:
        """Drops the connection with a TCP reset."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What happens to a request; `act` returns at once or is awaited until the connection ends."""

    act: Callable[[Exchange], Awaitable[None] | None]
    reads_body: bool = True


def encoded(status: int, headers: Mapping[str, str] | None = None, body: bytes = b"") -> bytes:
    """A whole answer; its length is stated unless `headers` say how it is framed."""
    own = dict(headers or {})
    if not {"content-length", "transfer-encoding"} & {name.lower() for name in own}:
        own["Content-Length"] = str(len(body))
    lines = [f"HTTP/1.1 {status} {_reason(status)}", *(f"{name}: {value}" for name, value in own.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def answer(status: int = 200, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Behaviour:
    """Answers at once."""
    data = encoded(status, headers, body)

    return Behaviour(lambda exchange: exchange.finish(data))


def redirect(to: str, status: int = 302) -> Behaviour:
    """Sends the client elsewhere."""
    return answer(status, {"Location": to})


def hold(status: int = 200, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Behaviour:
    """Answers only when `Receiver.release` is called."""
    data = encoded(status, headers, body)
    return Behaviour(lambda exchange: exchange.hold(data))


def never() -> Behaviour:
    """Takes the request and never answers."""
    return Behaviour(lambda _: None)


def close() -> Behaviour:
    """Reads the whole request and closes without an answer."""
    return Behaviour(lambda exchange: exchange.close())


def close_at_once() -> Behaviour:
    """Closes as soon as the head names the path; the body is not waited for.

    To close before a single byte is read, set `Receiver.hangs_up`.
    """
    return Behaviour(lambda exchange: exchange.close(), reads_body=False)


def reset() -> Behaviour:
    """Reads the whole request and drops the connection with a TCP reset."""
    return Behaviour(lambda exchange: exchange.reset())


def malformed(data: bytes = b"SSH-2.0-This_is_no_HTTP\r\n") -> Behaviour:
    """Answers with bytes that are no HTTP, and closes."""

    def act(exchange: Exchange) -> None:
        exchange.write(data)
        exchange.close()

    return Behaviour(act)


def drip(status: int = 200, body: bytes = b"x" * 1000, every: float = 1.0) -> Behaviour:
    """Sends an answer one byte at a time, with so many seconds between any two."""
    data = encoded(status, body=body)

    async def act(exchange: Exchange) -> None:
        for position in range(len(data) - 1):
            exchange.write(data[position : position + 1])
            await asyncio.sleep(every)
        exchange.finish(data[-1:])

    return Behaviour(act)


def endless(size: int = 1_000_000_000, *, chunked: bool = False, status: int = 200) -> Behaviour:
    """Answers with a body of `size` bytes, as fast as the client takes them."""
    framing = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(size)}

    async def act(exchange: Exchange) -> None:
        exchange.write(encoded(status, framing))
        left = size
        while left:
            piece = b"x" * min(PIECE, left)
            left -= len(piece)
            exchange.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            await exchange.drained()
        exchange.finish(b"0\r\n\r\n" if chunked else b"")

    return Behaviour(act)


def gzip_bomb(expands_to: int = 2048 * MEGABYTE, status: int = 200) -> Behaviour:
    """Answers with a thousandth of `expands_to` bytes of gzip, asked for or not; rounded to 16 MiB."""
    return answer(status, {"Content-Encoding": "gzip"}, zeroes_in_gzip(max(1, expands_to // ZEROES)))


@functools.cache
def zeroes_in_gzip(pieces: int) -> bytes:
    """A valid gzip stream of one member. A flushed piece of it can be repeated, which spares compressing gigabytes."""
    zeroes, deflate = bytes(ZEROES), zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = deflate.compress(zeroes) + deflate.flush(zlib.Z_FULL_FLUSH)
    checksum = 0
    for _ in range(pieces):
        checksum = zlib.crc32(zeroes, checksum)
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return head + piece * pieces + deflate.flush() + struct.pack("<II", checksum, pieces * ZEROES % 2**32)


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unheard of"
