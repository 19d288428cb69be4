"""A webhook endpoint as a test holds it: its owner's hand on the routes, and the receiver's eye on what arrives."""

import itertools
from typing import Any, Final

import httpx

from pressroom.clock import SECOND, iso
from pressroom.domains.events.models import EventType
from pressroom.receivers.verification import verify
from tests.api.actors import Actor, Json, body_of
from tests.harness.receiver import Behaviour, Received, Receiver, Script, answer

DELIVERING: Final[dict[str, object]] = {"DEV": 1}
"""Settings of a server that delivers to the receiver, which speaks http on loopback."""

CHOOSABLE: Final = tuple(event.value for event in EventType if event is not EventType.WEBHOOK_TEST)
LONG_AGO: Final = "2000-01-01T00:00:00Z"

_numbers = itertools.count()


class Endpoint:
    """An endpoint on a path of its own.

    hook = Endpoint.add(alice, receiver, "post.created")
    publish(alice)
    alice.server.deliver()
    assert hook.received[0].event == "post.created"
    """

    def __init__(self, owner: Actor, receiver: Receiver, path: str, created: Json, key_id: str) -> None:
        self.owner = owner
        self.receiver = receiver
        self.path = path
        self.key_id = key_id
        self.created = created
        self.id: str = created["id"]
        self.secret: str = created["secret"]
        self.base = f"{webhooks_of(key_id)}/{self.id}"

    @classmethod
    def add(cls, owner: Actor, receiver: Receiver, *events: str, path: str = "", key_id: str = "") -> "Endpoint":
        """Adds an endpoint to the owner's key, or to the key `key_id`; of every kind unless some are given."""
        path, key_id = path or f"/hook{next(_numbers)}", key_id or owner.record.id
        return cls(owner, receiver, path, body_of(add(owner, receiver.url(path), *events, key_id=key_id), 201), key_id)

    def again(self, *events: str) -> "Endpoint":
        """Removes the endpoint and adds it again, under another id."""
        body_of(self.remove())
        return Endpoint.add(self.owner, self.receiver, *events, path=self.path, key_id=self.key_id)

    def show(self) -> Json:
        """The endpoint as its owner sees it now."""
        return body_of(self.owner.web.get(self.base))

    def remove(self) -> httpx.Response:
        """Takes the endpoint away."""
        return self.owner.web.delete(self.base)

    def test(self) -> httpx.Response:
        """Sends a test."""
        return self.owner.web.post(f"{self.base}/test")

    def rotate(self) -> httpx.Response:
        """Asks for another secret; `secret` stays the same."""
        return self.owner.web.post(f"{self.base}/rotate")

    def redeliver(self, since: int | str = LONG_AGO, until: int | str | None = None, **more: Any) -> httpx.Response:
        """Has events sent again; times are ISO 8601, or milliseconds. `more` goes into the body as it stands."""
        body = {"since": _moment(since), **({} if until is None else {"until": _moment(until)}), **more}
        return self.owner.web.post(f"{self.base}/redeliver", json=body)

    def redelivered(self, since: int | str = LONG_AGO, until: int | str | None = None, **more: Any) -> tuple[int, int]:
        """Has events sent again: how many were queued, and how many were skipped."""
        body = body_of(self.redeliver(since, until, **more))
        assert body.keys() == {"queued", "skippedDuplicates"}
        return body["queued"], body["skippedDuplicates"]

    def deliveries(self) -> list[Json]:
        """Everything the endpoint was sent or is to be sent, newest event first."""
        found: list[Json] = []
        wanted = {"limit": "100"}
        while True:
            page = body_of(self.owner.web.get(f"{self.base}/deliveries", params=wanted))
            found += page["deliveries"]
            if page["nextCursor"] is None:
                return found
            wanted["cursor"] = page["nextCursor"]

    def states(self) -> list[str]:
        """The states of its deliveries, newest event first."""
        return [delivery["state"] for delivery in self.deliveries()]

    def behave(self, *behaviours: Behaviour | Script) -> None:
        """Does these things to the coming deliveries, one each; the last stays."""
        self.receiver.behave(self.path, *behaviours)

    @property
    def received(self) -> list[Received]:
        """Everything that arrived, in order."""
        return self.receiver.of(self.path)

    @property
    def heard(self) -> list[str]:
        """The kinds of what arrived, in order."""
        return [each.event for each in self.received]

    def verify(self, request: Received, *secrets: str) -> None:
        """Raises VerificationFailed unless the request is signed now, with the endpoint's secret or one of these."""
        now = self.owner.server.clock.now() / SECOND
        verify(request.body, request.signature, secrets or self.secret, now=now)


def webhooks_of(key_id: str) -> str:
    """The path of a key's endpoints."""
    return f"/api/auth/api-keys/{key_id}/webhooks"


def add(owner: Actor, url: str, *events: str, key_id: str = "") -> httpx.Response:
    """Asks for an endpoint of the owner's key, or of the key `key_id`; of every kind unless some are given."""
    return owner.web.post(webhooks_of(key_id or owner.record.id), json={"url": url, "events": events or CHOOSABLE})


def _moment(at: int | str) -> str:
    return iso(at) if isinstance(at, int) else at


def disable(hook: Endpoint) -> None:
    """Has an admin disable the endpoint."""
    admin = Actor(hook.owner.server).become_admin()
    path = f"/api/admin/accounts/{hook.owner.account.username}/keys/{hook.key_id}/webhooks/{hook.id}/disable"
    body_of(admin.web.post(path, json={"reason": "It floods."}))


def let_go(*hooks: Endpoint) -> None:
    """Answers held requests, and from now on everything."""
    for hook in hooks:
        hook.behave(answer(200))
        hook.receiver.release(hook.path)
