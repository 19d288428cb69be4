"""API keys as their owner manages them."""

import itertools
from pathlib import Path
from typing import Any

import httpx
import pytest

from pressroom.clock import DAY, iso, parse_iso
from pressroom.db import Query
from pressroom.domains.keys.models import Scope
from tests.api.actors import Actor, field_errors, nobody
from tests.api.conftest import MakeActor, one_engine
from tests.api.sockets import exchange

SETTINGS = {"POSTS_PER_MINUTE": 1000, "REQUESTS_PER_MINUTE": 1000}

ROUTE = "/api/auth/api-keys"
EVENTS = Query(str, "SELECT data FROM events WHERE account_id = :account_id AND type = 'apikey.revoked'")
HASHES = Query(str, "SELECT secret_hash FROM api_keys WHERE id = :key_id")


def create(actor: Actor, **fields: Any) -> httpx.Response:
    """Asks for a key as the signed-in owner."""
    return actor.web.post(ROUTE, json={"label": "a key", "scopes": ["posts:write"], **fields})


def made(actor: Actor, **fields: Any) -> dict[str, Any]:
    answer = create(actor, **fields)
    assert answer.status_code == 201, answer.text
    record: dict[str, Any] = answer.json()
    return record


def status_with(actor: Actor, key: str) -> tuple[int, str | None]:
    answer = nobody.get(f"{actor.server.base_url}/api/auth/me", headers={"Authorization": f"Bearer {key}"})
    return answer.status_code, answer.json().get("error")


def test_a_key_is_shown_once_and_works(alice: Actor) -> None:
    record = made(alice, label="Zeitungs-Bot 🗞", scopes=["posts:write", "clips:write"])
    key, now = record.pop("key"), iso(alice.server.clock.now())

    assert record == {
        "id": record["id"],
        "label": "Zeitungs-Bot 🗞",
        "scopes": ["posts:write", "clips:write"],
        "keyPrefix": key[:15],
        "status": "active",
        "ipAllowlist": [],
        "createdAt": now,
        "expiresAt": None,
        "lastUsedAt": None,
        "revokedAt": None,
        "revokedBy": None,
        "reason": None,
        "note": None,
    }
    assert alice.web.get(f"{ROUTE}/{record['id']}").json() == record
    listed = alice.web.get(ROUTE)
    assert listed.json()["apiKeys"][0] == record
    assert key not in listed.text
    assert status_with(alice, key) == (200, None)


def test_the_database_does_not_hold_the_key(alice: Actor) -> None:
    record = made(alice)
    key = record["key"]

    stored = alice.server.run(alice.server.runtime.db.one(HASHES, key_id=record["id"]))
    assert stored
    assert key not in stored
    if alice.server.runtime.db.engine == "sqlite":
        folder = Path(alice.server.settings.data_dir)
        files = [file.read_bytes() for file in folder.iterdir() if file.name.startswith("pressroom.db")]
        assert any(stored.encode() in content for content in files), "what is there is looked at"
        assert not any(key[15:].encode() in content for content in files)


@one_engine
@pytest.mark.parametrize(
    ("expiry", "days"), [("never", None), ("30d", 30), ("90d", 90), ("1y", 365), (None, None), ("", "bad")]
)
def test_key_expires_at_its_given_time(alice: Actor, expiry: str | None, days: int | str | None) -> None:
    answer = create(alice, expiry=expiry)

    if days == "bad":
        assert field_errors(answer) == [("expiry", "invalid_format")]
    elif isinstance(days, int):
        assert answer.json()["expiresAt"] == iso(alice.server.clock.now() + days * DAY)
    else:
        assert answer.json()["expiresAt"] is None


@one_engine
def test_key_lives_for_all_of_its_time_on_a_clock_that_runs(alice: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    times = itertools.count(alice.server.clock.now())
    monkeypatch.setattr(alice.server.clock, "now", lambda: next(times))

    record = made(alice, expiry="30d")

    assert parse_iso(record["expiresAt"]) - parse_iso(record["createdAt"]) == 30 * DAY


@one_engine
@pytest.mark.parametrize(
    "shown",
    [
        "2040-02-29T12:00:00.123Z",
        "2040-02-29T13:00:00.123+01:00",
        "20400229T120000.123Z",
        "2040-02-29T12:00:00.123000Z",
    ],
)
def test_a_key_may_expire_at_any_moment_to_come(alice: Actor, shown: str) -> None:
    assert made(alice, expiry=shown)["expiresAt"] == "2040-02-29T12:00:00.123Z"


BAD_EXPIRIES = {
    "2020-01-01T00:00:00Z": "out_of_range",
    "0001-01-01T00:00:00Z": "out_of_range",
    "2040-01-01T00:00:00": "invalid_format",
    "2040-01-01": "invalid_format",
    "2040-02-30T00:00:00Z": "invalid_format",
    "9999-12-31T23:59:59-23:59": "invalid_format",
    "10000-01-01T00:00:00Z": "invalid_format",
    "31d": "invalid_format",
    "Never": "invalid_format",
    "tomorrow": "invalid_format",
    "2" * 41: "too_long",
}


@one_engine
@pytest.mark.parametrize(("expiry", "code"), BAD_EXPIRIES.items())
def test_invalid_expiry_is_refused(alice: Actor, expiry: str, code: str) -> None:
    assert field_errors(create(alice, expiry=expiry)) == [("expiry", code)]
    assert len(alice.web.get(ROUTE).json()["apiKeys"]) == 1


def test_expiry_at_the_present_moment_is_refused(alice: Actor) -> None:
    now = alice.server.clock.now()

    assert field_errors(create(alice, expiry=iso(now))) == [("expiry", "out_of_range")]
    assert made(alice, expiry=iso(now + 1))["status"] == "active"


LABELS = {
    "x": None,
    "x" * 60: None,
    "🗞" * 60: None,
    "e\u0301" * 60: None,
    "": "too_short",
    " ": "too_short",
    "\u2003\n": "too_short",
    "x" * 61: "too_long",
    "a\0b": "invalid_format",
}


@one_engine
@pytest.mark.parametrize(("label", "code"), LABELS.items(), ids=[f"{len(label)} {label[:3]!a}" for label in LABELS])
def test_a_label_has_1_to_60_characters(alice: Actor, label: str, code: str | None) -> None:
    answer = create(alice, label=label)

    if code is None:
        assert len(answer.json()["label"]) in (1, 60)
    else:
        assert field_errors(answer) == [("label", code)]


BAD_KEYS: dict[str, tuple[Any, list[tuple[str, str]]]] = {
    "nothing": ({}, [("label", "required"), ("scopes", "required")]),
    "nulls": ({"label": None, "scopes": None}, [("label", "required"), ("scopes", "required")]),
    "no scope": ({"label": "a", "scopes": []}, [("scopes", "too_few")]),
    "a scope, no list": ({"label": "a", "scopes": "posts:write"}, [("scopes", "type")]),
    "wrong scopes": (
        {"label": "a", "scopes": ["posts:write", "posts:read", 5, None]},
        [("scopes[1]", "invalid_choice"), ("scopes[2]", "type"), ("scopes[3]", "type")],
    ),
    "twice": ({"label": "a", "scopes": ["posts:write", "posts:write"]}, [("scopes[1]", "duplicate")]),
    "too many scopes": ({"label": "a", "scopes": ["posts:write"] * 9}, [("scopes", "too_many")]),
    "unknown": ({"label": "a", "scopes": ["posts:write"], "expires": "30d"}, [("expires", "unknown_field")]),
    "networks, no list": (
        {"label": "a", "scopes": ["posts:write"], "ipAllowlist": "10.0.0.0/8"},
        [("ipAllowlist", "type")],
    ),
    "too many networks": (
        {"label": "a", "scopes": ["posts:write"], "ipAllowlist": ["10.0.0.0/8"] * 51},
        [("ipAllowlist", "too_many")],
    ),
    "late and blank": (
        {"label": " ", "scopes": ["posts:write"], "expiry": "2020-01-01T00:00:00Z"},
        [("label", "too_short"), ("expiry", "out_of_range")],
    ),
    "all of it": (
        {"label": " ", "scopes": ["x"], "expiry": "x", "ipAllowlist": ["10.0.0.1/8", "10.0.0.0/8", "x"], "y": 1},
        [
            ("scopes[0]", "invalid_choice"),
            ("y", "unknown_field"),
            ("label", "too_short"),
            ("ipAllowlist[0]", "invalid_format"),
            ("ipAllowlist[2]", "invalid_format"),
            ("expiry", "invalid_format"),
        ],
    ),
}


@one_engine
@pytest.mark.parametrize(("body", "expected"), BAD_KEYS.values(), ids=BAD_KEYS)
def test_every_fault_of_a_key_is_named(alice: Actor, body: Any, expected: list[tuple[str, str]]) -> None:
    assert field_errors(alice.web.post(ROUTE, json=body)) == expected
    assert len(alice.web.get(ROUTE).json()["apiKeys"]) == 1


NETWORKS = {
    "203.0.113.7": "203.0.113.7/32",
    "203.0.113.0/24": "203.0.113.0/24",
    "203.0.113.0/255.255.255.0": "203.0.113.0/24",
    "0.0.0.0/0": "0.0.0.0/0",
    "2001:DB8:0::/32": "2001:db8::/32",
    "2001:db8::1": "2001:db8::1/128",
    "::ffff:203.0.113.7": "203.0.113.7/32",
    "::ffff:203.0.113.0/120": "203.0.113.0/24",
    "203.0.113.7/24": None,
    "203.0.113.0/33": None,
    "2001:db8::1/32": None,
    "fe80::1%eth0": None,
    "fe80::1%a b": None,
    " 203.0.113.7": None,
    "203.0.113.7 10.0.0.1": None,
    "203.0.113": None,
    "0313.0.113.7": None,
    "3405803783": None,
    "localhost": None,
    "٢٠٣.0.113.7": None,
    "": None,
    "x" * 5000: None,
}


@one_engine
@pytest.mark.parametrize(("given", "kept"), NETWORKS.items(), ids=[ascii(given[:30]) for given in NETWORKS])
def test_an_allowlist_holds_networks(alice: Actor, given: str, kept: str | None) -> None:
    answer = create(alice, ipAllowlist=["10.0.0.0/8", given, "10.0.0.0/8"])

    if kept is None:
        assert field_errors(answer) == [("ipAllowlist[1]", "invalid_format")]
        assert len(answer.content) < 1000
    else:
        assert answer.json()["ipAllowlist"] == ["10.0.0.0/8", kept]


def test_a_key_outside_its_allowlist(actor: MakeActor) -> None:
    here, elsewhere = actor(ips=("127.0.0.0/8", "::1/128")), actor(ips=("10.0.0.0/8",))

    assert here.post().status_code == 201
    for claimed in ({}, {"X-Forwarded-For": "10.0.0.1"}, {"Forwarded": "for=10.0.0.1"}, {"X-Real-IP": "10.0.0.1"}):
        answer = elsewhere.api.post("/api/posts", json={"content": "Hello"}, headers=claimed)
        assert (answer.status_code, answer.json()["error"]) == (403, "IP address not allowed")
    assert elsewhere.written() == (0, 0, 0, 0)


def test_foreign_key_is_404(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    for method in ("GET", "DELETE"):
        for key_id in (bob.record.id, "01MCC5RM00AAAAAAAAAAAAAAAA", bob.key):
            answer = alice.web.request(method, f"{ROUTE}/{key_id}")
            assert (answer.status_code, answer.json()["error"]) == (404, "Not found")
    assert bob.record.id not in alice.web.get(ROUTE).text
    assert bob.post().status_code == 201


@pytest.mark.parametrize("key_id", ["%00", "%ff", "%F0%9F%98%80", "'", "..%2f..%2f", "a" * 5000, "%20", "{keyId}"])
def test_malformed_id_is_404(alice: Actor, key_id: str) -> None:
    for method in ("GET", "DELETE"):
        reply = exchange(alice.server, method, f"{ROUTE}/{key_id}", f"Cookie: {alice.cookie}")
        assert (reply.status, reply.json()["error"]) == (404, "Not found")


def test_a_revoked_key_is_refused_from_the_next_request_on(alice: Actor) -> None:
    alice.post()
    answer = alice.web.delete(f"{ROUTE}/{alice.record.id}")
    now = iso(alice.server.clock.now())

    assert answer.status_code == 200
    record = answer.json()
    assert (record["status"], record["revokedAt"], record["revokedBy"], record["reason"]) == (
        "revoked",
        now,
        "self",
        None,
    )
    assert status_with(alice, alice.key) == (401, "API key revoked")

    alice.server.clock.advance(1000)
    again = alice.web.delete(f"{ROUTE}/{alice.record.id}").json()
    assert {**again, "lastUsedAt": None} == {**record, "lastUsedAt": None}, "but for what is written down behind"
    events = alice.server.run(alice.server.runtime.db.read(lambda tx: tx.all(EVENTS, account_id=alice.account.id)))
    assert len(events) == 1
    assert f'"revokedAt":"{now}","revokedBy":"self","reason":null' in events[0]
    assert alice.key[15:] not in events[0]


def test_a_key_expires_at_its_moment(actor: MakeActor) -> None:
    alice = actor()
    alice = actor(expires_at=alice.server.clock.now() + 1000)

    alice.server.clock.advance(999)
    assert status_with(alice, alice.key) == (200, None)
    alice.server.clock.advance(1)
    assert status_with(alice, alice.key) == (401, "API key expired")
    assert alice.web.get(f"{ROUTE}/{alice.record.id}").json()["status"] == "expired"
    assert alice.web.delete(f"{ROUTE}/{alice.record.id}").json()["status"] == "revoked"
    assert status_with(alice, alice.key) == (401, "API key revoked")


def test_the_sixth_active_key_is_one_too_many(alice: Actor) -> None:
    soon = iso(alice.server.clock.now() + 1000)
    made(alice, expiry=soon)
    third = made(alice)
    for _ in range(2):
        made(alice)

    answer = create(alice)
    assert (answer.status_code, answer.json()["error"]) == (409, "Conflict")
    assert "details" not in answer.json()

    alice.web.delete(f"{ROUTE}/{third['id']}")
    made(alice)
    assert create(alice).status_code == 409
    alice.server.clock.advance(1000)
    made(alice)
    assert create(alice).status_code == 409
    assert [key["status"] for key in alice.web.get(ROUTE).json()["apiKeys"]].count("active") == 5
    assert set(Scope) == set(alice.record.scopes.split()), "the first key is untouched"
