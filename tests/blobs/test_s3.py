"""An S3 store: addresses signed by it, and all the ways in which it is away."""

import asyncio
import http.server
import socket
import threading
import traceback
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from pressroom.blobs import Blobs, BlobsAway, open_blobs
from pressroom.blobs.s3 import READ_PART, S3Blobs
from pressroom.errors import SettingError
from pressroom.settings import Settings
from tests.services import s3
from tests.services.ports import free_port
from tests.services.s3 import S3Server

from .conftest import Run, listed, whole

KEY = "media/01jabc/large.mp4"


def opened(url: str) -> Blobs:
    return open_blobs(Settings({"PRESSROOM_BLOBS_URL": url}))


def calls(blobs: Blobs, folder: Path) -> list[Callable[[], Coroutine[Any, Any, object]]]:
    """Everything that asks the store."""
    (folder / "in").write_bytes(bytes(6 * 1024 * 1024))
    return [
        lambda: blobs.put(KEY, b"one", "video/mp4"),
        lambda: blobs.put_file(KEY, folder / "in", "video/mp4"),
        lambda: blobs.fetch_to(KEY, folder / "out"),
        lambda: whole(blobs.read(KEY)),
        lambda: blobs.stat(KEY),
        lambda: blobs.delete(KEY),
        lambda: listed(blobs.list_older("", 1)),
    ]


def test_a_signed_address_reads(bucket_url: str, run: Run) -> None:
    blobs = opened(bucket_url)
    run(blobs.put(KEY, b"0123456789", "video/mp4"))
    url = blobs.presigned(KEY, 90)
    assert url is not None
    answer = httpx.get(url, headers={"Range": "bytes=2-4"})
    assert (answer.status_code, answer.content, answer.headers["Content-Type"]) == (206, b"234", "video/mp4")
    assert httpx.get(url).content == b"0123456789"
    assert parse_qs(urlsplit(url).query)["X-Amz-Expires"] == ["90"]
    assert s3.SECRET_KEY not in url
    for seconds in (0, -1, 604_801):
        with pytest.raises(ValueError, match="up to a week"):
            blobs.presigned(KEY, seconds)


def test_a_large_upload_keeps_its_type(bucket_url: str, run: Run, tmp_path: Path) -> None:
    blobs = opened(bucket_url)
    (tmp_path / "in").write_bytes(bytes(11 * 1024 * 1024))
    run(blobs.put_file(KEY, tmp_path / "in", "video/mp4"))
    assert httpx.get(str(blobs.presigned(KEY, 60))).headers["Content-Type"] == "video/mp4"
    assert run(blobs.stat(KEY)).etag.endswith("-3"), "was not sent in parts"


def test_two_prefixes_of_a_bucket_are_apart(bucket_url: str, run: Run) -> None:
    one, two = opened(bucket_url), opened(bucket_url.replace("/some/prefix", "/some"))
    run(one.put(KEY, b"one", "video/mp4"))
    assert run(two.stat(KEY)) is None
    assert run(two.stat(f"prefix/{KEY}"))


def test_installations_in_two_schemas_have_folders_of_their_own_in_a_bucket(bucket_url: str, run: Run) -> None:
    database = {"PRESSROOM_DATABASE_URL": "postgresql://h/d", "PRESSROOM_BLOBS_URL": bucket_url}
    shop, club = (open_blobs(Settings({**database, "PRESSROOM_DATABASE_SCHEMA": name})) for name in ("shop", "club"))
    run(shop.put(KEY, b"one", "video/mp4"))
    assert run(club.stat(KEY)) is None
    assert run(opened(bucket_url).stat(f"pressroom_shop/{KEY}"))
    public = open_blobs(Settings({**database, "PRESSROOM_DATABASE_SCHEMA": "public"}))
    assert run(public.stat(f"pressroom_shop/{KEY}")), "the first installation keeps its files where they were"


def test_a_blob_replaced_while_it_is_read(bucket_url: str, run: Run) -> None:
    blobs = opened(bucket_url)

    async def story() -> None:
        await blobs.put(KEY, b"a" * (READ_PART + 1), "video/mp4")
        pieces = blobs.read(KEY)
        await anext(pieces)
        await blobs.put(KEY, b"b" * (READ_PART + 1), "video/mp4")
        with pytest.raises(BlobsAway, match="replaced"):
            await whole(pieces)

    run(story())


def test_a_bucket_that_is_missing(s3_server: S3Server, credentials: None) -> None:
    with pytest.raises(SettingError) as refused:
        opened(f"s3://no-such-bucket?endpoint={s3_server.url}")
    assert refused.value.message == (
        "PRESSROOM_BLOBS_URL: the bucket no-such-bucket cannot be used: it answers 404 NoSuchBucket."
    )


def test_a_store_out_of_reach_at_the_start(credentials: None) -> None:
    with pytest.raises(SettingError, match="bucket media cannot be used: it does not answer"):
        opened(f"s3://media?endpoint=http://127.0.0.1:{free_port()}")


def test_credentials_that_are_missing(monkeypatch: pytest.MonkeyPatch, credentials: None, s3_server: S3Server) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(SettingError, match="there are no credentials, set AWS_ACCESS_KEY_ID and"):
        opened(f"s3://media?endpoint={s3_server.url}")


def test_a_server_that_is_gone_and_comes_back(tmp_path: Path, credentials: None, run: Run) -> None:
    with S3Server.start(tmp_path / "server") as server:
        server.create_bucket("media")
        blobs = opened(f"s3://media?endpoint={server.url}")
        run(blobs.put(KEY, b"one", "video/mp4"))
        server.kill()
        for call in calls(blobs, tmp_path):
            with pytest.raises(BlobsAway, match="cannot be used right now: it does not answer"):
                run(asyncio.wait_for(call(), 60))
        assert not (tmp_path / "out").exists()
        server.restart()
        with pytest.raises(BlobsAway, match="lost its bucket"):
            run(blobs.put(KEY, b"one", "video/mp4"))
        server.create_bucket("media")
        run(blobs.put(KEY, b"one", "video/mp4"))
        assert run(whole(blobs.read(KEY))) == b"one"


def test_a_server_that_never_answers(tmp_path: Path, credentials: None, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        blobs = S3Blobs(f"s3://media?endpoint=http://127.0.0.1:{port}", request_seconds=0.2)
        for call in calls(blobs, tmp_path):
            with pytest.raises(BlobsAway):
                run(asyncio.wait_for(call(), 60))


class Telltale(http.server.BaseHTTPRequestHandler):
    """Refuses everything, and echoes the request."""

    protocol_version = "HTTP/1.1"

    def refuse(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        text = f"<Error><Code>SignatureDoesNotMatch</Code><Sent>{self.headers['Authorization']}</Sent></Error>".encode()
        self.send_response(403)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = refuse  # noqa: N815

    def log_message(self, format: str, *_: object) -> None:  # noqa: A002
        """Nothing."""


@pytest.fixture
def telltale() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Telltale) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_store_s_answer_is_not_repeated(telltale: str, tmp_path: Path, credentials: None, run: Run) -> None:
    blobs = S3Blobs(f"s3://media?endpoint={telltale}")
    for call in calls(blobs, tmp_path):
        with pytest.raises(BlobsAway, match="it answers 403") as refused:
            run(asyncio.wait_for(call(), 60))
        shown = "".join(traceback.format_exception(refused.value))
        assert "Signature=" not in shown
        assert s3.ACCESS_KEY not in shown
    with pytest.raises(SettingError, match="it answers 403 SignatureDoesNotMatch"):
        opened(f"s3://media?endpoint={telltale}")
