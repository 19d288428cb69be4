"""The body of a request as it arrives: read whole within a bound, piece by piece, or drained."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from pressroom.errors import Code, FieldError, Invalid
from pressroom.web.asgi import Receive
from pressroom.web.problems import PayloadTooLarge

DRAIN_LIMIT: Final = 64 * 1024 * 1024
DRAIN_SECONDS: Final = 5.0


class IncomingBody:
    """The request's body as it arrives."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.unread = True

    async def read(self, limit: int) -> bytes:
        """The whole body. Raises PayloadTooLarge past `limit` bytes, Invalid when it is cut off."""
        chunks: list[bytes] = []
        size = 0
        while self.unread:
            chunk = await self._chunk()
            size += len(chunk)
            if size > limit:
                raise PayloadTooLarge(f"A JSON body has at most {limit:,} bytes.")
            chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body piece by piece. Raises Invalid when it is cut off."""
        while self.unread:
            yield await self._chunk()

    async def drain(self) -> None:
        """Reads on for a while after an early answer, so that a client that is still sending gets to see it."""
        size = 0
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                while self.unread and size < DRAIN_LIMIT:
                    size += len(await self._chunk())
        except (TimeoutError, Invalid):
            return

    async def _chunk(self) -> bytes:
        message = await self._receive()
        if message.get("type") != "http.request":
            self.unread = False
            # Either the client hung up, or what it sent is no HTTP body; then it may still read the answer.
            raise Invalid(
                [FieldError("body", Code.INVALID_FORMAT, "The body ends before its time or is badly chunked.")]
            )
        self.unread = message.get("more_body", False)
        return message.get("body", b"")
