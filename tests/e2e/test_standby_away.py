"""With the synchronous standby away no write succeeds: neither a replay nor one that finds itself done already."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx

from tests.harness.observations import observe
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.wire import Request, ask, at_once
from tests.harness.writes import CLIP, SETTINGS, WRITES, People, Write
from tests.media.uploads import image
from tests.services.postgres_cluster import PostgresCluster
from tests.services.process import wait_until
from tests.services.redis import RedisServer

STATEMENT_SECONDS = 3


def test_no_write_succeeds_while_the_standby_is_away(
    cluster: PostgresCluster, redis_server: RedisServer, roomy_server: Callable[..., ServerProcess]
) -> None:
    url = cluster.primary.create_database("standby_away")
    # Limits are counted in Redis, and connections are enough for all: nothing else than the COMMIT refuses.
    waits = {"DATABASE_STATEMENT_TIMEOUT_SECONDS": STATEMENT_SECONDS, "DATABASE_CONNECTIONS": 100}
    server = roomy_server(**SETTINGS, **waits, DATABASE_URL=url, REDIS_URL=redis_server.url).start("--only", "api")
    written = [_prepared(server, number, name) for number, name in enumerate(WRITES)]
    first = at_once([_request(server, owner, write, "k") for owner, write in written])
    assert [(name, reply.status) for name, reply in zip(WRITES, first, strict=True)] == [
        (name, write.status) for name, (_, write) in zip(WRITES, written, strict=True)
    ]
    author = Owner(server, "author")
    secret = author.key(scopes=["posts:write", "media:write", "clips:write"])

    cluster.standbys[0].freeze()
    try:
        assert ask(Request(server.port, "GET", "/api/auth/me", {"Cookie": author.cookie})).status == 200
        again = {
            f"{name} {key}": _request(server, owner, write, key)
            for name, (owner, write) in zip(WRITES, written, strict=True)
            for key in (None, "k")
        }
        replies = dict(zip(again, at_once(list(again.values())), strict=True))
        with ThreadPoolExecutor() as pool:
            twice = list(pool.map(lambda path: [_publish(server, secret, path) for _ in range(2)], NEW))
    finally:
        cluster.standbys[0].thaw()
        thawed = time.monotonic()

    # Now the standby has the rows that were committed on the primary alone.
    assert all(wait_until(lambda path=path: _publish(server, secret, path) == 200) for path in NEW)
    recovered = time.monotonic() - thawed
    assert {name: reply.status for name, reply in replies.items() if reply.status < 400} == {}
    assert {reply.status for name, reply in replies.items() if name.endswith(" k")} == {503}
    assert twice == [[503, 503]] * len(NEW)
    observe(
        "the synchronous standby of PostgreSQL away",
        f"{len(WRITES)} kinds of writes, replayed and sent again: none succeeds, all replays are 503; reads go on; once"
        " it is back the same requests are answered as before",
        recovered,
        "the standby's return",
    )


NEW = ("/api/posts", "/api/posts/upload", "/api/clips")


def _prepared(server: ServerProcess, number: int, name: str) -> tuple[Owner, Write]:
    owner, other = Owner(server, f"owner{number}"), Owner(server, f"other{number}")
    with _signed_in(server, owner) as web, _signed_in(server, other) as others:
        return owner, WRITES[name](People(web, others))


def _signed_in(server: ServerProcess, owner: Owner) -> httpx.Client:
    return httpx.Client(base_url=server.base_url, headers={"Cookie": owner.cookie}, timeout=60)


def _request(server: ServerProcess, owner: Owner, write: Write, key: str | None) -> Request:
    headers = {"Cookie": owner.cookie, **({"Idempotency-Key": key} if key else {})}
    return Request(server.port, write.method, write.path, headers, dict(write.body) if write.body else None)


def _publish(server: ServerProcess, secret: str, path: str) -> int:
    """Publishes under one idempotency key; the answer's status."""
    headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": "new"}
    if path == "/api/posts":
        return httpx.post(f"{server.base_url}{path}", headers=headers, timeout=60, json={"content": "new"}).status_code
    field, file = ("video", ("a.mp4", CLIP)) if path == "/api/clips" else ("media", ("a.jpg", image()))
    return httpx.post(f"{server.base_url}{path}", headers=headers, timeout=60, files={field: file}).status_code
