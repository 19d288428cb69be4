"""An S3 store that is away, slow or refuses, behind Toxiproxy: uploads are told, nothing is half kept, work goes on."""

import http.server
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from pressroom.db import Query
from pressroom.jobs.outages import LONGEST_DEFERRAL
from tests.api.actors import Actor, Json, nobody, publish, read
from tests.harness.local import LocalServer
from tests.harness.observations import observe
from tests.harness.roomy import ROOMY
from tests.media.uploads import (
    do_jobs,
    files_below,
    image,
    media_of,
    ready,
    rows_everywhere,
    sweep_time,
    upload,
    uploaded,
)
from tests.services import toxiproxy
from tests.services.process import wait_until
from tests.services.toxiproxy import Link, Toxiproxy

pytestmark = pytest.mark.skipif(toxiproxy.available() is not None, reason=str(toxiproxy.available()))

SECONDS = 1.0
"""The time limit of a request to the store while it fails. Before and after it has as long as it needs."""

Fault = Callable[[Link, int], AbstractContextManager[None]]
"""Breaks a way to the store, which is on a port of this machine."""

COUNTED = Query(
    bool,
    "SELECT s.bytes = (SELECT sum(m.stored_bytes) FROM media m WHERE m.account_id = s.account_id)"
    " FROM stored_media s WHERE s.account_id = :account_id",
)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toxiproxy]:
    """A Toxiproxy."""
    with Toxiproxy.start(tmp_path_factory.mktemp("toxiproxy")) as server:
        yield server


@pytest.fixture
def port(bucket_url: str) -> int:
    """Where the store listens."""
    return urlsplit(endpoint_of(bucket_url)).port or 0


@pytest.fixture
def link(proxy: Toxiproxy, port: int) -> Link:
    """The way to the store."""
    return proxy.link(port)


@pytest.fixture
def alice(local_server: Callable[..., LocalServer], bucket_url: str, link: Link) -> Actor:
    """Somebody who publishes on a server that reaches its store by that way."""
    url = bucket_url.replace(endpoint_of(bucket_url), f"http://127.0.0.1:{link.port}")
    return Actor(local_server(**ROOMY, BLOBS_URL=url, BLOBS_TIMEOUT_SECONDS=60))


def endpoint_of(bucket_url: str) -> str:
    return bucket_url.partition("endpoint=")[2].partition("&")[0]


@contextmanager
def away(link: Link, _: int) -> Generator[None]:
    """Nobody listens."""
    link.cut()
    yield
    link.mend()


@contextmanager
def slow(link: Link, _: int) -> Generator[None]:
    """Each answer takes five seconds."""
    toxic = link.poison("latency", latency=5_000)
    yield
    link.cure(toxic)


def refusing(status: int) -> Fault:
    """The store answers all with a status, as when the secret was changed (403) or it is overloaded (500, 503)."""

    @contextmanager
    def refuse(link: Link, port: int) -> Generator[None]:
        class Handler(http.server.BaseHTTPRequestHandler):
            """Refuses everything."""

            protocol_version = "HTTP/1.1"

            def refuse(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = refuse  # noqa: N815  # the library's names

            def log_message(self, format: str, *_: object) -> None:  # noqa: A002  # the library's name
                """Says nothing."""

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            server.daemon_threads = True
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            link.point_at(server.server_port)
            yield
            link.point_at(port)
            server.shutdown()
            thread.join()

    return refuse


FAULTS: dict[str, Fault] = {
    "S3 is away": away,
    "S3 answers after 5 s": slow,
    "S3 refuses with 403": refusing(403),
    "S3 refuses with 500": refusing(500),
    "S3 refuses with 503": refusing(503),
}


def assert_unavailable(answer: httpx.Response) -> None:
    """The answer is 503, and says when to come again."""
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["retry-after"]) > 0


def state(alice: Actor, post: Json) -> str:
    """The state of a post's only file."""
    return str(media_of(read(alice, post["id"]))["processingStatus"])


def kept(server: LocalServer) -> set[str]:
    """All that the store holds."""

    async def listed() -> set[str]:
        return {key async for key in server.runtime.blobs.list_older("", sweep_time())}

    return server.run(listed())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_store_that_fails_costs_nothing_but_a_503(
    alice: Actor, link: Link, port: int, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = alice.server
    seen, waiting = ready(alice), uploaded(alice)
    publish(alice, "before")
    before, blobs = rows_everywhere(server), kept(server)

    with FAULTS[fault](link, port), monkeypatch.context() as impatience:
        impatience.setattr(server.runtime.blobs, "_request_seconds", SECONDS)
        began = time.monotonic()
        assert_unavailable(upload(alice.api, ("media", ("b.jpg", image(colour="blue"), "image/jpeg"))))
        told = time.monotonic() - began
        assert (rows_everywhere(server), files_below(server.settings.data_dir)) == (before, [])
        for address in ("url", "thumbnailUrl"):
            assert_unavailable(nobody.get(media_of(seen)[address]))
        publish(alice, "text meanwhile")
        server.do_jobs()
        assert state(alice, waiting) == "PROCESSING"

    cured = time.monotonic()
    assert wait_until(lambda: upload(alice.api).status_code == 201)
    recovered = time.monotonic() - cured
    server.clock.advance(LONGEST_DEFERRAL)
    do_jobs(server)
    assert state(alice, waiting) == "READY"
    assert nobody.get(media_of(seen)["url"], follow_redirects=True).status_code == 200
    server.run(server.runtime.processing.sweep(sweep_time()))
    left = {key for key in kept(server) - blobs if key.startswith("uploads/")}
    assert left == set(), "bytes without a row"
    assert server.run(server.runtime.db.one(COUNTED, account_id=alice.account.id))
    allowed = f"{SECONDS:g} s for a request, 2 s at most for removing what was stored"
    effect = f"uploads 503 after {told:.1f} s ({allowed}), files 503; texts unharmed, jobs go on"
    observe(fault, effect, recovered, "S3's return")
