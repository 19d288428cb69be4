"""A text is scanned once on its way through a write, and looking ahead refuses what the write refuses."""

import sys
from collections.abc import Callable, Iterator

import httpx
import pytest

from pressroom import entities
from pressroom.entities import Entity
from tests.api.actors import Actor, publish
from tests.api.conftest import MakeActor
from tests.corpus.pictures import noise, saved
from tests.harness.local import LocalServer

FULL = "See https://example.org/a, #printing and @nobody_of_this_name"
"""A text with one of each that a scan looks for."""

PLAIN = "Nothing to fetch for #printing"

Write = Callable[[Actor, str, str], httpx.Response]
"""A write of the actor's with a text, on a post of theirs."""


class Scans:
    """The texts that were scanned, in their order."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def spy(self, scan: Callable[[str], Iterator[Entity]]) -> Callable[[str], Iterator[Entity]]:
        def scan_and_note(content: str) -> Iterator[Entity]:
            self.texts.append(content)
            return scan(content)

        return scan_and_note


@pytest.fixture
def scans(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> Scans:
    """Notes each scan of a request, whichever module asks for it."""
    server.keep_still()  # The index of the search scans each text in the background.
    made, scan = Scans(), entities.find_entities
    for name, module in list(sys.modules.items()):
        if name.startswith("pressroom") and getattr(module, "find_entities", None) is scan:
            monkeypatch.setattr(module, "find_entities", made.spy(scan))
    return made


def upload(actor: Actor, content: str) -> httpx.Response:
    files = {"media": ("a.png", saved(noise(8, 8), "PNG"), "image/png")}
    return actor.api.post("/api/posts/upload", data={"content": content}, files=files)


WRITES: dict[str, Write] = {
    "create": lambda actor, _, content: actor.post(content),
    "create with a forced link": lambda actor, _, content: actor.api.post(
        "/api/posts", json={"content": content, "linkPreviewUrl": "https://example.org/b"}
    ),
    "create signed in": lambda actor, _, content: actor.web.post("/api/posts", json={"content": content}),
    "create, repeatable": lambda actor, _, content: actor.post(content, "once"),
    "edit": lambda actor, post_id, content: actor.api.patch(f"/api/posts/{post_id}", json={"content": content}),
    "quote": lambda actor, post_id, content: actor.api.post(f"/api/posts/{post_id}/bounce", json={"content": content}),
    "upload": lambda actor, _, content: upload(actor, content),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_a_text_is_scanned_once(alice: Actor, scans: Scans, write: Write) -> None:
    post_id: str = publish(alice)["id"]
    scans.texts.clear()

    assert write(alice, post_id, FULL).status_code in {200, 201}

    assert scans.texts == [FULL]


def test_an_edit_of_the_visibility_scans_the_text_that_stays_once(alice: Actor, scans: Scans) -> None:
    post_id: str = publish(alice, FULL)["id"]
    scans.texts.clear()

    assert alice.api.patch(f"/api/posts/{post_id}", json={"visibility": "FOLLOWERS"}).status_code == 200

    assert scans.texts == [FULL]


def test_page_without_text_is_not_scanned(alice: Actor, scans: Scans) -> None:
    """A comment is linked on its page alone, and a plain bounce says nothing."""
    post_id: str = publish(alice, FULL)["id"]
    scans.texts.clear()

    assert alice.api.post(f"/api/posts/{post_id}/comments", json={"content": FULL}).status_code == 201
    assert alice.api.post(f"/api/posts/{post_id}/bounce").status_code == 201
    assert alice.api.delete(f"/api/posts/{post_id}").status_code == 200

    assert not scans.texts


def of_mine(alice: Actor, bob: Actor) -> str:
    return str(publish(alice)["id"])


def hidden_of_mine(alice: Actor, bob: Actor) -> str:
    return str(publish(alice, visibility="FOLLOWERS")["id"])


def of_another(alice: Actor, bob: Actor) -> str:
    return str(publish(bob)["id"])


def hidden_of_another(alice: Actor, bob: Actor) -> str:
    return str(publish(bob, visibility="PRIVATE")["id"])


def plain_bounce_of_mine(alice: Actor, bob: Actor) -> str:
    bounce: str = alice.api.post(f"/api/posts/{of_another(alice, bob)}/bounce").json()["id"]
    return bounce


def deleted_of_mine(alice: Actor, bob: Actor) -> str:
    post_id = of_mine(alice, bob)
    alice.api.delete(f"/api/posts/{post_id}")
    return post_id


def create_in_a_hub(actor: Actor, _: str, content: str) -> httpx.Response:
    return actor.api.post("/api/posts", json={"content": content, "hubId": "absent"})


REFUSED: list[tuple[Callable[[Actor, Actor], str], Write, int]] = [
    (of_mine, create_in_a_hub, 422),
    (of_another, WRITES["edit"], 404),
    (deleted_of_mine, WRITES["edit"], 404),
    (plain_bounce_of_mine, WRITES["edit"], 422),
    (hidden_of_mine, WRITES["quote"], 422),
    (hidden_of_another, WRITES["quote"], 404),
    (deleted_of_mine, WRITES["quote"], 404),
]


@pytest.mark.parametrize(("post", "write", "status"), REFUSED)
def test_looking_ahead_refuses_as_the_write_does(
    actor: MakeActor, post: Callable[[Actor, Actor], str], write: Write, status: int
) -> None:
    """A text with a link is looked at before its page is fetched, one without by the write alone."""
    alice, bob = actor(), actor()
    post_id = post(alice, bob)

    looked_at, written = write(alice, post_id, FULL), write(alice, post_id, PLAIN)

    assert looked_at.status_code == written.status_code == status
    assert looked_at.json() == written.json()


@pytest.mark.parametrize("write", [WRITES["create"], WRITES["quote"]])
def test_looking_ahead_sees_the_quota_as_the_write_does(
    alice: Actor, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    post_id: str = publish(alice)["id"]
    monkeypatch.setattr(alice.server.runtime.settings, "daily_content_quota", 1)

    looked_at, written = write(alice, post_id, FULL), write(alice, post_id, PLAIN)

    assert looked_at.status_code == written.status_code == 429
    assert looked_at.json()["error"] == written.json()["error"] == "Daily content quota exceeded"
