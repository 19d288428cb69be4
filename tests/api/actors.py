"""Who stands before the server in these tests: an account with a key and with a session of its own."""

import json
import weakref
from collections.abc import Iterator
from functools import cached_property
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Self, TypeVar

import httpx

from pressroom.db import Query
from pressroom.domains.keys.models import Scope
from pressroom.domains.moderation.actions import set_admin
from pressroom.domains.sign_in.sessions import begin_session
from tests.harness.local import LocalServer
from tests.harness.trust import TRUST

POSTS = Query(int, "SELECT count(*) FROM posts WHERE account_id = :account_id")
EVENTS = Query(int, "SELECT count(*) FROM events WHERE account_id = :account_id")
QUOTA = Query(int, "SELECT CAST(coalesce(sum(used), 0) AS BIGINT) FROM content_quotas WHERE account_id = :account_id")
ANSWERS = Query(int, "SELECT count(*) FROM idempotent_answers WHERE account_id = :account_id")


def new_client(*, keep_alive: int = 5, **options: Any) -> httpx.Client:
    """A client that keeps no cookies: whoever wants to send one says so. It hangs up when nobody has it any more."""
    jar = CookieJar(DefaultCookiePolicy(allowed_domains=()))
    transport = httpx.HTTPTransport(verify=TRUST, limits=httpx.Limits(max_keepalive_connections=keep_alive))
    client = httpx.Client(timeout=60, cookies=jar, transport=transport, **options)
    weakref.finalize(client, transport.close)
    return client


nobody = new_client(keep_alive=0)
"""Somebody without a key or a session of their own."""


class Actor:
    """An account; `api` bears its key, `web` is signed in, `key` is the key itself."""

    def __init__(self, server: LocalServer, *scopes: Scope, **key: Any) -> None:
        self.server = server
        self.account = server.account()
        self.record, self.key = server.key(self.account, *scopes, **key)
        self.token = server.run(server.runtime.db.transact(begin_session, self.account.id))
        self.cookie = f"session={self.token}"
        self.bearer = f"Authorization: Bearer {self.key}"

    @cached_property
    def api(self) -> httpx.Client:
        """Bears the key."""
        return self._client({"Authorization": f"Bearer {self.key}"})

    @cached_property
    def web(self) -> httpx.Client:
        """Is signed in."""
        return self._client({"Cookie": self.cookie})

    def become_admin(self) -> Self:
        """The same, as an admin."""
        db = self.server.runtime.db
        self.server.run(db.transact(set_admin, self.account.username, is_admin=True))
        return self

    def post(self, content: str = "Hello", idempotency_key: str | None = None) -> httpx.Response:
        """Publishes with the key."""
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        return self.api.post("/api/posts", json={"content": content}, headers=headers)

    def written(self) -> tuple[int, int, int, int]:
        """How many posts, events, units of quota and stored answers the account has."""
        db, account_id = self.server.runtime.db, self.account.id
        counts = [self.server.run(db.one(query, account_id=account_id)) for query in (POSTS, EVENTS, QUOTA, ANSWERS)]
        posts, events, quota, answers = (count or 0 for count in counts)
        return posts, events, quota, answers

    def clients(self) -> Iterator[httpx.Client]:
        """Those that were used, and must be closed."""
        yield from (value for value in vars(self).values() if isinstance(value, httpx.Client))

    def _client(self, headers: dict[str, str]) -> httpx.Client:
        return new_client(base_url=self.server.base_url, headers=headers)


NOTHING = (0, 0, 0, 0)
"""The refusals of an account that has `written` and was refused everything."""


def field_errors(answer: httpx.Response) -> list[tuple[str, str]]:
    """Field and code of everything that a 400 complains of."""
    assert answer.status_code == 400, answer.text
    problem = answer.json()
    assert problem["error"] == "Validation failed"
    assert all(set(fault) == {"field", "code", "message"} and fault["message"] for fault in problem["details"])
    return [(fault["field"], fault["code"]) for fault in problem["details"]]


Json = dict[str, Any]
R = TypeVar("R")

TOLD = Query(str, "SELECT data FROM events WHERE account_id = :account_id AND type = :type ORDER BY id")


def body_of(answer: httpx.Response, status: int = 200) -> Json:
    """The body of an answer that must have this status."""
    assert answer.status_code == status, answer.text
    body: Json = answer.json()
    return body


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Status and label of an answer that refuses."""
    return answer.status_code, answer.json()["error"]


def objections(answer: httpx.Response) -> list[tuple[str, str]]:
    """Field and code of everything that a 422 objects to."""
    problem = body_of(answer, 422)
    assert problem["error"] == "Unprocessable"
    assert all(set(fault) == {"field", "code", "message"} and fault["message"] for fault in problem["details"])
    return [(fault["field"], fault["code"]) for fault in problem["details"]]


def publish(author: Actor, content: str = "Hello", **fields: Any) -> Json:
    """A new post, made with the author's key."""
    return body_of(author.api.post("/api/posts", json={"content": content, **fields}), 201)


def read(reader: Actor, post_id: str) -> Json:
    """A post as the reader sees it, signed in."""
    return body_of(reader.web.get(f"/api/posts/{post_id}"))


def follow(reader: Actor, author: Actor) -> None:
    """From now on the reader follows the author."""
    body_of(reader.web.post(f"/api/accounts/{author.account.username}/follow"))


def rows(server: LocalServer, query: Query[R], **values: str) -> list[R]:
    """The contents of the database."""
    return server.run(server.runtime.db.read(lambda tx: tx.all(query, **values)))


def events(actor: Actor, kind: str) -> list[Json]:
    """The data of the account's events of a kind, oldest first."""
    return [json.loads(data) for data in rows(actor.server, TOLD, account_id=actor.account.id, type=kind)]
