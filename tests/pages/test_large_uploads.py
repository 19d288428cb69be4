"""Ten files of 50 MB in the form of the front page: all are published, and the server holds little of them."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.api.actors import body_of, new_client
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.roomy import ROOMY
from tests.media.uploads import BOUNDARY, MEBIBYTE
from tests.pages.files import picture
from tests.services.process import wait_until

FILES, SIZE = 10, 50 * MEBIBYTE
MOST_GROWTH = 60 * MEBIBYTE


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A process of its own, whose memory can be looked at."""
    server = ServerProcess(tmp_path_factory.mktemp("large"), **{**ROOMY, "UPLOAD_TIMEOUT_SECONDS": 300}).start()
    yield server
    server.kill()


class Watch:
    """How much a process grows at the most while somebody looks."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._before = self._process.memory_info().rss
        self.growth = 0

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(0.01):
            self.growth = max(self.growth, self._process.memory_info().rss - self._before)


def pieces() -> Iterator[bytes]:
    """The body of the form, piece by piece: nobody holds 500 MB."""
    piece = bytes(MEBIBYTE)
    start = picture()[1]
    for number in range(FILES):
        yield (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="media"; filename="{number}.png"\r\n'
            "Content-Type: image/png\r\n\r\n"
        ).encode()
        yield start
        for at in range(SIZE // MEBIBYTE):
            yield piece if at else piece[len(start) :]
        yield (f'\r\n--{BOUNDARY}\r\nContent-Disposition: form-data; name="altText"\r\n\r\nFile {number}\r\n').encode()
    yield f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="content"\r\n\r\nLarge\r\n--{BOUNDARY}--\r\n'.encode()


def post(port: int, cookie: str, most: int | None = None) -> bytes:
    """Sends the form, or its first `most` bytes and hangs up; the head of the answer."""
    length = sum(map(len, pieces()))
    with socket.create_connection(("127.0.0.1", port), 120) as wire:
        wire.sendall(
            f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\nContent-Length: {length}\r\n"
            f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nConnection: close\r\n\r\n".encode()
        )
        sent = 0
        for piece in pieces():
            wire.sendall(piece)
            sent += len(piece)
            if most is not None and sent >= most:
                return b""
        return wire.recv(4_096)


def test_ten_files_of_50_mb_are_published_in_little_memory(server: ServerProcess) -> None:
    owner = Owner(server)
    incoming = Path(str(server.settings["DATA_DIR"])) / "incoming"
    with new_client(base_url=f"http://127.0.0.1:{server.port}", headers={"Cookie": owner.cookie}) as web:
        body_of(web.post("/api/posts", json={"content": "Warm"}), 201)

        with Watch(server.pid) as watch:
            assert post(server.port, owner.cookie, 120 * MEBIBYTE) == b""
            assert wait_until(lambda: not list(incoming.glob("*")), 60), "of a lost connection nothing is kept"
            answer = post(server.port, owner.cookie)

        assert answer.startswith(b"HTTP/1.1 303"), answer
        assert watch.growth < MOST_GROWTH
        newest = body_of(web.get("/api/posts"))["posts"]
        assert [each["content"] for each in newest] == ["Large", "Warm"]
        assert [each["altText"] for each in newest[0]["media"]] == [f"File {number}" for number in range(FILES)]
    assert list(incoming.glob("*")) == []
