"""No cache outlives a change: a request after the answer to a change sees it, while others ask on.

The list of caches is in docs/architecture.md#caches. The parts of a page, one change at a time, are in
tests/pages/test_kept_fragments.py.
"""

from typing import Any

import httpx
import pytest

from pressroom.domains.sign_in.sessions import begin_session
from tests.api.actors import Actor, body_of, nobody, publish
from tests.api.onlookers import Change, Twins, change_while_others_look, end_one_after_the_other, readers
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY
CHANGES = 8


def people(twins: Twins) -> tuple[Actor, Actor]:
    """Two accounts, which write through the first server."""
    return Actor(twins[0]), Actor(twins[0])


def edit(author: Actor, post: dict[str, Any], **changes: object) -> Change:
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

    def allow(*usernames: str) -> Change:
        return lambda: body_of(alice.web.put(f"/api/posts/{post['id']}/audience", json={"usernames": usernames}))

    def shows(seen: httpx.Response, number: int) -> bool:
        return seen.status_code == (200 if number % 2 else 404)

    changes = [allow(bob.account.username), allow()] * (CHANGES // 2)
    change_while_others_look(changes, readers(twins, f"/post/{post['id']}", bob.cookie), shows)


def test_an_account_that_turns_private(twins: Twins) -> None:
    """Its profile shows strangers no posts; when it turns public, it does again."""
    alice, _ = people(twins)
    publish(alice, "on the profile")

    def turn(is_private: bool) -> Change:
        return lambda: body_of(alice.web.patch("/api/auth/me", json={"isPrivate": is_private}))

    def shows(seen: httpx.Response, number: int) -> bool:
        return ("on the profile" in seen.text) == (number % 2 == 0)

    changes = [turn(number % 2 == 0) for number in range(CHANGES)]
    change_while_others_look(changes, readers(twins, f"/@{alice.account.username}"), shows)


def test_a_new_comment(twins: Twins) -> None:
    alice, bob = people(twins)
    path = f"/post/{publish(alice, 'discuss')['id']}"

    def comment(number: int) -> Change:
        content = {"content": f"reply {number}."}
        return lambda: body_of(bob.web.post(f"/api{path.replace('post', 'posts')}/comments", json=content), 201)

    def shows(seen: httpx.Response, number: int) -> bool:
        return sum(f"reply {each}." in seen.text for each in range(1, CHANGES + 1)) == number

    change_while_others_look([comment(number) for number in range(1, CHANGES + 1)], readers(twins, path), shows)


def test_a_revoked_key(twins: Twins) -> None:
    alice, _ = people(twins)
    keys = [(alice.record, alice.key), *(twins[0].key(alice.account) for _ in range(4))]

    def revoke(key_id: str) -> Change:
        return lambda: body_of(alice.web.delete(f"/api/auth/api-keys/{key_id}"))

    def ask(server: LocalServer, place: int) -> int:
        return who_am_i(server, Authorization=f"Bearer {keys[place][1]}")

    end_one_after_the_other(twins, [revoke(record.id) for record, _ in keys], ask, after=401)


def test_an_ended_session(twins: Twins) -> None:
    alice, _ = people(twins)
    db = twins[0].runtime.db
    cookies = [f"session={twins[0].run(db.transact(begin_session, alice.account.id))}" for _ in range(5)]

    def leave(cookie: str) -> Change:
        return lambda: body_of(nobody.post(f"{twins[0].base_url}/api/auth/logout", headers={"Cookie": cookie}))

    def ask(server: LocalServer, place: int) -> int:
        return who_am_i(server, Cookie=cookies[place])

    end_one_after_the_other(twins, [leave(cookie) for cookie in cookies], ask, after=401)


def who_am_i(server: LocalServer, **credential: str) -> int:
    """The status for a client with this cookie."""
    return nobody.get(f"{server.base_url}/api/auth/me", headers=credential).status_code
