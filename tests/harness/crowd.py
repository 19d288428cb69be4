"""Many people at once: accounts made straight in a server's database, their requests, and whether all adds up after."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope
from pressroom.domains.sign_in.sessions import begin_session
from tests.harness.databases import in_database, settings_of
from tests.harness.heard import unheard
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.wire import Reply, Request, ask
from tests.services.process import wait_until


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody with an account, signed in, and with a key of every scope: the requests that they send."""

    port: int
    id: str
    username: str
    cookie: str
    key: str

    def publish(self, content: str, **more: object) -> Request:
        """Publishes a post."""
        return self.by_key("POST", "/api/posts", {"content": content, **more})

    def bounce(self, post_id: str, content: str | None = None) -> Request:
        """Bounces a post: plainly, or as a quote when there is content."""
        return self.by_key("POST", f"/api/posts/{post_id}/bounce", None if content is None else {"content": content})

    def edit(self, post_id: str, **changes: object) -> Request:
        """Edits a post."""
        return self.by_key("PATCH", f"/api/posts/{post_id}", changes)

    def delete(self, post_id: str, idempotency_key: str | None = None) -> Request:
        """Deletes a post."""
        return self.by_key("DELETE", f"/api/posts/{post_id}", None, idempotency_key)

    def comment(self, post_id: str, content: str, idempotency_key: str | None = None, **more: object) -> Request:
        """Comments on a post."""
        return self.by_key("POST", f"/api/posts/{post_id}/comments", {"content": content, **more}, idempotency_key)

    def like(self, post_id: str) -> Request:
        """Likes a post."""
        return self.signed_in("POST", f"/api/posts/{post_id}/like")

    def unlike(self, post_id: str) -> Request:
        """Takes a like back."""
        return self.signed_in("DELETE", f"/api/posts/{post_id}/like")

    def read(self, up_to: str) -> Request:
        """Marks notifications up to an id as read."""
        return self.signed_in("POST", "/api/notifications/read", {"upTo": up_to})

    def vote(self, post_id: str, *choices: int) -> Request:
        """Votes in a poll."""
        return self.signed_in("POST", f"/api/posts/{post_id}/poll/votes", {"choices": list(choices)})

    def follow(self, other: "Member") -> Request:
        """Follows an account."""
        return self.signed_in("POST", f"/api/accounts/{other.username}/follow")

    def unfollow(self, other: "Member") -> Request:
        """Takes a follow back."""
        return self.signed_in("DELETE", f"/api/accounts/{other.username}/follow")

    def set_private(self, *, private: bool) -> Request:
        """Makes the account private, or public."""
        return self.signed_in("PATCH", "/api/auth/me", {"isPrivate": private})

    def rename(self, username: str) -> Request:
        """Takes another user name."""
        return self.signed_in("PATCH", "/api/auth/me", {"username": username})

    def accept(self, other: "Member") -> Request:
        """Accepts who asks to follow the account."""
        return self.signed_in("POST", f"/api/follow-requests/{other.username}/accept")

    def reject(self, other: "Member") -> Request:
        """Rejects who asks to follow the account."""
        return self.signed_in("POST", f"/api/follow-requests/{other.username}/reject")

    def remove(self, other: "Member") -> Request:
        """Removes a follower."""
        return self.signed_in("DELETE", f"/api/followers/{other.username}")

    def account(self) -> dict[str, object]:
        """The account as it stands now."""
        answer = ask(self.by_key("GET", "/api/auth/me"))
        assert answer.status == 200, answer
        return dict(answer.json())

    def by_key(
        self, method: str, path: str, body: Mapping[str, object] | None = None, idempotency_key: str | None = None
    ) -> Request:
        """A request with the key."""
        headers = {"Authorization": f"Bearer {self.key}"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        return Request(self.port, method, path, headers, body)

    def signed_in(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Request:
        """A request with the session's cookie."""
        return Request(self.port, method, path, {"Cookie": self.cookie}, body)


def crowd(server: ServerProcess, size: int) -> list[Member]:
    """Makes so many members on a server that is up, past the sign-up and its slow hash."""

    async def make(tx: Tx) -> list[Member]:
        return [await _make_member(tx, server.port, f"member{number}") for number in range(size)]

    return in_database(settings_of(server.settings), lambda db: db.transact(make))


async def _make_member(tx: Tx, port: int, username: str) -> Member:
    account = await create_account(tx, NewAccount(username, f"{username}@example.org", "no hash"))
    token = await begin_session(tx, account.id)
    _, secret = await create_key(tx, account.id, NewKey("test", list(Scope)))
    return Member(port, account.id, username, f"session={token}", secret)


def published(author: Member, content: str = "The harbour bridge opens again on Monday.", **more: object) -> str:
    """Publishes a post; its id."""
    return made(ask(author.publish(content, **more)))


def made(answer: Reply) -> str:
    """The id of the created thing."""
    assert answer.status == 201, answer
    return str(answer.json()["id"])


def status_counts(answers: Sequence[Reply]) -> Counter[int]:
    """How often which status was answered."""
    return Counter(answer.status for answer in answers)


def stats(server: ServerProcess, post_id: str) -> dict[str, int]:
    """A post's counts of reactions, for a reader who is not signed in."""
    answer = ask(Request(server.port, "GET", f"/api/posts/{post_id}"))
    assert answer.status == 200, answer
    return dict(answer.json()["stats"])


def inconsistencies(server: ServerProcess) -> list[str]:
    """Stops the server: everything in which what it leaves behind does not add up, a sentence each.

    Notifications are among it, as long as nobody blocks, mutes, or is suspended or deleted.
    """
    found: list[str] = []
    if status := server.stop():
        found.append(f"the server ended with {status}: {server.output()}")
    if "DATABASE_URL" in server.settings and (circles := deadlocks(server)):
        found.append(f"PostgreSQL broke {circles} deadlocks")
    return [*found, *miscounts(server), *unheard(server)]


def deadlocks(server: ServerProcess) -> int:
    """How many deadlocks PostgreSQL broke in the server's database.

    Its sessions report what they counted when they end, before they vanish from the list: the server must have
    stopped.
    """
    assert server.ended
    assert wait_until(lambda: rows(server, _SESSIONS) == [(0,)]), "sessions of a server that stopped do not end"
    return int(rows(server, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")[0][0])


def miscounts(server: ServerProcess) -> Iterator[str]:
    """Every counter that is not the number of rows it stands for, a sentence each."""
    for counter, statement in COUNTERS.items():
        for what, counted, there in rows(server, statement):
            if counted != there:
                yield f"{counter} of {what} is {counted} where {there} stand"


_SESSIONS: Final = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)

COUNTERS: Final = {
    "likes": "SELECT id, likes, (SELECT count(*) FROM likes l WHERE l.post_id = p.id) FROM posts p",
    "comments": "SELECT id, comments, (SELECT count(*) FROM comments c WHERE c.post_id = p.id) FROM posts p",
    "shares": "SELECT id, shares, (SELECT count(*) FROM posts b WHERE b.original_id = p.id AND b.deleted_at IS NULL"
    " AND b.type = 'SHARE') FROM posts p",
    "share_count": "SELECT id, share_count, (SELECT count(*) FROM posts b WHERE b.original_id = p.id"
    " AND b.deleted_at IS NULL) FROM posts p",
    "total_votes": "SELECT post_id, total_votes, (SELECT count(*) FROM poll_votes v WHERE v.post_id = p.post_id)"
    " FROM polls p",
    "votes": "SELECT o.post_id || '/' || o.position, o.votes, (SELECT count(*) FROM poll_votes v"
    " WHERE v.post_id = o.post_id AND ' ' || v.choices || ' ' LIKE '% ' || o.position || ' %') FROM poll_options o",
    "total_posts": "SELECT username, total_posts, (SELECT count(*) FROM posts p WHERE p.account_id = a.id"
    " AND p.deleted_at IS NULL) FROM accounts a",
    "public_posts": "SELECT username, public_posts, (SELECT count(*) FROM posts p WHERE p.account_id = a.id"
    " AND p.deleted_at IS NULL AND p.visibility = 'PUBLIC') FROM accounts a",
    "followers_posts": "SELECT username, followers_posts, (SELECT count(*) FROM posts p WHERE p.account_id = a.id"
    " AND p.deleted_at IS NULL AND p.visibility = 'FOLLOWERS') FROM accounts a",
    "connections_posts": "SELECT username, connections_posts, (SELECT count(*) FROM posts p WHERE p.account_id = a.id"
    " AND p.deleted_at IS NULL AND p.visibility = 'CONNECTIONS') FROM accounts a",
    "total_followers": "SELECT username, total_followers, (SELECT count(*) FROM follows f WHERE f.followed_id = a.id)"
    " FROM accounts a",
    "total_following": "SELECT username, total_following, (SELECT count(*) FROM follows f WHERE f.account_id = a.id)"
    " FROM accounts a",
    "used": "SELECT username, coalesce((SELECT sum(used) FROM content_quotas q WHERE q.account_id = a.id), 0),"
    " (SELECT count(*) FROM posts p WHERE p.account_id = a.id AND p.key_id IS NOT NULL) FROM accounts a",
    "post.created": "SELECT username, (SELECT count(*) FROM events e WHERE e.account_id = a.id"
    " AND e.type = 'post.created'), (SELECT count(*) FROM posts p WHERE p.account_id = a.id) FROM accounts a",
    "comment.created": "SELECT username, (SELECT count(*) FROM events e WHERE e.account_id = a.id"
    " AND e.type = 'comment.created'), (SELECT count(*) FROM comments c WHERE c.account_id = a.id) FROM accounts a",
}
"""For each counter a statement that yields its owner, its value, and the number of rows."""
