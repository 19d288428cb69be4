"""How often a request goes to PostgreSQL and back, and with how many statements, counted on the wire
(docs/architecture.md#round-trips)."""

import asyncio
import io
import itertools
import os
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Database, Tx
from pressroom.db.migrate import migrate
from pressroom.db.postgres.database import PostgresDatabase
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.events.models import EventType
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope
from pressroom.domains.sign_in.sessions import begin_session
from pressroom.domains.webhooks.actions.endpoints import add_webhook
from pressroom.domains.webhooks.models import NewWebhook
from pressroom.logs import Log
from pressroom.server.app import create_app
from pressroom.server.runtime import open_runtime
from tests.harness.databases import in_database, settings_of
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

Run = Callable[[Coroutine[Any, Any, Any]], Any]

BODY = b'{"content":"The harbour bridge opens again on Monday."}'
LATER = "Z" * 26
"""An id after all others: nothing is newer."""

_numbers = itertools.count()


class Wire:
    """What goes to PostgreSQL through this socket: messages that are answered, by kind, and statements."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.trips = Counter[str]()
        self.statements = 0
        self._open: list[asyncio.StreamWriter] = []

    async def serve(self) -> asyncio.Server:
        """Begins to listen."""
        return await asyncio.start_server(self._pass_on, "127.0.0.1", 0)

    def cut(self) -> None:
        """Ends all connections."""
        for each in self._open:
            each.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, forth = await asyncio.open_connection("127.0.0.1", self._port)
        self._open += [writer, forth]
        answers = asyncio.ensure_future(_copy(back, writer))
        try:
            size = await reader.readexactly(4)  # the start has no kind
            forth.write(size + await reader.readexactly(int.from_bytes(size) - 4))
            while True:
                head = await reader.readexactly(5)
                forth.write(head + await reader.readexactly(int.from_bytes(head[1:]) - 4))
                if head[:1] in b"SQ":
                    self.trips[head[:1].decode()] += 1
                self.statements += head[:1] == b"E"
        except (asyncio.IncompleteReadError, OSError):
            forth.close()
            await answers


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
    except OSError:
        pass
    writer.close()


async def _seed(db: Database) -> tuple[str, str]:
    """Makes an account with an endpoint; its id and its key."""

    async def make(tx: Tx) -> tuple[str, str]:
        account = await create_account(tx, NewAccount("alice", "alice@example.org", "no hash"))
        key, secret = await create_key(tx, account.id, NewKey("test", list(Scope)))
        await add_webhook(tx, account.id, key.id, NewWebhook("https://example.org/hook", [EventType.POST_CREATED]))
        return account.id, secret

    await migrate(db)
    return await db.transact(make)


async def _ask(app: Any, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> int:
    statuses: list[int] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    path, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "root_path": "", "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2), "state": {},
    }  # fmt: skip
    await app(scope, receive, send)
    return statuses[0]


def test_round_trips_of_a_create_of_me_and_of_a_look_for_new_entries(
    postgres_server: PostgresServer,
    redis_server: RedisServer,
    tmp_path: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The whole application without a socket for HTTP, and nothing else that speaks to the database meanwhile: limits
    are counted in Redis, so that no lock is watched over."""
    direct = postgres_server.create_database(f"trips_{os.getpid()}_{next(_numbers)}")
    account_id, secret = in_database(settings_of({"DATABASE_URL": direct, "DATA_DIR": tmp_path}), _seed)
    database = urlsplit(direct)

    async def work() -> list[tuple[int, int]]:
        wire = Wire(database.port or 0)
        server = await wire.serve()
        port = server.sockets[0].getsockname()[1]
        url = f"postgresql://postgres@127.0.0.1:{port}{database.path}?sslmode=disable"
        settings = settings_of({"DATABASE_URL": url, "REDIS_URL": redis_server.url, "DATA_DIR": tmp_path})
        runtime = await open_runtime(settings, Log(requests=False, stream=io.StringIO()), SettableClock())
        try:
            await runtime.schedule.stop()
            app = create_app(runtime)
            authorization = {"Host": "127.0.0.1", "Authorization": f"Bearer {secret}"}

            async def create(number: int, key: str | None) -> tuple[int, int]:
                more = {"Content-Type": "application/json", "Content-Length": str(len(BODY))}
                more |= {"Idempotency-Key": key} if key else {}
                return await _counted(wire, app, "POST", "/api/posts", {**authorization, **more}, number)

            async def look_for_new(headers: dict[str, str]) -> tuple[int, int]:
                return await _counted(wire, app, "GET", f"/api/timeline/new?after={LATER}", headers, 200)

            for number in range(3):  # statements are prepared when they are first used, and signals sent
                await create(201, f"first-{number}")
            await create(201, None)
            assert isinstance(runtime.db, PostgresDatabase)
            while runtime.db._signals._sender is not None:
                await asyncio.sleep(0)
            # Those of a create go out after its COMMIT, within its response or later: they are counted nowhere.
            monkeypatch.setattr(runtime.db._signals, "send", lambda **_: None)
            counted = [
                await create(201, "counted"),
                await create(200, "counted"),
                await create(201, None),
                await _counted(wire, app, "GET", "/api/auth/me", authorization, 200),
            ]
            token = await runtime.db.transact(begin_session, account_id)
            signed_in = {"Host": "127.0.0.1", "Cookie": f"session={token}"}
            await look_for_new(signed_in)
            return [*counted, await look_for_new(signed_in)]
        finally:
            await runtime.close()
            wire.cut()
            server.close()

    with_key, replay, without_key, me, nothing_new = run(work())
    assert (with_key, replay, without_key, me, nothing_new) == ((3, 12), (5, 14), (3, 11), (1, 1), (2, 2))


async def _counted(
    wire: Wire, app: Any, method: str, path: str, headers: dict[str, str], expected: int
) -> tuple[int, int]:
    """Returns how many round trips a request took, and how many statements."""
    before = wire.trips.total(), wire.statements
    assert await _ask(app, method, path, headers, BODY if method == "POST" else b"") == expected
    return wire.trips.total() - before[0], wire.statements - before[1]
