"""Uploads on their way: slow ones, ones that are cut off, too large ones, and many at once."""

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Connection, Reply
from tests.media.uploads import (
    BOUNDARY,
    MEBIBYTE,
    UPLOAD,
    blobs_below,
    file_part,
    files_below,
    form,
    form_headers,
    image,
    padded,
    text_part,
)
from tests.services.process import wait_until

SCOPES = ("media:write", "posts:write")
TABLES = ("posts", "media", "jobs", "events", "content_quotas", "idempotent_answers")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server process that says of each request what came of it, and has little patience."""
    settings = {**ROOMY, "ACCESS_LOG": 1, "UPLOAD_TIMEOUT_SECONDS": 8}
    server = ServerProcess(tmp_path_factory.mktemp("transit"), **settings).start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def key(server: ServerProcess) -> str:
    """A key that may upload."""
    return Owner(server).key(scopes=SCOPES)


def head(content: bytes, key: str, **more: str) -> bytes:
    """The head of an upload; a header given takes the place of ours, and an empty one leaves ours out."""
    own = {**form_headers(content, key), **{name.replace("_", "-"): value for name, value in more.items()}}
    lines = [f"POST {UPLOAD} HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in own.items() if value)]
    return "\r\n".join([*lines, "", ""]).encode()


async def send(server: ServerProcess, *pieces: bytes, pause: float = 0.0) -> Reply:
    """Sends pieces over a connection of their own; the answer."""
    connection = await Connection.open(server.port)
    try:
        for piece in pieces:
            connection.send(piece)
            await asyncio.sleep(pause)
        return await connection.reply()
    finally:
        connection.close()


def data_dir(server: ServerProcess) -> Path:
    return Path(str(server.settings["DATA_DIR"]))


def kept(server: ServerProcess) -> tuple[list[int], list[str]]:
    """Rows and files that uploads may add to."""
    counts = [int(rows(server, f"SELECT count(*) FROM {name}")[0][0]) for name in TABLES]  # noqa: S608  # our names
    return counts, files_below(data_dir(server))


def answered(server: ServerProcess) -> int:
    """How many uploads came to an end, by the server's log."""
    lines = (line for line in server.output().splitlines() if UPLOAD in line)
    return sum(json.loads(line).get("path") == UPLOAD for line in lines)


def settled(server: ServerProcess) -> bool:
    """Whether all that was published has been processed."""
    waiting = blobs_below(data_dir(server), "uploads/") or list(data_dir(server).glob("processing/*"))
    return rows(server, "SELECT count(*) FROM jobs") == [(0,)] and not waiting


def test_a_slow_upload_is_taken(server: ServerProcess, key: str) -> None:
    content = form([file_part(), text_part("content", "slow")])
    whole = head(content, key) + content
    pieces = [whole[at : at + 40] for at in range(0, len(whole), 40)]

    reply = asyncio.run(send(server, *pieces, pause=0.01))

    assert reply.status == 201, reply


def test_an_upload_that_takes_too_long_is_refused_and_leaves_nothing(server: ServerProcess, key: str) -> None:
    assert wait_until(lambda: settled(server))
    before = kept(server)
    content = form([file_part(padded(MEBIBYTE)), file_part(padded(MEBIBYTE))])

    reply = asyncio.run(send(server, head(content, key), content[:-200_000]))

    assert (reply.status, reply.json()["error"]) == (408, "Request timeout")
    assert wait_until(lambda: kept(server) == before)


def test_uploads_that_are_cut_off_leave_nothing(server: ServerProcess, key: str) -> None:
    assert wait_until(lambda: settled(server))
    files = [file_part(padded(600_000)), file_part(image("PNG"), kind="image/png"), file_part(padded(300_000))]
    content = form([*files, text_part("content", "cut")])
    heads = head(content, key, Idempotency_Key="cut")
    points = sorted({0, 1, 30, 200, *range(1_000, len(content), 37_001), len(content) - 60, len(content) - 1})
    before, begun = kept(server), answered(server)

    for number, point in enumerate(points):
        cut(server, heads + content[:point], politely=number % 2 == 0)

    # The server may never hear of a dropped connection: the unread rest is thrown away.
    assert wait_until(lambda: answered(server) >= begun + (len(points) + 1) // 2)
    assert wait_until(lambda: kept(server) == before)
    assert asyncio.run(send(server, heads + content)).status == 201


def cut(server: ServerProcess, data: bytes, *, politely: bool) -> None:
    """Sends a part of a request and hangs up: closes the connection, or drops it."""
    with socket.create_connection(("127.0.0.1", server.port), 20) as wire:
        wire.sendall(data)
        # The server must have begun to read, or it never hears of the request.
        with contextlib.suppress(TimeoutError):
            wire.settimeout(0.005)
            wire.recv(1)
        if not politely:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_a_body_that_is_too_large_is_refused_before_it_is_read(server: ServerProcess, key: str) -> None:
    assert wait_until(lambda: settled(server))
    before = kept(server)

    told = asyncio.run(send(server, head(b"", key, Content_Length=str(200 * MEBIBYTE))))
    untold = asyncio.run(send_without_end(server, key))

    for reply in (told, untold):
        assert (reply.status, reply.json()["error"]) == (413, "Payload too large")
    assert wait_until(lambda: kept(server) == before)


async def send_without_end(server: ServerProcess, key: str) -> Reply:
    """Sends a file in chunks until the server answers; gives up after 200 MiB."""
    connection = await Connection.open(server.port)
    beginning = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="media"; filename="a"\r\n\r\n'.encode()
    chunk = b"%x\r\n%b\r\n" % (MEBIBYTE, bytes(MEBIBYTE))
    answering = asyncio.ensure_future(connection.reply())
    try:
        connection.send(head(b"", key, Content_Length="", Transfer_Encoding="chunked"))
        connection.send(b"%x\r\n%b\r\n" % (len(beginning), beginning))
        for _ in range(200):
            if answering.done():
                break
            connection.send(chunk)
            await connection._writer.drain()
        return await answering
    finally:
        answering.cancel()
        connection.close()


class Watch:
    """Looks at a server's memory and at its folder of what comes in, until it ends."""

    def __init__(self, server: ServerProcess) -> None:
        self._process = psutil.Process(server.pid)
        self._incoming = data_dir(server) / "incoming"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.before = self._process.memory_info().rss
        self.memory = self.disk = 0

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def growth(self) -> int:
        """Bytes by which the server grew, at the most."""
        return self.memory - self.before

    def _look(self) -> None:
        while not self._over.wait(0.005):
            self.memory = max(self.memory, self._process.memory_info().rss)
            size = 0
            for path in self._incoming.glob("*"):
                with contextlib.suppress(FileNotFoundError):
                    size += path.stat().st_size
            self.disk = max(self.disk, size)


def test_four_large_files_are_not_held_in_memory(server: ServerProcess, key: str) -> None:
    content = form([file_part(padded(8 * MEBIBYTE))] * 4)
    asyncio.run(send(server, head(form([file_part()]), key) + form([file_part()])))
    assert wait_until(lambda: settled(server))

    with Watch(server) as watch:
        reply = asyncio.run(send(server, head(content, key) + content))
        assert wait_until(lambda: settled(server))

    assert reply.status == 201
    assert watch.growth < 40 * MEBIBYTE
    assert watch.disk <= 32 * MEBIBYTE
    assert list((data_dir(server) / "incoming").iterdir()) == []


def test_twenty_uploads_at_once_stay_within_bounds(process_server: Callable[..., ServerProcess]) -> None:
    # Patient enough for one of them on any machine.
    server = process_server(**ROOMY, UPLOAD_TIMEOUT_SECONDS=15).start()
    key = Owner(server).key(scopes=SCOPES)
    content = form([file_part(padded(6 * MEBIBYTE))] * 4)

    async def all_at_once() -> list[Reply]:
        whole = head(content, key) + content
        return list(await asyncio.gather(*(send(server, whole) for _ in range(20))))

    with Watch(server) as watch:
        replies = asyncio.run(all_at_once())

    # Those that this machine is too slow for are refused in time; none may break.
    assert {reply.status for reply in replies} <= {201, 408}
    assert any(reply.status == 201 for reply in replies)
    assert watch.memory < 400 * MEBIBYTE
    assert watch.disk <= 20 * 24 * MEBIBYTE
    assert wait_until(lambda: list((data_dir(server) / "incoming").iterdir()) == [])
    assert wait_until(lambda: settled(server), 240)
    assert "Traceback" not in server.output()
