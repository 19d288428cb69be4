"""Reads one response from the bytes of a connection, as they arrive, and finds its end. Does no I/O.

aiohttp's parser reads heads. Bodies are read here: that parser does not limit the cost of a body, nor tell how many of
the given bytes belong to the response (docs/architecture.md#requests-to-other-hosts).
"""

import re
from collections.abc import Callable
from typing import Final, cast

from aiohttp.http import HttpResponseParser, RawResponseMessage

from pressroom.outbound.response import Failure, OutboundFailed

HEAD_BYTES: Final = 65_536
"""Bytes of the head of a response, with those of interim responses."""

INTERIM: Final = 10
"""Interim responses (1xx) before a response; further ones break it off."""

FRAMING_BYTES: Final = 16_384
"""Bytes of framing, beyond twice those of the payload, after which a body is cut off. Interim responses, and the line
that begins a chunk, may have as many."""

CHUNKS: Final = 2_048
CHUNK_BYTES: Final = 512
"""After so many chunks a body is cut off unless they hold so many bytes each on average: a chunk costs as much time as
some kilobytes do in a large one. The part of a body that a delivery keeps fits even in chunks of one byte."""

_NO_BODY: Final = frozenset({204, 304})
_HEAD_END: Final = re.compile(rb"\n\r?\n")
_LINE_END: Final = re.compile(rb"\r?\n")
_FIRST_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\n]*)?\r?\n")
_SIZE: Final = re.compile(rb"\r?\n([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\n]*)?\r?\n")
"""The line that begins a chunk, with the line end behind the chunk before."""

_TINY: Final = {
    b"\r\n" + digits.encode(): length
    for length in range(1, 256)
    for digits in {f"{length:x}", f"{length:X}", f"{length:02x}", f"{length:02X}"}
}
"""Lengths of tiny chunks by how they begin, up to the line end."""

_TOGETHER: Final = 64
"""Tiny chunks that are read before the limits are looked at again."""

_PROTOCOL: Final = b"HTTP/"

Parser = Callable[..., HttpResponseParser]


class ResponseReader:
    """Reads one response.

    Args:
        read: Bytes of the body that are read at most; then it is cut off.
        keep: Bytes of the body that are kept in `body`.

    Attributes:
        head: Status and headers, once they have come.
        ended: Nothing more is to be read: the response is complete, or it was cut off.
        complete: It came whole, to the end of its framing or of the connection.
        framing: Bytes of the body that are no payload: sizes and extensions of chunks, trailers.
        chunks: Chunks that were begun.
    """

    def __init__(self, read: int, keep: int) -> None:
        self.head: RawResponseMessage | None = None
        self.body = bytearray()
        self.ended = self.complete = False
        self.framing = self.chunks = 0
        self._read = read
        self._keep = keep
        self._held: bytes = b""
        self._left_over = False
        self._head_bytes = 0
        self._interim = 0
        self._payload = 0
        self._left: int | None = 0
        """Bytes of the body, or of the chunk, that are still to come; None: up to the end of the connection."""

        self._step: Callable[[bytes, int], int] = self._read_head

    @property
    def leaves_nothing(self) -> bool:
        """Whether another request may follow on the connection: the response is complete and nothing came behind it."""
        return self.complete and not self._left_over and not self._message().should_close

    @property
    def status(self) -> int:
        """The status of a response that has ended."""
        return self._message().code

    def headers(self, names: tuple[str, ...]) -> dict[str, str]:
        """Returns the headers of these names, in lower case, of a response that has ended."""
        found = self._message().headers
        return {name: _clean(found[name]) for name in names if name in found}

    def feed(self, data: bytes) -> bool:
        """Reads further bytes and returns `ended`. Bytes behind the end are not looked at.

        Raises OutboundFailed (PROTOCOL) or aiohttp's HttpProcessingError for bytes that are no HTTP response, or that
        never end.
        """
        if self._held:
            data, self._held = self._held + data, b""
        at = 0
        while at < len(data) and not self.ended:
            after = self._step(data, at)
            if after == at:  # More is needed to go on.
                self._held = data[at:]
                break
            at = after
        # Bytes behind the end would be taken for the answer to the next request, perhaps of another account.
        self._left_over = self.ended and at < len(data)
        return self.ended

    def end_of_input(self) -> bool:
        """Notes that the connection has ended, which may be the end of a body; returns whether it is one."""
        if self.head is not None and self._left is None and not self.ended:
            self._end(complete=True)
        return self.ended

    def _read_head(self, data: bytes, at: int) -> int:
        found = _HEAD_END.search(data, at)
        length = (len(data) if found is None else found.end()) - at
        # Interim responses count too: a peer could send them for ever.
        if self._head_bytes + length > HEAD_BYTES:
            raise _endless()
        if found is None:
            # At once for a host that speaks another protocol, as a mail server does: it may never send the end of a
            # head.
            if not data.startswith(_PROTOCOL[:length], at):
                raise OutboundFailed(Failure.PROTOCOL, "The answer is not HTTP, or its head is too long.")
            return at
        self._head_bytes += length
        message = _parsed(data[at : found.end()])
        # No request asks for an upgrade. What follows would be no HTTP.
        if message.code == 101:
            raise OutboundFailed(Failure.PROTOCOL, "The answer switches to another protocol.")
        if message.code < 200:
            self._interim += 1
            if self._interim > INTERIM or self._head_bytes > FRAMING_BYTES:
                raise _endless()
        else:
            self.head = message
            self._begin_body(message)
        return found.end()

    def _begin_body(self, head: RawResponseMessage) -> None:
        if head.code in _NO_BODY:
            self._end(complete=True)
        elif head.chunked:
            self._step = self._read_chunks
        else:
            # With both, the length is not to be trusted (RFC 9112, 6.3): two readers would find two ends.
            delimited = "Transfer-Encoding" not in head.headers and "Content-Length" in head.headers
            self._left = int(head.headers["Content-Length"]) if delimited else None
            self._step = self._read_plain
            if self._left == 0:
                self._end(complete=True)

    def _read_plain(self, data: bytes, at: int) -> int:
        after = self._take(data, at)
        if self._left == 0:
            self._end(complete=True)
        elif self._payload >= self._read:
            self._end(complete=False)
        return after

    def _read_chunks(self, data: bytes, at: int) -> int:
        while True:
            if self._left:
                at = self._take(data, at)
                if self._payload >= self._read:
                    self._end(complete=False)
                if self._left or self.ended:
                    return at
            if self.chunks:
                at = self._read_tiny_chunks(data, at)
            size = (_SIZE if self.chunks else _FIRST_SIZE).match(data, at)
            if size is None:
                return self._incomplete_size(data, at)
            self.framing += size.end() - at
            at = size.end()
            if self._is_wasteful():
                self._end(complete=False)
                return at
            self.chunks += 1
            self._left = int(size[1], 16)
            if not self._left:
                self._step = self._read_trailers
                return at

    def _read_tiny_chunks(self, data: bytes, at: int) -> int:
        """Reads tiny chunks that are there to their ends, in a third of the time; returns where it stopped."""
        find, length_of, size = data.find, _TINY.get, len(data)
        # Only as long as a whole round stays within the limits: then they need not be looked at for each chunk.
        while self._payload + 256 * _TOGETHER <= self._read and not self._is_wasteful():
            body = self.body if self._payload < self._keep else bytearray()
            began, before, count = at, len(body), 0
            most = min(_TOGETHER, CHUNKS - self.chunks) if self.chunks < CHUNKS else _TOGETHER
            while count < most and (line_end := find(b"\r\n", at + 2, at + 6)) > 0:
                end = line_end + 2 + length_of(data[at:line_end], size)
                if end > size:
                    break
                body += data[line_end + 2 : end]
                at, count = end, count + 1
            payload = len(body) - before
            del self.body[self._keep :]
            self.chunks += count
            self._payload += payload
            self.framing += at - began - payload
            if count < _TOGETHER:
                break
        return at

    def _is_wasteful(self) -> bool:
        # Chunks and framing cost time of the event loop, however little payload they bring. To cut a body off is no
        # failure: the status is known, and of a page the beginning is enough.
        few = self.chunks >= CHUNKS and self._payload < CHUNK_BYTES * self.chunks
        return few or self.framing > 2 * self._payload + FRAMING_BYTES

    def _incomplete_size(self, data: bytes, at: int) -> int:
        """Waits for the rest of the line that begins a chunk. Raises OutboundFailed when it can be none any more."""
        if len(data) - at > FRAMING_BYTES:
            raise _endless()
        if data.count(b"\n", at) > (1 if self.chunks else 0):
            raise OutboundFailed(Failure.PROTOCOL, "The answer is not HTTP: its chunks are no chunks.")
        return at

    def _read_trailers(self, data: bytes, at: int) -> int:
        """Skips the trailers, up to an empty line."""
        end = _LINE_END.match(data, at) or _HEAD_END.search(data, at)
        waiting = (len(data) if end is None else end.end()) - at
        if self.framing + waiting > 2 * self._payload + FRAMING_BYTES or waiting > HEAD_BYTES:
            self._end(complete=False)
        elif end is not None:
            self._end(complete=True)
        return at if end is None else end.end()

    def _take(self, data: bytes, at: int) -> int:
        """Takes payload from `at`; returns where it ends."""
        number = min(len(data) - at, self._read - self._payload)
        if self._left is not None:
            number = min(number, self._left)
            self._left -= number
        if self._payload < self._keep:
            self.body += data[at : at + min(number, self._keep - self._payload)]
        self._payload += number
        return at + number

    def _message(self) -> RawResponseMessage:
        if self.head is None:
            raise RuntimeError("The response has not begun.")
        return self.head

    def _end(self, *, complete: bool) -> None:
        self.ended, self.complete = True, complete


def _clean(value: str) -> str:
    """Returns a header's value without lone surrogates: aiohttp makes them of bytes that are not UTF-8, and no database
    can store them."""
    return value if value.isascii() else value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _parsed(head: bytes) -> RawResponseMessage:
    """Reads a whole head. Raises HttpProcessingError."""
    parser = cast("Parser", HttpResponseParser)(
        None, None, 0, response_with_body=False, read_until_eof=True, auto_decompress=False
    )
    messages, _, _ = parser.feed_data(head)
    return messages[0][0]


def _endless() -> OutboundFailed:
    return OutboundFailed(Failure.PROTOCOL, "The answer goes on without an end.")
