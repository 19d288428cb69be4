"""Nothing that is kept outlives a change: whoever asks after the answer to a change sees it, while others ask on.

The list of what is kept is in docs/architecture.md#what-is-kept. What a page is made of, one change at a time, is in
tests/pages/test_kept_fragments.py.
"""

import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest

from pressroom.domains.accounts.actions import begin_session
from tests.api.actors import Actor, body_of, new_client, publish
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
CHANGES = 8

Look = Callable[[], Any]
Twins = tuple[LocalServer, LocalServer]


class Reader:
    """Opens pages signed out, or as `cookie`; what it has already it asks for only if it changed."""

    def __init__(self, server: LocalServer, path: str, cookie: str = "") -> None:
        self._client = new_client(headers={"Cookie": cookie} if cookie else {})
        self._address = server.base_url + path
        self._had: httpx.Response | None = None

    def __call__(self) -> httpx.Response:
        """The page as it is now."""
        tag = self._had.headers.get("etag", "") if self._had is not None else ""
        answer = self._client.get(self._address, headers={"If-None-Match": tag} if tag else {})
        if answer.status_code == 304:
            assert self._had is not None
            return self._had
        self._had = answer
        return answer


def change_while_others_look(
    changes: Sequence[Callable[[], object]], looks: Sequence[Look], shows: Callable[[Any, int], bool]
) -> None:
    """Makes changes one after the other while everyone looks.

    Args:
        changes: What to do; each returns when it was answered.
        looks: What each reader does again and again.
        shows: Whether what a reader saw is the state after so many changes.
    """
    begun, answered, stale = [0], [0], list[object]()
    done = threading.Event()

    def look_on(look: Look) -> None:
        while not done.is_set():
            least = answered[0]
            seen = look()
            if not any(shows(seen, number) for number in range(least, begun[0] + 1)):
                stale.append((least, begun[0], seen))

    readers = [threading.Thread(target=look_on, args=[look]) for look in looks]
    for reader in readers:
        reader.start()
    try:
        for number, change in enumerate(changes, 1):
            begun[0] = number
            change()
            answered[0] = number
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert stale == []
    assert all(shows(look(), len(changes)) for look in looks)


def readers(twins: Twins, path: str, cookie: str = "") -> list[Reader]:
    """One at each server."""
    return [Reader(server, path, cookie) for server in twins]


def people(twins: Twins) -> tuple[Actor, Actor]:
    """Two accounts, which write through the first server."""
    return Actor(twins[0]), Actor(twins[0])


def edit(author: Actor, post: dict[str, Any], **changes: object) -> Callable[[], object]:
    return lambda: body_of(author.web.patch(f"/api/posts/{post['id']}", json=changes))


@pytest.mark.parametrize("place", ["permalink", "profile"])
def test_an_edited_post(twins: Twins, place: str) -> None:
    alice, _ = people(twins)
    post = publish(alice, "version 0.")
    path = f"/post/{post['id']}" if place == "permalink" else f"/@{alice.account.username}"

    def shows(seen: httpx.Response, number: int) -> bool:
        return f"version {number}." in seen.text

    edits = [edit(alice, post, content=f"version {number}.") for number in range(1, CHANGES + 1)]
    change_while_others_look(edits, readers(twins, path), shows)


def test_a_changed_audience(twins: Twins) -> None:
    alice, _ = people(twins)
    post = publish(alice, "for some")

    def shows(seen: httpx.Response, number: int) -> bool:
        return seen.status_code == (404 if number % 2 else 200)

    audiences = ["FOLLOWERS", "PUBLIC"] * (CHANGES // 2)
    changes = [edit(alice, post, visibility=each) for each in audiences]
    change_while_others_look(changes, readers(twins, f"/post/{post['id']}"), shows)


def test_a_changed_allowlist(twins: Twins) -> None:
    alice, bob = people(twins)
    post = publish(alice, "for some", visibility="CUSTOM")

    def allow(*usernames: str) -> Callable[[], object]:
        return lambda: body_of(alice.web.put(f"/api/posts/{post['id']}/audience", json={"usernames": usernames}))

    def shows(seen: httpx.Response, number: int) -> bool:
        return seen.status_code == (200 if number % 2 else 404)

    changes = [allow(bob.account.username), allow()] * (CHANGES // 2)
    change_while_others_look(changes, readers(twins, f"/post/{post['id']}", bob.cookie), shows)


def test_a_new_comment(twins: Twins) -> None:
    alice, bob = people(twins)
    path = f"/post/{publish(alice, 'discuss')['id']}"

    def comment(number: int) -> Callable[[], object]:
        content = {"content": f"reply {number}."}
        return lambda: body_of(bob.web.post(f"/api{path.replace('post', 'posts')}/comments", json=content), 201)

    def shows(seen: httpx.Response, number: int) -> bool:
        return sum(f"reply {each}." in seen.text for each in range(1, CHANGES + 1)) == number

    change_while_others_look([comment(number) for number in range(1, CHANGES + 1)], readers(twins, path), shows)


Ask = Callable[[int], int]


def change_who_may_ask(changes: Sequence[Callable[[], object]], ask: Ask) -> None:
    """Ends one credential after the other while two readers ask with any of them; `ask(place)` returns the status."""

    def look() -> tuple[int, int]:
        place = random.randrange(len(changes))
        return place, ask(place)

    def shows(seen: tuple[int, int], number: int) -> bool:
        place, status = seen
        return status == (401 if place < number else 200)

    change_while_others_look(changes, [look, look], shows)
    assert [ask(place) for place in range(len(changes))] == [401] * len(changes)


def test_a_revoked_key(server: LocalServer, actor: MakeActor) -> None:
    alice = actor()
    keys = [(alice.record, alice.key), *(server.key(alice.account) for _ in range(4))]

    def revoke(key_id: str) -> Callable[[], object]:
        return lambda: body_of(alice.web.delete(f"/api/auth/api-keys/{key_id}"))

    def ask(place: int) -> int:
        with new_client(base_url=server.base_url) as client:
            return client.get("/api/auth/me", headers={"Authorization": f"Bearer {keys[place][1]}"}).status_code

    change_who_may_ask([revoke(record.id) for record, _ in keys], ask)


def test_an_ended_session(server: LocalServer, actor: MakeActor) -> None:
    alice = actor()
    tokens = [server.run(server.runtime.db.transact(begin_session, alice.account.id)) for _ in range(5)]

    def ask(place: int, method: str = "GET", path: str = "/api/auth/me") -> int:
        with new_client(base_url=server.base_url) as client:
            return client.request(method, path, headers={"Cookie": f"session={tokens[place]}"}).status_code

    def leave(place: int) -> Callable[[], object]:
        return lambda: ask(place, "POST", "/api/auth/logout")

    change_who_may_ask([leave(place) for place in range(len(tokens))], ask)
