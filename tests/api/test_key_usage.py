"""The usage of a key, as its owner sees it: counts by hour and day, the rest of its limits, and refusals."""

from typing import Any

import pytest

from pressroom.clock import DAY, HOUR, MINUTE, SECOND, iso
from pressroom.db import Query
from pressroom.domains.keys.actions import purge_usage
from pressroom.domains.keys.models import Scope
from tests.api.actors import Actor, nobody, refusal
from tests.api.conftest import MakeActor
from tests.services.process import wait_until

SETTINGS = {
    "REQUESTS_PER_MINUTE": 12,
    "REQUESTS_PER_DAY": 60,
    "POSTS_PER_MINUTE": 4,
    "DAILY_CONTENT_QUOTA": 3,
    "ABUSE_REFUSALS": 1000,
}

ROUTE = "/api/auth/api-keys"
ROWS = Query(
    int,
    "SELECT (SELECT count(*) FROM api_key_usage WHERE key_id = :key_id)"
    " + (SELECT count(*) FROM api_key_refusals WHERE key_id = :key_id)",
)
REFUSALS = Query(int, "SELECT count(*) FROM api_key_refusals WHERE key_id = :key_id")


def usage(actor: Actor, key_id: str = "") -> dict[str, Any]:
    """The usage of the actor's key as JSON."""
    answer = actor.web.get(f"{ROUTE}/{key_id or actor.record.id}/usage")
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    return shown


def counted(period: dict[str, Any]) -> tuple[int, int, int, int]:
    return period["accepted"], period["limited"], period["refused"], period["failed"]


def settled(actor: Actor, requests: int) -> dict[str, Any]:
    """The usage once so many requests are written down: within a second or so, on the wall."""
    wait_until(lambda: _all(usage(actor)) >= requests)
    shown = usage(actor)
    assert _all(shown) == requests
    return shown


def _all(shown: dict[str, Any]) -> int:
    """How many requests a usage tells of."""
    return sum(map(sum, map(counted, shown["days"])))


@pytest.fixture(autouse=True)
def on_the_hour(alice: Actor) -> None:
    """Every test begins on a day of its own, at an hour's beginning."""
    clock = alice.server.clock
    clock.time = (clock.time // DAY + 1) * DAY + 10 * HOUR


def test_a_key_that_was_never_used(alice: Actor) -> None:
    shown = usage(alice)
    now = alice.server.clock.now()

    assert [hour["startsAt"] for hour in shown["hours"]] == [iso(now - back * HOUR) for back in range(23, -1, -1)]
    today = now // DAY * DAY
    assert [day["startsAt"] for day in shown["days"]] == [iso(today - back * DAY) for back in range(29, -1, -1)]
    assert {counted(period) for period in shown["hours"] + shown["days"]} == {(0, 0, 0, 0)}
    assert shown["refusals"] == []
    assert shown["limits"] == {
        "minute": {"limit": 12, "remaining": 12, "resetsAt": None},
        "day": {"limit": 60, "remaining": 60, "resetsAt": None},
        "content": {"limit": 3, "remaining": 3, "resetsAt": iso(today + DAY)},
    }


def test_each_outcome_is_counted_in_its_hour_and_day(actor: MakeActor, alice: Actor) -> None:
    alice = actor(Scope.POSTS_WRITE)
    clock = alice.server.clock
    assert alice.api.get("/api/auth/me").status_code == 200
    clock.advance(HOUR)
    for _ in range(3):
        assert alice.post().status_code == 201
    assert alice.post().json()["error"] == "Daily content quota exceeded"
    assert alice.post().json()["error"] == "Rate limit exceeded"
    assert alice.api.delete("/api/posts/x").status_code == 403
    assert alice.api.patch("/api/posts/x", json={"content": 1}).status_code == 400
    assert alice.api.get("/api/posts/x").status_code == 404
    assert alice.api.get(f"{ROUTE}").status_code == 403

    shown = settled(alice, 10)

    assert [counted(hour) for hour in shown["hours"][-2:]] == [(1, 0, 0, 0), (3, 2, 4, 0)]
    assert counted(shown["days"][-1]) == (4, 2, 4, 0)
    assert {counted(period) for period in shown["hours"][:-2] + shown["days"][:-1]} == {(0, 0, 0, 0)}

    clock.advance(23 * HOUR)
    later = usage(alice)
    assert counted(later["hours"][0]) == (3, 2, 4, 0)
    assert [counted(day) for day in later["days"][-2:]] == [(4, 2, 4, 0), (0, 0, 0, 0)]
    clock.advance(29 * DAY)
    assert {counted(day) for day in usage(alice)["days"]} == {(0, 0, 0, 0)}


def test_fault_of_the_server_is_no_refusal(alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("broken")

    with monkeypatch.context() as fault:
        fault.setattr(alice.server.runtime.db, "read", broken)
        assert alice.api.get("/api/posts/x").status_code == 500

    shown = settled(alice, 1)

    assert (counted(shown["hours"][-1]), shown["refusals"]) == ((0, 0, 0, 1), [])


def test_refusal_shows_time_route_and_address_without_the_body(actor: MakeActor) -> None:
    alice = actor(Scope.POSTS_WRITE)
    clock = alice.server.clock
    answers = [alice.api.delete("/api/posts/top-secret?token=hush", headers={"Idempotency-Key": "also-secret"})]
    clock.advance(SECOND)
    answers.append(alice.api.post("/api/posts", json={"content": "private words", "visibility": "odd"}))

    shown = settled(alice, 2)["refusals"]

    assert shown == [
        {
            "at": iso(clock.now()),
            "method": "POST",
            "route": "/api/posts",
            "status": 400,
            "error": "Validation failed",
            "address": "127.0.0.1",
            "requestId": answers[1].headers["x-request-id"],
        },
        {
            "at": iso(clock.now() - SECOND),
            "method": "DELETE",
            "route": "/api/posts/{id}",
            "status": 403,
            "error": "Missing required scope",
            "address": "127.0.0.1",
            "requestId": answers[0].headers["x-request-id"],
        },
    ]


def test_the_last_fifty_refusals_are_kept(alice: Actor) -> None:
    clock, ids = alice.server.clock, list[str]()
    for number in range(70):
        clock.advance(MINUTE // 6)
        if number == 30:
            settled(alice, 30)  # some are in the database already
        ids.append(alice.api.get("/api/posts/x").headers["x-request-id"])

    shown = settled(alice, 70)["refusals"]

    assert [each["requestId"] for each in shown] == ids[:19:-1]
    db = alice.server.runtime.db
    assert alice.server.run(db.one(REFUSALS, key_id=alice.record.id)) == 50


def test_looking_charges_nothing(alice: Actor) -> None:
    clock = alice.server.clock
    first = clock.now()
    assert alice.post().status_code == 201
    clock.advance(10 * SECOND)
    assert alice.api.get("/api/auth/me").status_code == 200

    for _ in range(20):
        usage(alice)

    midnight = iso((first // DAY + 1) * DAY)
    assert usage(alice)["limits"] == {
        "minute": {"limit": 12, "remaining": 10, "resetsAt": iso(first + MINUTE)},
        "day": {"limit": 60, "remaining": 58, "resetsAt": iso(first + MINUTE + DAY)},
        "content": {"limit": 3, "remaining": 2, "resetsAt": midnight},
    }
    assert alice.api.get("/api/auth/me").headers["x-ratelimit-remaining"] == "9"
    clock.advance(MINUTE)
    assert usage(alice)["limits"]["minute"] == {"limit": 12, "remaining": 12, "resetsAt": None}


def test_revoked_key_shows_refused_requests_and_no_limits(alice: Actor) -> None:
    assert alice.web.delete(f"{ROUTE}/{alice.record.id}").status_code == 200
    assert alice.post().status_code == 401

    shown = settled(alice, 1)

    assert counted(shown["hours"][-1]) == (0, 0, 1, 0)
    assert [each["error"] for each in shown["refusals"]] == ["API key revoked"]
    assert shown["limits"] is None


def test_a_wrong_address_is_listed_with_that_address(actor: MakeActor) -> None:
    alice = actor(ips=("10.9.9.9/32",))
    assert alice.post().status_code == 403

    shown = settled(alice, 1)["refusals"]

    assert [(each["error"], each["address"]) for each in shown] == [("IP address not allowed", "127.0.0.1")]


def test_invalid_key_is_not_counted(alice: Actor) -> None:
    server = alice.server
    other = alice.key[:-1] + ("0" if alice.key[-1] != "0" else "1")
    for authorization in ("Bearer nonsense", f"Bearer {other}", f"Basic {alice.key}", ""):
        assert nobody.get(f"{server.base_url}/api/auth/me", headers={"Authorization": authorization}).status_code == 401
    assert alice.api.get("/api/nowhere").status_code == 404, "what is not there is not looked at by key"
    assert alice.web.get("/api/auth/me").status_code == 200
    assert alice.post().status_code == 201

    shown = settled(alice, 1)
    assert shown["refusals"] == []


def test_usage_is_shown_only_to_the_owner(actor: MakeActor, alice: Actor) -> None:
    bob, path = actor(), f"{ROUTE}/{alice.record.id}/usage"

    assert refusal(bob.web.get(path)) == (404, "Not found")
    assert refusal(alice.api.get(path)) == (403, "Session required")
    assert refusal(nobody.get(alice.server.base_url + path)) == (401, "Not signed in")


def test_rows_are_removed_after_31_days(alice: Actor) -> None:
    server = alice.server
    assert alice.api.get("/api/posts/x").status_code == 404
    settled(alice, 1)
    server.clock.advance(31 * DAY)
    server.run(server.runtime.db.transact(purge_usage, 500))
    assert server.run(server.runtime.db.one(ROWS, key_id=alice.record.id)) == 2
    server.clock.advance(HOUR)
    server.run(server.runtime.db.transact(purge_usage, 500))
    assert server.run(server.runtime.db.one(ROWS, key_id=alice.record.id)) == 0
