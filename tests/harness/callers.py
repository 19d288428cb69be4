"""Clients of several servers that retry whatever they hear no outcome of, and record all of it in a history."""

import asyncio
import contextlib
import itertools
import random
from collections.abc import Mapping, Sequence

from tests.harness.histories import History
from tests.harness.process import ServerProcess
from tests.harness.wire import Connection, Reply, Request

PAUSE = 0.02
"""Seconds between two attempts."""

_numbers = itertools.count()


class Caller:
    """One who is signed in or has a key, and asks either server."""

    def __init__(self, servers: Sequence[ServerProcess], headers: Mapping[str, str], history: History) -> None:
        self._ports = [server.port for server in servers]
        self._headers = headers
        self._history = history

    async def publish(self, text: str, idempotency_key: str | None = None) -> str:
        """Publishes a post, and records each attempt under its Idempotency-Key; returns the post's id."""
        idempotency_key = idempotency_key or f"create-{next(_numbers)}"
        while True:
            with self._history.call("create", idempotency_key, "create") as told:
                reply = await self._ask("POST", "/api/posts", {"content": text}, idempotency_key)
                if reply is not None:
                    assert reply.status in {200, 201}, reply
                    told(replayed=reply.status == 200, value=reply.json()["id"])
            if reply is not None:
                return str(reply.json()["id"])
            await asyncio.sleep(PAUSE)

    def made(self, post_id: str, text: str) -> None:
        """Records that a post has been made, before anyone else knows of it."""
        with self._history.call("post", post_id, "create", text) as told:
            told()

    async def edit(self, post_id: str, text: str) -> None:
        """Gives a post another text."""
        with self._history.call("post", post_id, "edit", text) as told:
            told(done=await self._write("PATCH", f"/api/posts/{post_id}", {"content": text}))

    async def delete(self, post_id: str) -> None:
        """Deletes a post."""
        with self._history.call("post", post_id, "delete") as told:
            told(done=await self._write("DELETE", f"/api/posts/{post_id}"))

    async def like(self, post_id: str, name: str) -> None:
        """Likes a post, under a name that nobody else has."""
        with self._history.call("likes", post_id, "like", name) as told:
            told(done=await self._write("POST", f"/api/posts/{post_id}/like"))

    async def unlike(self, post_id: str, name: str) -> None:
        """Takes a like back."""
        with self._history.call("likes", post_id, "unlike", name) as told:
            told(done=await self._write("DELETE", f"/api/posts/{post_id}/like"))

    async def read(self, post_id: str) -> None:
        """Reads a post's text."""
        with self._history.call("post", post_id, "read") as told:
            reply = await self._insist("GET", f"/api/posts/{post_id}")
            there = reply.status == 200
            told(done=there, value=reply.json()["content"] if there else "")

    async def count_likes(self, post_id: str) -> None:
        """Reads how many like a post."""
        with self._history.call("likes", post_id, "read") as told:
            told(number=(await self._insist("GET", f"/api/posts/{post_id}")).json()["stats"]["likes"])

    async def revoke(self, key_id: str) -> None:
        """Revokes a key."""
        with self._history.call("revocation", key_id, "revoke") as told:
            told(done=await self._write("DELETE", f"/api/auth/api-keys/{key_id}"))

    async def use(self, key_id: str) -> None:
        """Uses its own key, known by an id, for the cheapest request."""
        with self._history.call("revocation", key_id, "use") as told:
            reply = await self._ask("GET", "/api/auth/me")
            if reply is not None:
                assert reply.status in {200, 401}, reply
                told(done=reply.status == 200)

    async def spend(self, key_id: str, allowed: int) -> None:
        """Sends one request of a key that may send so many in a minute."""
        with self._history.call("limit", key_id, "request", str(allowed)) as told:
            reply = await self._ask("GET", "/api/auth/me")
            if reply is not None:
                assert reply.status in {200, 429}, reply
                told(done=reply.status == 200, number=int(reply.headers["x-ratelimit-remaining"]))

    async def _write(self, method: str, path: str, body: Mapping[str, object] | None = None) -> bool:
        """Writes once, however often it must be sent; returns whether its subject was there."""
        reply = await self._insist(method, path, body, f"write-{next(_numbers)}")
        assert reply.status in {200, 404, 410}, reply
        return reply.status == 200

    async def _insist(
        self, method: str, path: str, body: Mapping[str, object] | None = None, idempotency_key: str | None = None
    ) -> Reply:
        while (reply := await self._ask(method, path, body, idempotency_key)) is None:
            await asyncio.sleep(PAUSE)
        return reply

    async def _ask(
        self, method: str, path: str, body: Mapping[str, object] | None = None, idempotency_key: str | None = None
    ) -> Reply | None:
        """Sends a request once; returns None when nobody knows what came of it."""
        headers = {**self._headers, **({"Idempotency-Key": idempotency_key} if idempotency_key else {})}
        connection, port = await self._connect()
        with contextlib.closing(connection):
            try:
                reply = await connection.ask(Request(port, method, path, headers, body))
            except TimeoutError:
                raise  # Silence is never an answer, whatever died.
            except OSError:
                return None
        return None if reply.status == 503 else reply

    async def _connect(self) -> tuple[Connection, int]:
        """Connects to any server that listens: what could not be sent had no effect, and is no call."""
        while True:
            port = random.choice(self._ports)
            with contextlib.suppress(OSError):
                return await Connection.open(port), port
            await asyncio.sleep(PAUSE)
