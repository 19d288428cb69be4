"""Receivers of every bad kind, all at once: each outcome is the documented one, and nobody else notices."""

import asyncio
import datetime
import re
import ssl
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import trustme

import pressroom.server.runtime
from pressroom.clock import MINUTE, parse_iso
from pressroom.outbound import OutboundClient, Policy
from tests.api.actors import Actor, Json, body_of
from tests.harness.behaviours import MEGABYTE, Exchange
from tests.harness.local import LocalServer
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.receiver import (
    Behaviour,
    Receiver,
    answer,
    close,
    close_at_once,
    drip,
    endless,
    gzip_bomb,
    malformed,
    never,
    redirect,
    reset,
)
from tests.outbound.certificates import YEAR, self_signed, serving
from tests.outbound.peers import names
from tests.webhooks.clocked import post
from tests.webhooks.endpoints import Endpoint, add, webhooks_of
from tests.webhooks.workers import wait_until

METADATA = "http://169.254.169.254/latest/meta-data/"
LATE = "No complete answer within 10 seconds."
CLOSED = r"The connection was closed (without an answer|before the answer was complete)\."
NO_HTTP = r"The answer (is not HTTP, or its head is too long|goes on without an end)\."
REDIRECTED = "The endpoint answered 30[12]: redirects are not followed. Add the address it leads to."
TERABYTE = 1 << 40
GROWTH = 60 * MEGABYTE
FINE = 2
POSTS = 10


def drip_body() -> Behaviour:
    """Sends the head at once and the body a byte a second."""

    async def act(exchange: Exchange) -> None:
        exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            exchange.write(b"x")
            await asyncio.sleep(1)

    return Behaviour(act)


@dataclass(frozen=True)
class Case:
    """A receiver's behaviour, and the expected record. `error` is a pattern; None: it is a success."""

    behaviour: Behaviour
    code: int | None
    error: str | None = None
    body: str | None = None
    state: str = "pending"


CASES = {
    "200": Case(answer(200, body=b"y" * 5_000), 200, body="y" * 2_048),
    "204": Case(answer(204), 204, body=""),
    "301": Case(answer(301, {"Location": "/elsewhere"}), 301, REDIRECTED),
    "metadata": Case(redirect(METADATA), 302, REDIRECTED),
    "400": Case(answer(400, body=b"\x00\xff<script>"), 400, "The endpoint answered 400.", "\ufffd\ufffd<script>"),
    "410": Case(answer(410), 410, "The endpoint answered 410.", state="failed"),
    "429": Case(answer(429, {"Retry-After": "3600"}), 429, "The endpoint answered 429."),
    "500": Case(answer(500, body=b"oops"), 500, "The endpoint answered 500.", "oops"),
    "never": Case(never(), None, LATE),
    "drip": Case(drip(), None, LATE),
    "drip body": Case(drip_body(), None, LATE),
    "close": Case(close(), None, CLOSED),
    "close at once": Case(close_at_once(), None, CLOSED),
    "reset": Case(reset(), None, CLOSED),
    "malformed": Case(malformed(), None, NO_HTTP),
    "no end of head": Case(malformed(b"HTTP/1.1 200 OK\r\n" + b"X-More: x\r\n" * 100_000), None, NO_HTTP),
    "no end of lines": Case(malformed(b"HTTP/1.1 200 OK\r\nX: " + b"x" * MEGABYTE), None, NO_HTTP),
    "half a body": Case(malformed(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), None, CLOSED),
    "switches": Case(
        malformed(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
        None,
        "The answer switches to another protocol.|The connection was closed.*",
    ),
    "endless": Case(endless(TERABYTE), 200, body="x" * 2_048),
    "endless in chunks": Case(endless(TERABYTE, chunked=True), 200, body="x" * 2_048),
    "endless failure": Case(endless(TERABYTE, status=500), 500, "The endpoint answered 500.", "x" * 2_048),
    "gzip bomb": Case(gzip_bomb(), 200),
}


class Publisher:
    """Somebody signed in at a server process, with as many keys and endpoints as that takes."""

    def __init__(self, server: ServerProcess) -> None:
        owner = Owner(server)
        self.web = httpx.Client(base_url=server.base_url, headers={"Cookie": owner.cookie}, timeout=20)
        self._keys = [str(owner.new_key().json()["id"]) for _ in range(5)]
        self._added = 0

    def add(self, url: str) -> str:
        """Adds an endpoint; its own address."""
        base = webhooks_of(self._keys[self._added // 5])
        self._added += 1
        added = body_of(self.web.post(base, json={"url": url, "events": ["post.created"]}), 201)
        return f"{base}/{added['id']}"

    def post(self) -> None:
        body_of(self.web.post("/api/posts", json={"content": "Hello"}), 201)

    def first(self, base: str) -> Json:
        """The endpoint's delivery of the oldest event."""
        found: Json = body_of(self.web.get(f"{base}/deliveries?limit=100"))["deliveries"][-1]
        return found


@contextmanager
def peak(pid: int) -> Generator[Callable[[], int]]:
    """Watches a process: by how many bytes its memory has grown at the most."""
    process, over = psutil.Process(pid), threading.Event()
    before = process.memory_info().rss
    most = [before]

    def watch() -> None:
        while not over.wait(0.02):
            most.append(max(most.pop(), process.memory_info().rss))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield lambda: most[0] - before
    finally:
        over.set()
        watching.join()


def test_every_bad_receiver_at_once(process_server: Callable[..., ServerProcess]) -> None:
    server = process_server(DEV=1).start()
    publisher = Publisher(server)
    with Receiver() as receiver, publisher.web, peak(server.pid) as growth:
        bad = {name: publisher.add(receiver.url(path_of(name))) for name in CASES}
        for name, case in CASES.items():
            receiver.behave(path_of(name), case.behaviour)
        fine = [f"/fine{number}" for number in range(FINE)]
        for path in fine:
            publisher.add(receiver.url(path))
        publisher.post()
        receiver.wait(lambda receiver: all(receiver.count(path_of(name)) for name in bad))
        for _ in range(POSTS - 1):
            publisher.post()
        receiver.wait(lambda receiver: all(receiver.count(path) == POSTS for path in fine))
        slow = [name for name in bad if CASES[name].error == LATE]
        assert [receiver.in_flight[path_of(name)] for name in slow] == [1] * len(slow), "they still hang"
        for name, base in bad.items():
            wait_until(lambda base=base: bool(publisher.first(base)["attempts"]))
            check(name, CASES[name], publisher.first(base))
        assert receiver.count("/elsewhere") == 0
        assert body_of(publisher.web.get(bad["410"]))["status"] == "disabled"
        assert growth() < GROWTH
    assert "Traceback" not in server.output()
    assert server.stop() == 0


def path_of(name: str) -> str:
    return f"/{name.replace(' ', '-')}"


def check(name: str, case: Case, delivery: Json) -> None:
    """Whether the delivery's record tells the receiver's behaviour, and nothing of our insides."""
    first = delivery["attempts"][0]
    succeeded = case.error is None
    assert delivery["state"] == ("delivered" if succeeded else case.state), name
    assert (first["status"], first["httpCode"]) == ("succeeded" if succeeded else "failed", case.code), name
    assert (first["error"] is None) == succeeded, name
    if case.error is not None:
        assert re.fullmatch(case.error, first["error"]), (name, first["error"])
    assert (first["responseBody"] is None) == (case.code is None), name
    assert len(first["responseBody"] or "") <= 2_048, name
    assert case.body is None or first["responseBody"] == case.body, name
    assert (first["durationMs"] >= 9_000) == (case.error == LATE), name
    wait = parse_iso(delivery["nextAttemptAt"]) - parse_iso(first["at"]) if delivery["nextAttemptAt"] else None
    assert (wait is None) == (delivery["state"] != "pending"), name
    assert name != "429" or (wait is not None and wait >= 60 * MINUTE)


MakeServer = Callable[..., LocalServer]


@pytest.fixture
def known() -> dict[str, list[str]]:
    """The names that resolve, and to what."""
    return {name: ["127.0.0.1"] for name in ("hook.example", "other.example")}


@pytest.fixture
def authority(known: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch) -> trustme.CA:
    """The one that the servers of these tests trust; they resolve the known names alone."""
    authority = trustme.CA()
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    def open_client(policy: Policy, **options: Any) -> OutboundClient:
        options |= {"resolve": names(known), "tls": trusting}
        return OutboundClient(policy, **options)

    monkeypatch.setattr(pressroom.server.runtime, "OutboundClient", open_client)
    return authority


def errors(owner: Actor, url: str) -> list[str | None]:
    """Adds an endpoint, has something sent to it, and tells what went wrong."""
    created = body_of(add(owner, url, "post.created"), 201)
    post(owner)
    owner.server.deliver()
    base = f"{webhooks_of(owner.record.id)}/{created['id']}"
    attempts = [each["attempts"] for each in body_of(owner.web.get(f"{base}/deliveries"))["deliveries"]]
    body_of(owner.web.delete(base))
    return [attempt["error"] for each in attempts for attempt in each]


def test_bad_certificates(local_server: MakeServer, authority: trustme.CA, tmp_path: Path) -> None:
    past, name = datetime.datetime.now(datetime.UTC) - YEAR, "hook.example"
    contexts = {
        "good": serving(authority.issue_cert(name)),
        "expired": serving(authority.issue_cert(name, not_before=past - YEAR, not_after=past)),
        "self-signed": self_signed(tmp_path),
        "untrusted": serving(trustme.CA().issue_cert(name)),
    }
    alice = Actor(local_server(DEV=1))
    told: dict[str, Any] = {}
    received: dict[str, int] = {}
    for kind, context in contexts.items():
        with Receiver(context) as receiver:
            told[kind] = errors(alice, receiver.url("/", host=name))
            received[kind] = receiver.count()
            if kind == "good":
                told["wrong name"] = errors(alice, receiver.url("/", host="other.example"))
                told["bare address"] = errors(alice, receiver.url("/"))
    assert received == {"good": 1, "expired": 0, "self-signed": 0, "untrusted": 0}
    assert told.pop("untrusted")[0].startswith("The certificate comes from an authority that is not trusted")
    assert told == {
        "good": [None],
        "expired": ["The certificate has expired."],
        "self-signed": ["The certificate is self-signed."],
        "wrong name": ["The certificate is not for this host name."],
        "bare address": ["The certificate is not for this address."],
    }


@pytest.mark.parametrize("inside", ["127.0.0.1", "169.254.169.254", "10.0.0.7", "::1", "::ffff:127.0.0.1"])
def test_rebound_name_is_not_connected_to(
    local_server: MakeServer, authority: trustme.CA, known: dict[str, list[str]], inside: str
) -> None:
    alice = Actor(local_server(BASE_URL="https://pressroom.example"))
    name = "rebound.example"
    known[name] = ["93.184.216.34"]
    with Receiver(serving(authority.issue_cert(name))) as receiver:
        created = body_of(add(alice, receiver.url("/", host=name), "post.created"), 201)
        hook = Endpoint(alice, receiver, "/", created, alice.record.id)
        known[name] = [inside]
        post(alice)
        alice.server.deliver()
        (attempt,) = hook.deliveries()[0]["attempts"]
        assert attempt["error"] == "The host does not resolve, or not to public addresses alone; use a public host."
        assert inside not in add(alice, receiver.url("/", host=name), "post.created").text
        assert (attempt["httpCode"], hook.show()["consecutiveFailures"]) == (None, 1)
        assert receiver.connections == 0
        known.pop(name)
        alice.server.clock.advance(2 * MINUTE)
        alice.server.deliver()
        latest = hook.deliveries()[0]["attempts"][-1]
        assert latest["error"] == "The host does not resolve, or not to public addresses alone; use a public host."
