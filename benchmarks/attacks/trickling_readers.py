"""Two hundred connections ask for a dense page, its feed, a picture and an export, and read a byte a second."""

import asyncio
import itertools
import socket
from typing import ClassVar, Final

from aiohttp import ClientSession

from benchmarks.attacks import Attack, Stage, call, make_key, publish, sign_up
from benchmarks.attacks.stalled_readers import until_served, upload_picture

CONNECTIONS: Final = 200
ADDRESSES: Final = 4
POSTS: Final = 20
EXPORT: Final = "/api/auth/export/file"
TEXT: Final = ("<&>\"'" * 1_000)[:5_000]
BYTES: Final = 40
"""Bytes that are read of a response: by then the server has cut off a reader that its kernel sees take nothing."""

BUFFER: Final = 4_096
"""Bytes that the attacker's kernel takes unread; the rest stays with the server."""


class TricklingReaders(Attack):
    """Readers that take something are not cut off for being slow, but for so little no window opens."""

    name = "readers of a byte a second"
    settings: ClassVar[dict[str, object]] = {"TRUSTED_PROXIES": "127.0.0.1/32"}

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        stage.notes["session"] = session = await sign_up(http, stage, "verbose")
        _, key = await make_key(http, stage, session)
        for _ in range(POSTS):
            await publish(http, stage, key, TEXT)
        picture = await upload_picture(stage, http, session)
        await call(http, stage, "/api/auth/export", None, session)
        await until_served(stage, http, EXPORT, session)
        stage.notes["paths"] = ["/@verbose", "/@verbose/feed.atom", picture, EXPORT]

    async def run(self, stage: Stage, http: ClientSession) -> None:
        paths = itertools.cycle(stage.notes["paths"])
        async with asyncio.TaskGroup() as group:
            for number in range(CONNECTIONS):
                group.create_task(_trickle(stage, next(paths), f"203.0.113.{number % ADDRESSES + 1}"))


async def _trickle(stage: Stage, path: str, client: str) -> None:
    """Asks for a path, reads a byte a second, and asks anew after a while."""
    loop = asyncio.get_running_loop()
    cookie = stage.notes["session"]["Cookie"]
    head = f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {client}\r\nCookie: {cookie}\r\n\r\n".encode()
    while True:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
            connection.setblocking(False)
            try:
                await loop.sock_connect(connection, ("127.0.0.1", stage.port))
                await loop.sock_sendall(connection, head)
                for _ in range(BYTES):
                    await loop.sock_recv(connection, 1)
                    await asyncio.sleep(1)
            except OSError:
                await asyncio.sleep(1)


ATTACK = TricklingReaders
