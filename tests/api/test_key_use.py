"""The traces of a key's use: its last use, from where, and the end of one that hammers."""

import json
from typing import Any

import pytest

from pressroom.clock import MINUTE, iso
from pressroom.db import Query
from pressroom.domains.keys.models import Scope
from tests.api.actors import Actor, field_errors
from tests.api.conftest import MakeActor, one_engine
from tests.api.sockets import exchange
from tests.services.process import wait_until

SETTINGS = {
    "TRUSTED_PROXIES": "127.0.0.1/32, 10.0.0.0/8, ::1",
    "REQUESTS_PER_MINUTE": 5,
    "POSTS_PER_MINUTE": 5,
    "DAILY_CONTENT_QUOTA": 1,
    "ABUSE_REFUSALS": 20,
    "ABUSE_WINDOW_SECONDS": 600,
}

ROUTE = "/api/auth/api-keys"
EVENTS = Query(str, "SELECT data FROM events WHERE account_id = :account_id AND type = 'apikey.revoked'")


def record(actor: Actor) -> dict[str, Any]:
    """The actor's key as its owner sees it."""
    shown: dict[str, Any] = actor.web.get(f"{ROUTE}/{actor.record.id}").json()
    return shown


def shown_as_used(actor: Actor, at: str) -> bool:
    """Whether the last use comes to be shown: within 5 seconds on the wall, twice that on a machine under load."""
    return wait_until(lambda: record(actor)["lastUsedAt"] == at)


def test_the_last_use_is_shown_to_the_minute(alice: Actor) -> None:
    minute = alice.server.clock.now() // MINUTE * MINUTE + MINUTE
    alice.server.clock.time = minute + 59_999
    assert record(alice)["lastUsedAt"] is None

    assert alice.api.get("/api/auth/me").status_code == 200
    assert shown_as_used(alice, iso(minute))

    alice.server.clock.advance(MINUTE)
    assert alice.api.get("/api/auth/api-keys").status_code == 403, "a refused request is a use too"
    assert shown_as_used(alice, iso(minute + MINUTE))


def test_a_request_from_a_wrong_address_is_no_use(actor: MakeActor) -> None:
    alice, bob = actor(ips=("10.9.9.9/32",)), actor()

    assert alice.post().status_code == 403
    assert bob.post().status_code == 201
    minute = bob.server.clock.now() // MINUTE * MINUTE
    assert shown_as_used(bob, iso(minute)), "what came later has been written down"
    assert record(alice)["lastUsedAt"] is None


CHAINS = {
    (): False,
    ("203.0.113.7",): True,
    ("198.51.100.1, 203.0.113.7",): True,
    ("203.0.113.7, 198.51.100.1",): False,
    ("203.0.113.7, 198.51.100.1, 10.0.0.5",): False,
    ("198.51.100.1, 203.0.113.7, 10.0.0.5, 10.0.0.6",): True,
    ("203.0.113.7, 10.0.0.5, 198.51.100.1, 10.0.0.6",): False,
    ("203.0.113.7", "198.51.100.1"): False,
    ("198.51.100.1", "203.0.113.7"): True,
    ("garbage, 203.0.113.7",): True,
    ("203.0.113.7, garbage",): False,
    ("203.0.113.7, ",): False,
    ("203.0.113.7,198.51.100.1",): False,
    ("::ffff:203.0.113.7",): True,
    ("203.0.113.7:4711",): True,
    ("[::ffff:203.0.113.7]:4711",): True,
    ("[2001:db8::7]:4711, ::1",): True,
    ("2001:db8::7",): True,
    ("2001:db9::7",): False,
    ("203.0.113.7\xff",): False,
    ("203.0.113.7, " + "198.51.100.1, " * 5000 + "10.0.0.1",): False,
    ("203.0.113.7, " + "10.0.0.1, " * 5000 + "10.0.0.1",): True,
}


@one_engine
@pytest.mark.parametrize(("chain", "inside"), CHAINS.items(), ids=[" | ".join(chain)[:40] for chain in CHAINS])
def test_the_address_behind_trusted_proxies(actor: MakeActor, chain: tuple[str, ...], *, inside: bool) -> None:
    alice = actor(ips=("203.0.113.0/24", "2001:db8::/32"))
    lines = [f"X-Forwarded-For: {entry}" for entry in chain]

    reply = exchange(alice.server, "GET", "/api/auth/me", alice.bearer, *lines)

    assert reply.status == (200 if inside else 403)


def hammer(actor: Actor, times: int) -> None:
    """Sends requests that the minute's limit refuses."""
    for _ in range(times):
        assert actor.api.get("/api/auth/me").status_code == 429


def use_up(actor: Actor) -> None:
    for _ in range(5):
        assert actor.api.get("/api/auth/me").status_code == 200


def test_key_above_the_abuse_threshold_is_revoked_once(alice: Actor) -> None:
    use_up(alice)
    hammer(alice, 20)

    answer = alice.api.get("/api/auth/me")
    assert (answer.status_code, answer.json()["error"]) == (401, "API key revoked")
    shown = record(alice)
    assert (shown["status"], shown["revokedBy"]) == ("revoked", "auto")
    assert shown["revokedAt"] == iso(alice.server.clock.now())
    assert shown["reason"] == "20 refused requests within 600 seconds."
    assert alice.web.delete(f"{ROUTE}/{alice.record.id}").json()["revokedBy"] == "auto", "it was revoked already"

    db = alice.server.runtime.db
    events = alice.server.run(db.read(lambda tx: tx.all(EVENTS, account_id=alice.account.id)))
    assert [json.loads(event) for event in events] == [
        {
            "apiKey": {
                "id": alice.record.id,
                "label": alice.record.label,
                "keyPrefix": alice.key[:15],
                "revokedAt": shown["revokedAt"],
                "revokedBy": "auto",
                "reason": shown["reason"],
            }
        }
    ]


def test_refusals_are_forgotten_after_ten_minutes(alice: Actor) -> None:
    use_up(alice)
    hammer(alice, 19)
    alice.server.clock.advance(600_000)
    use_up(alice)
    hammer(alice, 19)

    assert record(alice)["status"] == "active"
    hammer(alice, 1)
    assert record(alice)["status"] == "revoked"


def test_other_refusals_do_not_count_as_abuse(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(Scope.CLIPS_WRITE), actor(ips=("10.9.9.9/32",))
    assert alice.post().status_code == 201
    labels = set()
    for _ in range(6):
        alice.server.clock.advance(60_000)
        labels |= {each.post().json()["error"] for each in (alice, bob, carol) for _ in range(5)}

    assert labels == {"Daily content quota exceeded", "Missing required scope", "IP address not allowed"}
    assert [record(each)["status"] for each in (alice, bob, carol)] == ["active"] * 3


def test_the_list_of_keys_comes_in_pages(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    ids = [alice.record.id]
    for number in range(24):
        alice.server.clock.advance(1)
        alice.web.delete(f"{ROUTE}/{ids[-1]}")
        made = alice.web.post(ROUTE, json={"label": f"number {number}", "scopes": ["posts:write"]})
        ids.append(made.json()["id"])
    newest_first = ids[::-1]
    assert newest_first == sorted(ids, reverse=True)

    def page(**query: str) -> tuple[list[str], str | None]:
        answer = alice.web.get(ROUTE, params=query).json()
        return [key["id"] for key in answer["apiKeys"]], answer["nextCursor"]

    first, cursor = page()
    assert first == newest_first[:20]
    assert cursor
    assert page(cursor=cursor) == (newest_first[20:], None)
    assert page(limit="25") == (newest_first, None)
    assert page(limit="100")[1] is None
    seen, cursor = page(limit="7")
    for last in (False, False, True):
        assert cursor is not None
        some, cursor = page(limit="7", cursor=cursor)
        seen += some
        assert (cursor is None) == last
    assert seen == newest_first
    others = bob.web.get(ROUTE, params={"cursor": first[0]}).json()["apiKeys"]
    assert [key["id"] for key in others] == [bob.record.id], "a cursor opens nobody else's list"


BAD_PAGES = {
    "limit=0": [("limit", "out_of_range")],
    "limit=101": [("limit", "out_of_range")],
    "limit=-1": [("limit", "out_of_range")],
    "limit=": [("limit", "out_of_range")],
    "limit=1.5": [("limit", "out_of_range")],
    "limit=%D9%A1": [("limit", "out_of_range")],
    "limit=1%00": [("limit", "invalid_format")],
    "limit=99999999999999999999": [("limit", "out_of_range")],
    "cursor=": [("cursor", "invalid_format")],
    "cursor=x": [("cursor", "invalid_format")],
    "cursor=%00": [("cursor", "invalid_format")],
    "cursor=%ff%ff": [("cursor", "invalid_format")],
    "cursor=" + "A" * 27: [("cursor", "invalid_format")],
    "limit=0&cursor=x": [("limit", "out_of_range"), ("cursor", "invalid_format")],
}


@one_engine
@pytest.mark.parametrize(("query", "expected"), BAD_PAGES.items(), ids=[query[:30] for query in BAD_PAGES])
def test_invalid_page_parameters_are_400_by_key(alice: Actor, query: str, expected: list[tuple[str, str]]) -> None:
    assert field_errors(alice.web.get(f"{ROUTE}?{query}")) == expected
