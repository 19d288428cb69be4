"""A store that accepts and never answers, at each step of a put: uploads are told in time, texts feel nothing."""

import http.server
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.api.actors import Actor, publish
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.uploads import file, files_below, padded, rows_everywhere, upload

LARGE = 6 * 1024 * 1024


class Store:
    """An S3 server that keeps its uploads, and hangs at steps that a test names."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.parts: dict[str, bytes] = {}
        self.hangs_at = ""
        self.hung: list[str] = []
        self.over = threading.Event()
        store = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """One connection."""

            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                """Answers, or hangs."""
                address = urlsplit(self.path)
                step, key = step_of(self.command, address.query), address.path
                if step == store.hangs_at:
                    store.hung.append(key)
                    store.over.wait()
                    self.close_connection = True
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, answer = store.answer(step, key, body)
                self.send_response(status)
                self.send_header("ETag", '"1"')
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_any  # noqa: N815  # the library's names

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
                """Says nothing."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, step: str, key: str, body: bytes) -> tuple[int, bytes]:
        """The answer of an S3 server."""
        match step:
            case "list":
                return 200, b'<?xml version="1.0"?><ListBucketResult><Name>media</Name></ListBucketResult>'
            case "put":
                self.kept[key] = body
            case "begin":
                words = b"<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>"
                return 200, b'<?xml version="1.0"?>' + words
            case "part":
                self.parts[key] = self.parts.get(key, b"") + body
            case "complete":
                self.kept[key] = self.parts.pop(key, b"")
                words = b'<CompleteMultipartUploadResult><ETag>"1"</ETag></CompleteMultipartUploadResult>'
                return 200, b'<?xml version="1.0"?>' + words
            case "delete":
                self.kept.pop(key, None)
                return 204, b""
            case _:
                """Whatever else is asked for is there, and empty."""
        return 200, b""

    def close(self) -> None:
        """Lets every hanging request go."""
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


def step_of(method: str, query: str) -> str:
    """A request to an S3 server."""
    names = parse_qs(query, keep_blank_values=True).keys()
    if method == "POST":
        return "begin" if "uploads" in names else "complete"
    if method == "PUT":
        return "part" if "partNumber" in names else "put"
    return {"GET": "list", "DELETE": "delete", "HEAD": "head"}[method]


@pytest.fixture
def store() -> Iterator[Store]:
    """The test's own S3 server."""
    made = Store()
    yield made
    made.close()


@pytest.fixture
def author(
    store: Store,
    credentials: None,
    local_server: Callable[..., LocalServer],
    engine_settings: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> Actor:
    """Somebody who publishes on a server with that store, which is given up after a second."""
    monkeypatch.setattr("pressroom.blobs.s3.PUT_RATE", 1024 * LARGE)
    monkeypatch.setattr("pressroom.domains.media.uploads.REMOVE_SECONDS", 0.5)
    url = f"s3://media?endpoint=http://127.0.0.1:{store.server.server_port}"
    return Actor(local_server(**{**ROOMY, **engine_settings, "BLOBS_URL": url, "BLOBS_TIMEOUT_SECONDS": 1}))


STEPS: dict[str, Any] = {"put": (400_000, 300_000), "begin": (LARGE, 1_000), "part": (LARGE,), "complete": (LARGE,)}


@pytest.mark.parametrize("step", STEPS)
def test_upload_to_a_hanging_store_fails_and_leaves_nothing(store: Store, author: Actor, step: str) -> None:
    server = author.server
    publish(author, "before")
    before = rows_everywhere(server)
    store.hangs_at = step

    answer = upload(author.api, *(file(padded(size)) for size in STEPS[step]))

    assert (answer.status_code, answer.json()["error"]) == (503, "Unavailable"), answer.text
    assert int(answer.headers["retry-after"]) > 0
    assert store.hung
    assert (rows_everywhere(server), files_below(server.settings.data_dir)) == (before, [])
    assert store.kept == {}


def test_media_stored_before_the_store_hung_are_removed(store: Store, author: Actor) -> None:
    store.hangs_at = "begin"

    answer = upload(author.api, file(padded(1_000)), file(padded(2_000)), file(padded(LARGE)))

    assert answer.status_code == 503
    assert store.kept == {}


def test_a_store_that_hangs_at_the_removal_too_delays_no_answer(store: Store, author: Actor) -> None:
    store.hangs_at = "delete"
    nobody = upload(author.api, file(padded(1_000)), visibility="NOBODY")
    taken = upload(author.api, file(padded(1_000)), hubId="01MCC5RM00MA5KYTTS2NQQVC1C")

    assert (nobody.status_code, taken.status_code) == (400, 422)
    assert len(store.hung) == 1


def test_texts_feel_nothing_of_a_store_that_hangs(store: Store, author: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    store.hangs_at = "put"
    monkeypatch.setattr(author.server.runtime.blobs, "_request_seconds", 20.0)
    answers: list[int] = []
    uploads = [threading.Thread(target=lambda: answers.append(upload(author.api).status_code)) for _ in range(8)]
    for each in uploads:
        each.start()

    for number in range(20):
        publish(author, f"text {number}")

    assert answers == []
    store.close()
    for each in uploads:
        each.join()
    assert set(answers) == {503}
