"""A thousand connections ask for a large picture and read nothing of it; each begins anew after a while."""

import asyncio
import random
import socket
import struct
import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import ClassVar, Final
from urllib.parse import urlsplit

from aiohttp import ClientSession, FormData

from benchmarks.attacks import Attack, Measure, Stage, get, sign_up, usual

CONNECTIONS: Final = 1_000
ADDRESSES: Final = 4
HOLDING: Final = 20.0
"""Seconds until a connection is closed and opened anew."""

SIDE: Final = 2_048
PROCESSING: Final = 600
"""How often, at most, it is looked whether a file is there."""


class StalledReaders(Attack):
    """The response to a reader who does not read stays in memory, unless something bounds it."""

    name = "readers that stall"
    settings: ClassVar[dict[str, object]] = {"TRUSTED_PROXIES": "127.0.0.1/32"}

    async def prepare(self, stage: Stage, http: ClientSession) -> None:
        session = await sign_up(http, stage, "painter")
        stage.notes["picture"] = await upload_picture(stage, http, session)

    async def run(self, stage: Stage, http: ClientSession) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(CONNECTIONS):
                group.create_task(_stall(stage, f"203.0.113.{number % ADDRESSES + 1}"))

    @asynccontextmanager
    async def strangers(self, stage: Stage, http: ClientSession) -> AsyncGenerator[dict[str, Measure]]:
        yield usual(stage, http) | {"the same picture, whole": lambda: get(http, stage.url(stage.notes["picture"]))}


async def upload_picture(stage: Stage, http: ClientSession, session: dict[str, str]) -> str:
    """Publishes a large picture and waits until it is served; its path."""
    form = FormData()
    form.add_field("media", _noise(), filename="noise.png", content_type="image/png")
    async with http.post(stage.url("/api/posts/upload"), data=form, headers=session) as answer:
        answer.raise_for_status()
        post = await answer.json()
    path = urlsplit(str(post["media"][0]["url"])).path
    await until_served(stage, http, path, session)
    return path


async def until_served(stage: Stage, http: ClientSession, path: str, session: dict[str, str]) -> None:
    """Waits until a job has made what stands at a path."""
    for _ in range(PROCESSING):
        async with http.get(stage.url(path), headers=session) as answer:
            if answer.status == 200:
                return
        await asyncio.sleep(0.1)
    raise RuntimeError(f"{path} was not made")


async def _stall(stage: Stage, client: str) -> None:
    loop = asyncio.get_running_loop()
    head = f"GET {stage.notes['picture']} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {client}\r\n\r\n".encode()
    while True:
        with socket.socket() as connection:
            connection.setblocking(False)
            try:
                await loop.sock_connect(connection, ("127.0.0.1", stage.port))
                await loop.sock_sendall(connection, head)
            except OSError:
                await asyncio.sleep(1)
                continue
            await asyncio.sleep(HOLDING * random.uniform(0.5, 1))


def _noise() -> bytes:
    """A PNG that no encoder makes small."""
    rows = b"".join(b"\0" + random.randbytes(SIDE * 3) for _ in range(SIDE))
    chunks = (
        (b"IHDR", struct.pack(">2I5B", SIDE, SIDE, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 0)),
        (b"IEND", b""),
    )
    made = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + made


ATTACK = StalledReaders
