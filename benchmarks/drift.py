"""Checks that the limit of the database still executes a create's statements, by tracing a real one."""

import io
from pathlib import Path
from typing import Any

import apsw

from benchmarks import limit_db
from benchmarks.load import BODY
from pressroom.clock import SettableClock
from pressroom.logs import Log
from pressroom.server.app import create_app
from pressroom.server.runtime import open_runtime
from pressroom.settings import Settings

OURS = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "PRAGMA")
"""What surrounds the statements, and is not compared."""


async def drift(folder: Path, key: str) -> str:
    """A sentence with the statements in which a create differs from `limit_db`; empty when none.

    `folder` holds a seeded pressroom.db. The create goes through the whole application, without a socket.
    """
    executed: list[str] = []

    def note(_cursor: apsw.Cursor, statement: str, _bindings: object) -> bool:
        executed.append(statement)
        return True

    def trace(connection: apsw.Connection) -> None:
        connection.exec_trace = note

    apsw.connection_hooks.append(trace)
    try:
        # The clock stands still, and on a day of its own, so that nothing is written behind between the two creates.
        runtime = await open_runtime(
            Settings({"PRESSROOM_DATA_DIR": str(folder)}), Log(requests=False, stream=io.StringIO()), SettableClock()
        )
    finally:
        apsw.connection_hooks.remove(trace)
    try:
        await runtime.schedule.stop()
        app = create_app(runtime)
        await create(app, key, b"first")
        executed.clear()
        status = await create(app, key, b"second")
        found = [statement for statement in executed if not statement.startswith(OURS)]
    finally:
        await runtime.close()
    expected = [command.text for command in (limit_db.READ, *limit_db.WRITES)]
    if status == 201 and found == expected:
        return ""
    return _difference(status, found, expected)


def _difference(status: int, found: list[str], expected: list[str]) -> str:
    more = [_named(statement) for statement in found if statement not in expected]
    less = [_named(statement) for statement in expected if statement not in found]
    return (
        f"benchmarks/limit_db.py is not what a create does any more: it answered {status}, executes"
        f" {', '.join(more) or 'nothing'} besides and {', '.join(less) or 'nothing'} no more."
    )


def _named(statement: str) -> str:
    return repr(" ".join(statement.split())[:60])


async def create(app: Any, key: str, idempotency_key: bytes) -> int:
    """Sends a create through the application; returns the status of its answer."""
    statuses: list[int] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope: dict[str, object] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/posts",
        "raw_path": b"/api/posts",
        "root_path": "",
        "query_string": b"",
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"authorization", b"Bearer " + key.encode()),
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(BODY)),
            (b"idempotency-key", idempotency_key),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "state": {},
    }
    await app(scope, receive, send)
    return statuses[0]
