"""Readers that stall, hang up or take their time: their cost for the server, and the service beside them."""

import contextlib
import os
import socket
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from pressroom.web.static_files import static_path
from tests.api.actors import Actor, new_client
from tests.api.sockets import exchange
from tests.harness.local import LocalServer
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.roomy import ROOMY
from tests.media.uploads import UPLOAD, file, media_of, path_of, ready
from tests.services.process import wait_until

STALLED = 200
PATIENCE = 2
MEBIBYTE = 1024 * 1024
VIDEO = os.urandom(MEBIBYTE) * 47


def grow(data_dir: Path, content: bytes) -> None:
    """Puts `content` in the place of every picture that was processed."""
    for blob in (data_dir / "blobs").glob("??/??/media=*=large.webp"):
        blob.write_bytes(content)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server process whose readers have two seconds."""
    folder = tmp_path_factory.mktemp("stalled")
    server = ServerProcess(folder, **{**ROOMY, "READER_TIMEOUT_SECONDS": PATIENCE, "ANSWERS_BYTES": 2**30}).start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def video(server: ServerProcess) -> str:
    """The path of a file of 47 MiB that everybody may see."""
    key = Owner(server).key(scopes=("media:write", "posts:write"))
    with new_client(base_url=server.base_url, headers={"Authorization": f"Bearer {key}"}) as client:
        post = client.post(UPLOAD, files=[file()]).json()
        path = path_of(media_of(post)["url"])
        assert wait_until(lambda: client.get(path).status_code == 200)
    grow(server.folder / "data", VIDEO)
    return path


def ask(port: int, path: str, buffer: int | None = None, client: str | None = None) -> socket.socket:
    """A connection that has asked for a path, and reads nothing yet; `client` as a proxy names it."""
    connection = socket.socket()
    if buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", port))
    forwarded = f"X-Forwarded-For: {client}\r\n" if client else ""
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{forwarded}\r\n".encode())
    return connection


@contextlib.contextmanager
def stalling(port: int, path: str, count: int = STALLED) -> Generator[list[socket.socket]]:
    """Connections that ask for a path, of which nothing is read."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(ask(port, path)) for _ in range(count)]


def open_connections(server: ServerProcess) -> int:
    """How many the server still holds."""
    found = psutil.Process(server.pid).net_connections("tcp")
    return sum(1 for each in found if each.laddr.port == server.port and each.status == psutil.CONN_ESTABLISHED)


class Memory:
    """The growth of a server's memory since the first look, at most, in MiB."""

    def __init__(self, server: ServerProcess) -> None:
        self._process = psutil.Process(server.pid)
        self._before = self._process.memory_info().rss
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.most = 0.0

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def now(self) -> float:
        """The growth at this moment."""
        return (self._process.memory_info().rss - self._before) / MEBIBYTE

    def _look(self) -> None:
        while not self._over.wait(0.02):
            self.most = max(self.most, self.now)


def test_readers_that_stall_hold_little_and_are_cut_off(server: ServerProcess, video: str) -> None:
    for path in (video, "/openapi.json"):
        exchange_path(server, path)

    with Memory(server) as memory:
        for _ in range(3):
            with stalling(server.port, video):
                whole = httpx.get(server.base_url + video, timeout=60).content
                assert whole == VIDEO, "beside them a reader gets everything"
                assert wait_until(lambda: open_connections(server) == 0), "none of them is held on to"

    # 200 held 460 MB, and kept much of it when they had gone.
    assert memory.most < 90
    assert memory.now < 90


def exchange_path(server: ServerProcess, path: str) -> int:
    """The size of the answer at a path."""
    return len(httpx.get(server.base_url + path, headers={"Accept-Encoding": "identity"}, timeout=60).content)


def test_a_large_page_to_readers_that_stall(server: ServerProcess) -> None:
    vendored = Path("src/pressroom/web/static")
    largest = max((each for each in vendored.rglob("*.js") if each.is_file()), key=lambda each: each.stat().st_size)
    path = static_path(str(largest.relative_to(vendored)))
    size = exchange_path(server, path)
    assert size > MEBIBYTE // 2

    with Memory(server) as memory, stalling(server.port, path, 50), stalling(server.port, "/openapi.json", 50):
        assert exchange_path(server, path) == size
        assert wait_until(lambda: open_connections(server) == 0)

    assert memory.most < 30


def test_a_reader_that_is_slow_but_reads_gets_everything(server: ServerProcess, video: str) -> None:
    began, got = time.monotonic(), b""
    with ask(server.port, video, buffer=16 * 1024) as connection:
        while len(got) < 4 * MEBIBYTE:
            got += connection.recv(64 * 1024)
            if time.monotonic() - began < 3 * PATIENCE:
                time.sleep(0.05)

    body = got.partition(b"\r\n\r\n")[2]
    assert time.monotonic() - began > 3 * PATIENCE
    assert body == VIDEO[: len(body)]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """A server with four places for large answers, one of them for each address, behind a proxy that is trusted."""
    settings = {**ROOMY, "ANSWERS_BYTES": MEBIBYTE, "TRUSTED_PROXIES": "127.0.0.0/8"}
    server = LocalServer(tmp_path_factory.mktemp("small"), **settings).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def picture(small: LocalServer) -> Iterator[str]:
    """The path of a picture that everybody may see."""
    author = Actor(small)
    yield path_of(media_of(ready(author))["url"])
    for client in author.clients():
        client.close()


def test_large_answers_have_places_of_which_an_address_has_its_share(small: LocalServer, picture: str) -> None:
    grow(small.settings.data_dir, VIDEO)

    def status(client: str, method: str = "GET", path: str = picture) -> int:
        headers = {"X-Forwarded-For": client, "Range": "bytes=1-"}
        with httpx.stream(method, small.base_url + path, headers=headers) as answer:
            if answer.status_code == 503:
                assert answer.headers["retry-after"] == "5"
            return answer.status_code

    with ask(small.port, picture, client="192.0.2.1") as one:
        assert one.recv(12) == b"HTTP/1.1 200"
        assert status("192.0.2.1") == 503
        assert status("192.0.2.1", "HEAD") == 200
        assert status("192.0.2.1", path="/healthz") == 200
        assert exchange(small, "GET", f"{picture}/thumbnail").status == 200
        with contextlib.ExitStack() as others:
            for client in ("192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"):
                connection = others.enter_context(ask(small.port, picture, client=client))
                assert connection.recv(12) == b"HTTP/1.1 200", client
            assert status("192.0.2.3") == 503, "in all"
            assert status("2001:db8::2") == 503
        assert wait_until(lambda: status("192.0.2.3") == 206), "whoever hangs up gives the place back"
        assert status("192.0.2.1") == 503
    assert wait_until(lambda: status("192.0.2.1") == 206)


def test_one_connection_serves_large_answers_one_after_another(small: LocalServer, picture: str) -> None:
    grow(small.settings.data_dir, VIDEO[: 2 * MEBIBYTE])

    with new_client(base_url=small.base_url) as client:
        for _ in range(5):
            assert client.get(picture).content == VIDEO[: 2 * MEBIBYTE]
            assert client.get("/healthz").status_code == 200
