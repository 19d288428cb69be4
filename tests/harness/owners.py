"""Somebody with an account: signs up over HTTP, makes keys, and writes the requests that tests send."""

from collections.abc import Sequence

from tests.harness.process import ServerProcess
from tests.harness.wire import Reply, Request, ask


class Owner:
    """An account made on a running server, signed in."""

    def __init__(self, server: ServerProcess, username: str = "alice") -> None:
        answer = ask(sign_up(server, username))
        assert answer.status == 201, answer
        self.id: str = answer.json()["id"]
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        self._port = server.port

    def key(self, label: str = "test", scopes: Sequence[str] = ("posts:write",)) -> str:
        """Makes a key that may publish, or what `scopes` say; the key."""
        return str(self.new_key(label, scopes).json()["key"])

    def new_key(self, label: str = "test", scopes: Sequence[str] = ("posts:write",)) -> Reply:
        """Makes a key; the whole answer."""
        answer = ask(self.create_key(label, scopes))
        assert answer.status == 201, answer
        return answer

    def create_key(self, label: str = "test", scopes: Sequence[str] = ("posts:write",)) -> Request:
        """The request that makes a key."""
        body = {"label": label, "scopes": list(scopes)}
        return Request(self._port, "POST", "/api/auth/api-keys", {"Cookie": self.cookie}, body)

    def revoke(self, key_id: str) -> Request:
        """The request that takes a key back."""
        return Request(self._port, "DELETE", f"/api/auth/api-keys/{key_id}", {"Cookie": self.cookie})


def sign_up(server: ServerProcess, username: str) -> Request:
    """The request that makes an account."""
    body = {"username": username, "email": f"{username}@example.org", "password": "correct horse"}
    return Request(server.port, "POST", "/api/auth/signup", {}, body)


def publish(server: ServerProcess, key: str, content: str, idempotency_key: str | None = None) -> Request:
    """The request that publishes a post."""
    headers = {"Authorization": f"Bearer {key}"}
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
    return Request(server.port, "POST", "/api/posts", headers, {"content": content})


def who_am_i(server: ServerProcess, key: str) -> Request:
    """The cheapest request that a key may send."""
    return Request(server.port, "GET", "/api/auth/me", {"Authorization": f"Bearer {key}"})
