"""Programs that do everything that a key may do, through failures, and remember the answers."""

import asyncio
from collections.abc import Mapping
from typing import Any

from tests.harness.process import ServerProcess
from tests.harness.wire import Connection, Reply, Request

PAUSE = 0.01
"""Seconds between two attempts at a server that is away."""


class Sender:
    """Sends each write under an Idempotency-Key of its own until it is answered; twice now and then.

    `headers` say in whose name.
    """

    def __init__(self, server: ServerProcess, name: str, headers: Mapping[str, str]) -> None:
        self.name = name
        self.surprises: list[Reply] = []
        self.unanswered = 0
        self._server = server
        self._headers = headers
        self._connection: Connection | None = None
        self._number = 0

    async def write(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        """Sends one write until it succeeds; its answer. Anything else than success or absence is a surprise."""
        idempotency_key = f"{self.name}-{self._number}-{method}-{path}"
        headers = {**self._headers, "Idempotency-Key": idempotency_key}
        request = Request(self._server.port, method, path, headers, body)
        while True:
            reply = await self._ask(request)
            if reply is not None and reply.status in (200, 201, 202):
                return reply.json()
            if reply is not None and reply.status != 503:
                self.surprises.append(reply)
                raise AssertionError(f"{method} {path}: {reply}")
            await asyncio.sleep(PAUSE)

    def hang_up(self) -> None:
        """Closes the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _ask(self, request: Request) -> Reply | None:
        try:
            if self._connection is None:
                self._connection = await Connection.open(request.port)
            return await self._connection.ask(request)
        except TimeoutError:
            raise  # Silence is never an answer, whatever died.
        except OSError:
            self.unanswered += 1
            self.hang_up()
            return None


class Writer(Sender):
    """A program that does everything that its key may do."""

    def __init__(self, server: ServerProcess, key: str, name: str) -> None:
        super().__init__(server, name, {"Authorization": f"Bearer {key}"})
        self.posts: dict[str, str] = {}
        self.comments: dict[str, str] = {}
        self.bounces: dict[str, str] = {}
        self.edited: dict[str, str] = {}
        self.deleted: set[str] = set()

    async def story(self, shared: str) -> None:
        """A post, a comment on `shared`, a quote of it, a plain bounce of the post, an edit, the bounce's end."""
        self._number += 1
        name = f"{self.name} {self._number}"
        post = await self.write("POST", "/api/posts", {"content": name})
        self.posts[post["id"]] = name
        comment = await self.write("POST", f"/api/posts/{shared}/comments", {"content": name})
        self.comments[comment["id"]] = name
        quote = await self.write("POST", f"/api/posts/{shared}/bounce", {"content": f"{name} quote"})
        self.bounces[quote["id"]] = shared
        plain = await self.write("POST", f"/api/posts/{post['id']}/bounce", None)
        self.bounces[plain["id"]] = post["id"]
        await self.write("PATCH", f"/api/posts/{post['id']}", {"content": f"{name} edited"})
        self.edited[post["id"]] = f"{name} edited"
        await self.write("DELETE", f"/api/posts/{plain['id']}", None)
        self.deleted.add(plain["id"])
