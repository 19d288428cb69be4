"""Events by pull: what a key reads, in which order, from where on, and for how long."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from pressroom.clock import DAY, HOUR, MINUTE
from pressroom.domains.event_stream import actions
from pressroom.domains.event_stream.cursors import Cursor
from pressroom.domains.keys.models import Scope
from pressroom.domains.webhooks.actions.retention import purge_events
from tests.api.actors import Actor, Json, body_of, field_errors, nobody, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.services.process import wait_until
from tests.webhooks.conftest import endpoint, receiver
from tests.webhooks.endpoints import DELIVERING

__all__ = ["endpoint", "receiver"]

SETTINGS = DELIVERING
BEFORE_ALL = "AAAAAAAAAAAAAAAAAAAAAA"


def read(reader: Actor, after: str | None = BEFORE_ALL, **asked: Any) -> Json:
    """The answer to a request for events, from the first on unless `after` says otherwise."""
    return body_of(reader.api.get("/api/events", params={**({} if after is None else {"after": after}), **asked}))


def contents(answer: Json) -> list[str]:
    """The texts of the posts that an answer tells of."""
    return [each["data"]["post"]["content"] for each in answer["events"]]


def expired(answer: httpx.Response) -> str:
    """The cursor that a 410 names."""
    body = body_of(answer, 410)
    assert body["error"] == "Cursor expired"
    oldest: str = body["oldest"]
    return oldest


def revoke(owner: Actor, key_id: str) -> None:
    body_of(owner.web.delete(f"/api/auth/api-keys/{key_id}"))


def test_events_are_read_in_the_envelope_of_webhooks(alice: Actor) -> None:
    post = publish(alice, "Grüße 🦊")

    answer = read(alice)

    (envelope,) = answer["events"]
    assert list(answer) == ["events", "cursor"]
    assert list(envelope) == ["event", "id", "created_at", "data"]
    assert (envelope["event"], envelope["created_at"]) == ("post.created", post["createdAt"])
    assert envelope["data"]["post"]["id"] == post["id"]
    assert re.fullmatch("evt_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", envelope["id"])


def test_every_reading_has_the_same_bytes(alice: Actor) -> None:
    publish(alice)

    first, second = (alice.api.get("/api/events", params={"after": BEFORE_ALL}) for _ in range(2))

    assert first.content == second.content
    assert len(first.json()["events"]) == 1


def test_each_key_has_its_own_id_of_an_event(alice: Actor) -> None:
    _, other_key = alice.server.key(alice.account)
    publish(alice)

    own = read(alice)["events"][0]
    others = nobody.get(
        f"{alice.server.base_url}/api/events",
        params={"after": BEFORE_ALL},
        headers={"Authorization": f"Bearer {other_key}"},
    ).json()["events"][0]

    assert own["id"] != others["id"]
    assert {**own, "id": ""} == {**others, "id": ""}


def test_cursor_leads_from_page_to_page(alice: Actor) -> None:
    for number in range(5):
        publish(alice, f"{number}")

    pages, after = list[list[str]](), BEFORE_ALL
    while not pages or pages[-1]:
        answer = read(alice, after, limit=2)
        pages.append(contents(answer))
        after = answer["cursor"]

    assert pages == [["0", "1"], ["2", "3"], ["4"], []]


def test_without_a_cursor_it_begins_now(alice: Actor) -> None:
    publish(alice, "before")
    begun = read(alice, None)
    publish(alice, "after")

    assert begun["events"] == []
    assert contents(read(alice, begun["cursor"])) == ["after"]


def test_account_without_any_event_begins_at_the_first(alice: Actor) -> None:
    begun = read(alice, None)
    publish(alice, "first")

    assert begun["cursor"] == BEFORE_ALL
    assert contents(read(alice, begun["cursor"])) == ["first"]


def test_all_kinds_but_tests_and_revocations_of_other_keys(alice: Actor, endpoint: Any) -> None:
    other, _ = alice.server.key(alice.account)
    hook = endpoint()
    post = publish(alice, "post")
    body_of(hook.test(), 202)
    body_of(alice.api.post(f"/api/posts/{post['id']}/comments", json={"content": "comment"}), 201)
    revoke(alice, other.id)
    body_of(alice.api.post(f"/api/posts/{post['id']}/bounce"), 201)

    answer = read(alice)

    assert [each["event"] for each in answer["events"]] == ["post.created", "comment.created", "post.created"]
    assert read(alice, answer["cursor"])["events"] == []


def test_events_of_others_are_not_read(alice: Actor, actor: MakeActor) -> None:
    publish(actor(), "not Alice's")

    assert read(alice)["events"] == []


def test_waiting_request_is_answered_by_the_event(alice: Actor) -> None:
    begun = read(alice, None)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(read, alice, begun["cursor"], wait=30)
        assert wait_until(lambda: alice.account.id in alice.server.runtime.events.watched)
        publish(alice, "at last")

        assert contents(waiting.result(120)) == ["at last"]


def test_last_event_of_a_waiting_key_is_its_revocation(alice: Actor) -> None:
    begun = read(alice, None)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(read, alice, begun["cursor"], wait=30)
        assert wait_until(lambda: alice.account.id in alice.server.runtime.events.watched)
        revoke(alice, alice.record.id)
        (event,) = waiting.result(120)["events"]

    assert (event["event"], event["data"]["apiKey"]["id"]) == ("apikey.revoked", alice.record.id)
    assert refusal(alice.api.get("/api/events")) == (401, "API key revoked")


def test_nothing_follows_the_revocation(alice: Actor) -> None:
    runtime, account_id, key_id = alice.server.runtime, alice.account.id, alice.record.id
    publish(alice, "before")
    revoke(alice, key_id)
    body_of(alice.web.post("/api/posts", json={"content": "after"}), 201)

    batch = alice.server.run(runtime.db.read(actions.read_after, account_id, key_id, Cursor(0), 100))

    assert [each.event for each in batch.events] == ["post.created", "apikey.revoked"]
    assert batch.is_last


def test_events_of_thirty_days_are_kept(alice: Actor) -> None:
    clock = alice.server.clock
    publish(alice, "old")
    first = read(alice)["cursor"]
    clock.advance(DAY)
    publish(alice, "new")
    newest = read(alice)["cursor"]
    assert contents(read(alice)) == ["old", "new"]

    clock.advance(29 * DAY + MINUTE)
    oldest = expired(alice.api.get("/api/events", params={"after": BEFORE_ALL}))

    assert contents(read(alice, oldest)) == ["new"]
    assert contents(read(alice, first)) == ["new"], "nothing behind this cursor is gone"
    clock.advance(2 * DAY + HOUR)
    alice.server.run(alice.server.runtime.db.transact(purge_events, 100))
    assert read(alice, newest)["events"] == [], "nothing behind this cursor is gone either"
    assert expired(alice.api.get("/api/events", params={"after": first})) == expired(
        alice.api.get("/api/events", params={"after": oldest})
    )
    publish(alice, "newest")
    assert contents(read(alice, newest)) == ["newest"]


def test_cursor_of_a_state_that_was_lost_has_expired(alice: Actor, actor: MakeActor) -> None:
    other = actor()
    publish(alice, "one")
    publish(other, "another")
    own = read(alice)["cursor"]

    assert expired(other.api.get("/api/events", params={"after": own})) == BEFORE_ALL
    publish(alice, "two")
    beyond = read(alice)["cursor"]
    assert expired(other.api.get("/api/events", params={"after": beyond})) == BEFORE_ALL


@pytest.mark.parametrize(
    ("asked", "wrong"),
    [
        ({"after": "1"}, [("after", "invalid_format")]),
        ({"after": "AAAAAAAAAAAAAAAAAAAAAB"}, [("after", "invalid_format")]),
        ({"after": "_" * 22}, [("after", "invalid_format")]),
        ({"after": ""}, [("after", "invalid_format")]),
        ({"wait": "31"}, [("wait", "out_of_range")]),
        ({"wait": "-1"}, [("wait", "out_of_range")]),
        ({"limit": "0"}, [("limit", "out_of_range")]),
        ({"limit": "101", "wait": "x", "after": "?"}, ["wait", "limit", "after"]),
        ({"cursor": "1"}, [("query.cursor", "unknown_field")]),
    ],
)
def test_wrong_parameters_are_refused(alice: Actor, asked: dict[str, str], wrong: list[Any]) -> None:
    found = field_errors(alice.api.get("/api/events", params=asked))

    assert found == wrong if isinstance(wrong[0], tuple) else [field for field, _ in found] == wrong


def test_only_a_key_with_the_scope_reads(server: LocalServer, actor: MakeActor) -> None:
    writer = actor(Scope.POSTS_WRITE)

    refused = writer.api.get("/api/events")

    assert (refused.status_code, refused.json()["requiredScope"]) == (403, "events:read")
    assert refusal(writer.web.get("/api/events")) == (401, "Missing API key")
    assert refusal(nobody.get(f"{server.base_url}/api/events")) == (401, "Missing API key")


def test_replica_of_the_data_is_the_stored_one(alice: Actor) -> None:
    publish(alice, 'quotes " and \\ and </script>')

    raw = alice.api.get("/api/events", params={"after": BEFORE_ALL}).content

    assert json.loads(raw)["events"][0]["data"]["post"]["content"] == 'quotes " and \\ and </script>'
