"""Nobody learns from refusals which names resolve inside the operator's network, nor to what."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pressroom.clock import MINUTE
from tests.api.actors import Actor, Json, body_of
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.webhooks.clocked import post
from tests.webhooks.endpoints import add, webhooks_of

PUBLIC = ["93.184.216.34"]
KNOWN: dict[str, list[str]] = {
    "private": ["10.0.0.7"],
    "loopback": ["127.0.0.1"],
    "link-local": ["169.254.169.254"],
    "of both": [*PUBLIC, "10.0.0.7"],
    "without an address": [],
}
HOST = "name.example"


class Names:
    """A name server that knows one name, or does not."""

    def __init__(self) -> None:
        self.addresses: list[str] | None = None
        self.asked = 0

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked += 1
        if self.addresses is None:
            raise OSError("no such name")
        return self.addresses


@pytest.fixture
def resolver() -> Names:
    return Names()


@pytest.fixture
def alice(tmp_path: Path, resolver: Names) -> Iterator[Actor]:
    """On a server that is not in development mode."""
    server = LocalServer(tmp_path, resolver, **ROOMY).start()
    alice = Actor(server)
    yield alice
    for client in alice.clients():
        client.close()
    server.stop()


def told(response: httpx.Response) -> tuple[int, Json]:
    """Status and body of a refusal."""
    return response.status_code, {name: value for name, value in response.json().items() if name != "requestId"}


@pytest.mark.parametrize("addresses", KNOWN.values(), ids=KNOWN)
def test_a_refused_url_does_not_tell_whether_its_name_resolves(
    alice: Actor, resolver: Names, addresses: list[str]
) -> None:
    resolver.addresses = PUBLIC
    first = body_of(add(alice, f"https://{HOST}/first"), 201)
    replace = f"{webhooks_of(alice.record.id)}/{first['id']}/replace"
    answers: list[list[tuple[int, Json]]] = []
    looked_up: list[int] = []
    for known in (None, addresses):
        resolver.addresses, resolver.asked = known, 0
        body = {"url": f"https://{HOST}/", "events": ["post.created"]}
        answers.append([told(add(alice, f"https://{HOST}/")), told(alice.web.post(replace, json=body))])
        looked_up.append(resolver.asked)

    assert answers[0] == answers[1]
    assert looked_up == [2, 2]
    assert all(status == 400 and HOST not in str(body) for status, body in answers[0])


@pytest.mark.parametrize("addresses", KNOWN.values(), ids=KNOWN)
def test_an_attempt_does_not_tell_whether_the_name_resolves(
    alice: Actor, resolver: Names, addresses: list[str]
) -> None:
    resolver.addresses = PUBLIC
    created = body_of(add(alice, f"https://{HOST}/", "post.created"), 201)
    base = f"{webhooks_of(alice.record.id)}/{created['id']}"
    post(alice)
    for known in (None, addresses):
        resolver.addresses = known
        alice.server.deliver()
        alice.server.clock.advance(3 * MINUTE)
    (delivery,) = body_of(alice.web.get(f"{base}/deliveries"))["deliveries"]
    gone, inside = delivery["attempts"]

    assert gone["error"] == inside["error"]
    assert (gone["httpCode"], gone["responseBody"]) == (inside["httpCode"], inside["responseBody"]) == (None, None)
    alice.server.runtime.log.flush()
    log = alice.server.stream.getvalue()
    assert f"The name {HOST} does not resolve." in log
    assert not addresses or f"The host resolves to {addresses[-1]}" in log


@pytest.mark.parametrize("addresses", KNOWN.values(), ids=KNOWN)
def test_a_link_preview_does_not_tell_whether_the_name_resolves(
    alice: Actor, resolver: Names, addresses: list[str]
) -> None:
    shown: list[object] = []
    for path, known in enumerate((None, addresses)):
        resolver.addresses = known
        url = f"https://{HOST}/{path}"
        response = alice.api.post("/api/posts", json={"content": "Words.", "linkPreviewUrl": url})
        alice.server.do_jobs()
        shown.append(
            (
                response.status_code,
                response.json()["linkPreview"],
                alice.web.get(f"/api/posts/{response.json()['id']}").json()["linkPreview"],
            )
        )

    assert shown[0] == shown[1] == (201, None, None)
