"""Publishers, endpoints, and the faults of their deliveries."""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from pressroom.receivers.verification import VerificationFailed, verify
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.receiver import Behaviour, Received, Receiver, answer, hold
from tests.harness.records import rows
from tests.harness.stories import Writer
from tests.harness.wire import Reply, Request, ask

PAUSE: Final = 0.1
"""Seconds that an author who was not answered waits on top of what every writer does."""

POST: Final = "post.created"
COMMENT: Final = "comment.created"
QUICK_RETRIES: Final[dict[str, object]] = {"DEV": 1, "WEBHOOK_RETRY_WAITS": "0.2,0.4,0.8,1.6"}
"""Settings with which the receiver can be reached, and a failed delivery is soon tried again."""

SUBJECTS: Final = {POST: "post", COMMENT: "comment"}
"""The place in `data` of an event's subject."""


class Endpoint:
    """A webhook endpoint of an owner's key, added over HTTP."""

    def __init__(self, server: ServerProcess, owner: Owner, key_id: str, url: str, events: Sequence[str]) -> None:
        self.events = events
        self.path = f"/{url.split('/', 3)[3]}"
        self._server = server
        self._owner = owner
        self._route = f"/api/auth/api-keys/{key_id}/webhooks"
        made = self._ask("POST", self._route, {"url": url, "events": list(events)})
        assert made.status == 201, made
        self.secret: str = made.json()["secret"]
        self._route += f"/{made.json()['id']}"

    def show(self) -> Any:
        """The endpoint as its owner sees it."""
        return self._ask("GET", self._route).json()

    def deliveries(self) -> list[Any]:
        """All that it was ever sent, as its owner sees it, newest first."""
        found: list[Any] = []
        cursor = ""
        while True:
            page = self._ask("GET", f"{self._route}/deliveries?limit=100{cursor}").json()
            found += page["deliveries"]
            if page["nextCursor"] is None:
                return found
            cursor = f"&cursor={page['nextCursor']}"

    def states(self) -> Counter[str]:
        """How many of its deliveries are in which state."""
        return Counter(delivery["state"] for delivery in self.deliveries())

    def _ask(self, method: str, route: str, body: Mapping[str, object] | None = None) -> Reply:
        return ask(Request(self._server.port, method, route, {"Cookie": self._owner.cookie}, body))


class Author(Writer):
    """Publishes posts and comments on every fourth of them, each until it is acknowledged."""

    async def publish(self, number: int) -> None:
        """Publishes so many posts."""
        for _ in range(number):
            self._number += 1
            text = f"{self.name} {self._number}"
            post = await self.write("POST", "/api/posts", {"content": text})
            self.posts[post["id"]] = text
            if self._number % 4 == 0:
                comment = await self.write("POST", f"/api/posts/{post['id']}/comments", {"content": text})
                self.comments[comment["id"]] = text
        self.hang_up()

    async def _ask(self, request: Request) -> Reply | None:
        reply = await super()._ask(request)
        if reply is None:
            # A hundred who knock without a pause would keep the server from coming back.
            await asyncio.sleep(PAUSE)
        return reply


class Moody:
    """Answers every twentieth request 500, and remembers to which envelopes."""

    def __init__(self) -> None:
        self.refused: Counter[str] = Counter()
        self._requests = 0

    def __call__(self, request: Received) -> Behaviour:
        self._requests += 1
        if self._requests % 20:
            return answer(200)
        self.refused[request.id] += 1
        return answer(500)


class Newsroom:
    """An account with four authors and three endpoints.

    One hears of everything; a moody one of posts; a slow one, whose answers are held, of comments.
    """

    def __init__(self, server: ServerProcess, receiver: Receiver, name: str) -> None:
        owner = Owner(server, name)
        key = owner.new_key("all", ("posts:write", "comments:write")).json()
        self.authors = [Author(server, key["key"], f"{name}-author{n}") for n in range(4)]
        self.everything, self.moody, self.slow = self.endpoints = [
            Endpoint(server, owner, key["id"], receiver.url(f"/{kind}/{name}"), events)
            for kind, events in (("everything", (POST, COMMENT)), ("moody", (POST,)), ("slow", (COMMENT,)))
        ]
        self.mood = Moody()
        receiver.behave(self.moody.path, self.mood)
        receiver.behave(self.slow.path, hold())

    def due(self, endpoint: Endpoint) -> dict[str, str]:
        """The events for an endpoint: ids of posts and comments, and their texts."""
        posts = {id_: text for author in self.authors for id_, text in author.posts.items()}
        comments = {id_: text for author in self.authors for id_, text in author.comments.items()}
        return {**(posts if POST in endpoint.events else {}), **(comments if COMMENT in endpoint.events else {})}


def wait_until_settled(server: ServerProcess, seconds: float = 120) -> None:
    """Waits until nothing is to be delivered any more, and nobody is about to."""
    deadline = time.monotonic() + seconds
    while (unsettled := left_over(server)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert unsettled == [], f"not within {seconds:g} s: {unsettled}"


def left_over(server: ServerProcess) -> list[str]:
    """The faults once everything is delivered: deliveries, leases, endpoints."""
    return [f"{what}: {found}" for what, statement in _LEFT_OVER.items() if (found := rows(server, statement)[0][0])]


_LEFT_OVER: Final = {
    "deliveries not delivered": "SELECT count(*) FROM deliveries WHERE state <> 'delivered'",
    "leases": "SELECT count(*) FROM webhooks WHERE lease_token IS NOT NULL OR leased_until <> 0",
    "endpoints that still have something to do": "SELECT count(*) FROM webhooks WHERE next_due_at IS NOT NULL",
    "endpoints that fail or are disabled": "SELECT count(*) FROM webhooks"
    " WHERE consecutive_failures <> 0 OR probe_at IS NOT NULL OR disabled_at IS NOT NULL",
}


def complaints(endpoint: Endpoint, came: Sequence[Received], due: Mapping[str, str]) -> Iterator[str]:
    """All faults of the deliveries to an endpoint that was to get `due`; a sentence each.

    Several arrivals of one envelope are nothing to complain of.
    """
    bodies: defaultdict[str, set[bytes]] = defaultdict(set)
    envelopes: defaultdict[str, set[str]] = defaultdict(set)
    for request in came:
        bodies[request.id].add(request.body)
        subject = request.envelope["data"][SUBJECTS[request.event]]
        envelopes[subject["id"]].add(request.id)
        if due.get(subject["id"]) != subject["content"]:
            yield f"{endpoint.path} was told of {subject}, and {due.get(subject['id'])!r} was published"
        yield from (f"{endpoint.path}: {fault} in {request}" for fault in _wrong_in(endpoint, request))
    yield from (f"{id_} came in {len(each)} ways" for id_, each in bodies.items() if len(each) > 1)
    yield from (f"{subject_id} came as {ids}" for subject_id, ids in envelopes.items() if len(ids) > 1)
    yield from (f"{endpoint.path} was not told of {due[subject_id]!r}" for subject_id in due.keys() - envelopes.keys())
    yield from _contradictions(endpoint, bodies.keys())


def _wrong_in(endpoint: Endpoint, request: Received) -> Iterator[str]:
    """The faults of one request by itself."""
    if (request.event, request.id) != (request.envelope["event"], request.envelope["id"]):
        yield "headers that differ from the envelope"
    if request.event not in endpoint.events:
        yield "an event that was not chosen"
    try:
        verify(request.body, request.signature, endpoint.secret)
    except VerificationFailed as failure:
        yield str(failure)


def _contradictions(endpoint: Endpoint, came: Collection[str]) -> Iterator[str]:
    """Where the list of deliveries and the endpoint's own account differ."""
    listed = endpoint.deliveries()
    if (ids := Counter(delivery["id"] for delivery in listed)) != Counter(came):
        yield f"{endpoint.path} lists {ids - Counter(came)} too many and {Counter(came) - ids} too few"
    for delivery in listed:
        ended = [attempt["status"] for attempt in delivery["attempts"]]
        if delivery["state"] != "delivered" or ended.count("succeeded") != 1 or ended[-1] != "succeeded":
            yield f"{endpoint.path} lists {delivery}"
