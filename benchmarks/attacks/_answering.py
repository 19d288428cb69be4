"""A server whose answers are bytes as they are to go out, for attacks by other hosts."""

import asyncio
import contextlib
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def answering(port: int, answer: Callable[[bytes, bytes], bytes], seconds: float = 0.0) -> AsyncGenerator[None]:
    """Listens on loopback while the context lasts.

    Args:
        port: The port to listen on.
        answer: Returns the answer to a request with this path and body.
        seconds: Time from the request to its answer.
    """

    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
                body = await reader.readexactly(int(length or 0))
                await asyncio.sleep(seconds)
                writer.write(answer(head.split(b" ", 2)[1], body))
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=1024)
    try:
        yield
    finally:
        server.close()
