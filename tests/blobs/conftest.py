"""The two stores of media bytes, each empty for each test."""

import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvloop

from pressroom.blobs import Blobs, open_blobs
from pressroom.settings import Settings
from tests.services import s3, seaweed
from tests.services.s3 import S3Server
from tests.services.seaweed import SeaweedServer
from tests.services.session import run_folder, session_server

Run = Callable[[Awaitable[Any]], Any]

_numbers = itertools.count()


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeaweedServer | S3Server]:
    """A real S3 server, shared by this run: one that keeps data for real, or moto's where that has no wheel."""
    if seaweed.available() is None:
        server: SeaweedServer | S3Server = session_server(run_folder(tmp_path_factory.getbasetemp()), "seaweed")
    elif reason := s3.available():
        pytest.skip(reason)
    else:
        server = S3Server.start(tmp_path_factory.mktemp("s3"))
    with server:
        yield server


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' credentials in the environment, and nothing else of AWS."""
    _set_credentials(monkeypatch)


@pytest.fixture
def bucket_url(s3_server: SeaweedServer | S3Server, credentials: None) -> str:
    """The address of an empty bucket."""
    return _new_bucket(s3_server)


@pytest.fixture(scope="module")
def module_bucket_url(s3_server: SeaweedServer | S3Server) -> Iterator[str]:
    """The address of a bucket that the tests of a module share, with the credentials in the environment."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        _set_credentials(monkeypatch)
        yield _new_bucket(s3_server)


def _set_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3.ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.SECRET_KEY)


def _new_bucket(server: SeaweedServer | S3Server) -> str:
    name = f"bucket-{os.getpid()}-{next(_numbers)}"
    server.create_bucket(name)
    return f"s3://{name}/some/prefix?endpoint={server.url}&region={s3.REGION}"


@pytest.fixture(params=["disk", "s3"])
def blobs_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """PRESSROOM_BLOBS_URL of an empty store: once on disk, once in a bucket."""
    return f"file://{tmp_path / 'blobs'}" if request.param == "disk" else request.getfixturevalue("bucket_url")


@pytest.fixture
def loop() -> Iterator[uvloop.Loop]:
    """The event loop of one test."""
    loop = uvloop.new_event_loop()
    yield loop
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


@pytest.fixture
def run(loop: uvloop.Loop) -> Run:
    """Runs something to its end."""
    return loop.run_until_complete


@pytest.fixture
def blobs(blobs_url: str, run: Run) -> Iterator[Blobs]:
    """An empty store."""
    opened = open_blobs(Settings({"PRESSROOM_BLOBS_URL": blobs_url}))
    yield opened
    run(opened.close())


async def whole(pieces: AsyncIterator[bytes]) -> bytes:
    """All bytes of a read."""
    return b"".join([piece async for piece in pieces])


async def listed(keys: AsyncIterator[str]) -> list[str]:
    """All keys of a listing, in order."""
    return sorted([key async for key in keys])
