"""Cached parts of pages are never shown after a change: a server with a cache answers like a new one."""

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from pressroom.clock import DAY, HOUR
from pressroom.domains.moderation.actions import suspend_account
from pressroom.web import codings
from pressroom.web.codings import Coding, Levels, compress
from pressroom.web.fragments import Kept
from tests.api.actors import Actor, Json, body_of, publish
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.reader import fetch, told

SETTINGS = ROOMY

Change = Callable[["Scene"], object]


@contextmanager
def nothing_kept() -> Generator[None]:
    """Meanwhile nothing that was kept is found."""
    with pytest.MonkeyPatch.context() as patch:

        def find(_kept: Kept[Any], _key: bytes) -> None:
            return None

        patch.setattr(Kept, "find", find)
        yield


class Scene:
    """A post with a comment, its bounce and its author's profile, opened before by somebody who is signed out."""

    def __init__(self, alice: Actor, bob: Actor) -> None:
        self.server, self.alice, self.bob = alice.server, alice, bob
        self.post = publish(alice, "Heron of yesterday", poll={"options": ["x", "y"], "durationMinutes": 60})
        self.comment = self.reply("Stork of yesterday")
        body_of(bob.web.post(f"/api/posts/{self.post['id']}/bounce", json={"content": "Crane"}), 201)
        for _ in range(2):
            self.open()

    @property
    def paths(self) -> list[str]:
        """The pages on which the post is."""
        authors = [f"/@{each.account.username}" for each in (self.alice, self.bob)]
        return [f"/post/{self.post['id']}", *authors]

    def open(self) -> list[httpx.Response]:
        """Opens every page, signed out."""
        return [fetch(self.server, path) for path in self.paths]

    def reply(self, content: str) -> Json:
        """Comments on the post, as Bob."""
        return body_of(self.bob.web.post(f"/api/posts/{self.post['id']}/comments", json={"content": content}), 201)

    def edit(self, **changes: object) -> None:
        """Edits the post."""
        body_of(self.alice.web.patch(f"/api/posts/{self.post['id']}", json=changes))

    def suspend(self) -> None:
        """Suspends the author."""
        self.server.run(self.server.runtime.db.transact(suspend_account, self.alice.account.username))


CHANGES: dict[str, Change] = {
    "edited post": lambda scene: scene.edit(content="Ibis of today"),
    "narrower audience": lambda scene: scene.edit(visibility="FOLLOWERS"),
    "deleted post": lambda scene: scene.alice.web.delete(f"/api/posts/{scene.post['id']}"),
    "new comment": lambda scene: scene.reply("Ibis"),
    "edited comment": lambda scene: scene.bob.web.patch(
        f"/api/comments/{scene.comment['id']}", json={"content": "Ibis"}
    ),
    "deleted comment": lambda scene: scene.bob.web.delete(f"/api/comments/{scene.comment['id']}"),
    "author of another name": lambda scene: scene.alice.web.patch("/api/auth/me", json={"displayName": "Dr. Ibis"}),
    "commenter of another name": lambda scene: scene.bob.web.patch("/api/auth/me", json={"displayName": "Dr. Ibis"}),
    "private author": lambda scene: scene.alice.web.patch("/api/auth/me", json={"isPrivate": True}),
    "suspended author": Scene.suspend,
    "liked": lambda scene: scene.bob.web.post(f"/api/posts/{scene.post['id']}/like"),
    "voted": lambda scene: scene.bob.web.post(f"/api/posts/{scene.post['id']}/poll/votes", json={"choices": [0]}),
    "an hour later": lambda scene: scene.server.clock.advance(HOUR),
    "a month later": lambda scene: scene.server.clock.advance(30 * DAY),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen_by_the_next_reader(still: LocalServer, actor: MakeActor, change: str) -> None:
    scene = Scene(actor(), actor())
    before = [told(page) for page in scene.open()]

    CHANGES[change](scene)

    warm = [told(page) for page in scene.open()]
    with nothing_kept():
        cold = [told(page) for page in scene.open()]
    assert warm == cold
    assert warm != before


def test_pages_of_sessions_are_not_shared(still: LocalServer, actor: MakeActor) -> None:
    scene = Scene(actor(), actor())
    signed_out = [told(page) for page in scene.open()]
    followers_only = publish(scene.alice, "For followers", visibility="FOLLOWERS")

    for reader in (scene.alice, scene.bob):
        for path in scene.paths:
            fetch(still, path, reader)
    assert fetch(still, f"/post/{followers_only['id']}", scene.alice).status_code == 200

    with nothing_kept():
        assert [told(page) for page in scene.open()] == [told(page) for page in scene.open()]
    again = scene.open()
    assert [told(page) for page in again] == signed_out
    assert not any("For followers" in page.text for page in again)
    assert fetch(still, f"/post/{followers_only['id']}").status_code == 404


def test_a_page_that_did_not_change_is_not_sent_again(still: LocalServer, actor: MakeActor) -> None:
    scene = Scene(actor(), actor())
    for path, page in zip(scene.paths, scene.open(), strict=True):
        unchanged = fetch(still, path, None, "GET", **{"If-None-Match": page.headers["etag"]})
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        assert unchanged.headers["etag"] == page.headers["etag"]
        assert unchanged.headers["content-security-policy"] == page.headers["content-security-policy"]
        signed_in = fetch(still, path, scene.bob, "GET", **{"If-None-Match": page.headers["etag"]})
        assert signed_in.status_code == 200

    tags = [page.headers["etag"] for page in scene.open()]
    scene.edit(content="Ibis of today")

    for path, tag in zip(scene.paths, tags, strict=True):
        changed = fetch(still, path, None, "GET", **{"If-None-Match": tag})
        assert (changed.status_code, "Ibis of today" in changed.text) == (200, True)


def test_a_page_that_did_not_change_is_compressed_once_in_each_coding(
    still: LocalServer, actor: MakeActor, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = Counter[tuple[bytes, Coding]]()

    def counted(body: bytes, coding: Coding, levels: Levels) -> bytes:
        packed[body, coding] += 1
        return compress(body, coding, levels)

    monkeypatch.setattr(codings, "compress", counted)
    scene = Scene(actor(), actor())

    def open_all(*codings: Coding) -> list[bytes]:
        return [
            fetch(still, path, None, "GET", **{"Accept-Encoding": coding}).content
            for coding in codings
            for path in scene.paths
        ]

    packed.clear()
    first = open_all(*Coding)
    assert [open_all(*Coding) for _ in range(3)] == [first] * 3
    assert len(packed) <= len(Coding) * len(scene.paths)
    assert set(packed.values()) <= {1}

    scene.edit(content="Ibis of today")
    assert open_all(*Coding) != first
    assert set(packed.values()) == {1}
    shared = len(packed)
    fetch(still, scene.paths[0], scene.bob, "GET", **{"Accept-Encoding": "zstd"})
    assert len(packed) == shared, "a page of one reader was kept"
