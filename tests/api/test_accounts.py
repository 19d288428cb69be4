"""Signing up and changing a profile: accepted values, refused ones, answers."""

import asyncio
import re
import time
from typing import Any

import httpx
import pytest

from pressroom.db import Query
from tests.api.actors import Actor, field_errors, nobody
from tests.api.conftest import MakeActor, one_engine
from tests.harness.databases import connect_to
from tests.harness.local import LocalServer

SETTINGS = {"SIGN_IN_FAILURES_PER_ADDRESS": 100_000}

PASSWORD = "nine plums and a kettle"
ACCOUNTS = Query(int, "SELECT count(*) FROM accounts")
HASH = Query(str, "SELECT password_hash FROM accounts WHERE id = :account_id")


def sign_up(server: LocalServer, name: str, **fields: Any) -> httpx.Response:
    body = {"username": name, "email": f"{name}@example.org", "password": PASSWORD, **fields}
    return nobody.post(f"{server.base_url}/api/auth/signup", json=body)


def sign_in(server: LocalServer, login: str, password: str = PASSWORD) -> httpx.Response:
    return nobody.post(f"{server.base_url}/api/auth/login", json={"login": login, "password": password})


def test_sign_up_creates_account_and_session(server: LocalServer) -> None:
    answer = sign_up(server, "Mira_1", displayName="Mira Okafor 🪁")

    assert answer.status_code == 201
    account = answer.json()
    assert account == {
        "id": account["id"],
        "username": "Mira_1",
        "email": "Mira_1@example.org",
        "displayName": "Mira Okafor 🪁",
        "avatar": f"{server.base_url}/avatars/{account['id']}.svg",
        "coverImage": None,
        "bio": None,
        "verified": False,
        "emailVerified": False,
        "isPrivate": False,
        "discoverable": True,
        "isCreator": False,
        "totalFollowers": 0,
        "totalFollowing": 0,
        "totalPosts": 0,
        "createdAt": account["createdAt"],
    }
    cookie = answer.headers["set-cookie"].partition(";")[0]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", account["createdAt"])
    assert nobody.get(f"{server.base_url}/api/auth/me", headers={"Cookie": cookie}).json() == account
    avatar = nobody.get(account["avatar"])
    assert (avatar.status_code, avatar.headers["Content-Type"]) == (200, "image/svg+xml")


def test_without_a_display_name_the_user_name_is_shown(server: LocalServer) -> None:
    assert sign_up(server, "plain").json()["displayName"] == "plain"
    assert sign_up(server, "plain_too", displayName=None).json()["displayName"] == "plain_too"


def test_a_password_is_kept_as_argon2id(server: LocalServer) -> None:
    account_id = sign_up(server, "keeper").json()["id"]

    kept = server.run(server.runtime.db.one(HASH, account_id=account_id))
    assert kept
    assert kept.startswith("$argon2id$")
    assert PASSWORD not in kept


def test_names_and_addresses_are_taken_in_any_case(server: LocalServer) -> None:
    assert sign_up(server, "Olive").status_code == 201

    for body in ({"name": "oLIVE", "email": "x@example.org"}, {"name": "olive2", "email": "OLIVE@EXAMPLE.ORG"}):
        answer = sign_up(server, **body)
        assert (answer.status_code, answer.json()["error"]) == (409, "Conflict")
        assert "set-cookie" not in answer.headers
    for login in ("OLIVE", "olive", "Olive@example.org", "oLiVe@EXAMPLE.org"):
        assert sign_in(server, login).json()["username"] == "Olive"


GOOD = {"username": "some_body", "email": "a@example.org", "password": PASSWORD}

BAD_SIGN_UPS: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "nothing": ({}, [("username", "required"), ("email", "required"), ("password", "required")]),
    "short name": ({**GOOD, "username": "ab"}, [("username", "too_short")]),
    "long name": ({**GOOD, "username": "a" * 31}, [("username", "too_long")]),
    "very long name": ({**GOOD, "username": "é" * 50_000}, [("username", "too_long")]),
    "name with a dash": ({**GOOD, "username": "a-b"}, [("username", "invalid_format")]),
    "name with a space": ({**GOOD, "username": "a b"}, [("username", "invalid_format")]),
    "name with a line end": ({**GOOD, "username": "abc\n"}, [("username", "invalid_format")]),
    "name of another script": ({**GOOD, "username": "міра"}, [("username", "invalid_format")]),
    "name with other digits": ({**GOOD, "username": "abc٣"}, [("username", "invalid_format")]),
    "name of a wrong type": ({**GOOD, "username": 123}, [("username", "type")]),
    "e-mail without @": ({**GOOD, "email": "example.org"}, [("email", "invalid_format")]),
    "e-mail with two": ({**GOOD, "email": "a@b@example.org"}, [("email", "invalid_format")]),
    "e-mail with a space": ({**GOOD, "email": "a b@example.org"}, [("email", "invalid_format")]),
    "e-mail with a header": ({**GOOD, "email": "a@example.org\r\nBcc: b@example.org"}, [("email", "invalid_format")]),
    "e-mail without a host": ({**GOOD, "email": "a@"}, [("email", "invalid_format")]),
    "e-mail ending in a dot": ({**GOOD, "email": "a@example."}, [("email", "invalid_format")]),
    "long e-mail": ({**GOOD, "email": "a" * 243 + "@example.org"}, [("email", "too_long")]),
    "short password": ({**GOOD, "password": "123456789"}, [("password", "too_short")]),
    "long password": ({**GOOD, "password": "x" * 201}, [("password", "too_long")]),
    "password with a NUL": ({**GOOD, "password": "0123456789\0"}, [("password", "invalid_format")]),
    "blank display name": ({**GOOD, "displayName": " \u2003"}, [("displayName", "too_short")]),
    "long display name": ({**GOOD, "displayName": "x" * 101}, [("displayName", "too_long")]),
    "unknown": ({**GOOD, "isAdmin": True}, [("isAdmin", "unknown_field")]),
    "much": (
        {"username": "a", "email": "b", "password": "c", "verified": True},
        [
            ("password", "too_short"),
            ("verified", "unknown_field"),
            ("username", "too_short"),
            ("email", "invalid_format"),
        ],
    ),
}


@one_engine
@pytest.mark.parametrize(("body", "expected"), BAD_SIGN_UPS.values(), ids=BAD_SIGN_UPS)
def test_a_sign_up_that_is_refused(server: LocalServer, body: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    before = server.run(server.runtime.db.one(ACCOUNTS))

    assert field_errors(nobody.post(f"{server.base_url}/api/auth/signup", json=body)) == expected
    assert server.run(server.runtime.db.one(ACCOUNTS)) == before


@one_engine
def test_the_longest_that_is_taken(server: LocalServer) -> None:
    email, password = "a" * 242 + "@example.org", "pässwörd 🗝" * 20

    assert sign_up(server, "a" * 30, email=email, password=password, displayName="x" * 100).status_code == 201
    assert sign_in(server, email, password).status_code == 200
    assert sign_up(server, "abc", password="0123456789").status_code == 201


@one_engine
def test_a_password_is_the_same_however_it_is_composed(server: LocalServer) -> None:
    assert sign_up(server, "composer", password="caf\u00e9 caf\u00e9 caf\u00e9").status_code == 201
    assert sign_in(server, "composer", "cafe\u0301 cafe\u0301 cafe\u0301").status_code == 200


def edit(actor: Actor, **fields: Any) -> httpx.Response:
    return actor.web.patch("/api/auth/me", json=fields)


def test_partial_edit_changes_given_fields_only(alice: Actor) -> None:
    before = alice.web.get("/api/auth/me").json()

    changed = edit(alice, bio="Notes on type.", isPrivate=True)
    assert changed.status_code == 200
    assert changed.json() == {**before, "bio": "Notes on type.", "isPrivate": True}
    assert edit(alice, displayName="E\u0301lise").json() == {**changed.json(), "displayName": "Élise"}
    assert edit(alice, displayName=None, isPrivate=False).json()["displayName"] == "Élise"
    assert edit(alice, bio=None).json()["bio"] is None
    renamed = edit(alice, username=before["username"].upper())
    assert renamed.json() == {**before, "username": before["username"].upper(), "displayName": "Élise"}
    assert alice.web.get("/api/auth/me").json() == renamed.json() == alice.api.get("/api/auth/me").json()


def test_account_turns_undiscoverable_and_back(alice: Actor) -> None:
    before = alice.web.get("/api/auth/me").json()

    hidden = {**before, "discoverable": False}
    assert edit(alice, discoverable=False).json() == hidden
    assert alice.web.get("/api/auth/me").json() == alice.api.get("/api/auth/me").json() == hidden
    assert edit(alice, bio="Notes on type.").json()["discoverable"] is False
    assert edit(alice, discoverable=True, bio=None).json() == before


def test_a_name_that_somebody_has_cannot_be_taken(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    answer = edit(alice, username=bob.account.username.upper(), bio="not kept")

    assert (answer.status_code, answer.json()["error"]) == (409, "Conflict")
    assert alice.web.get("/api/auth/me").json()["bio"] is None


BAD_EDITS: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "nothing": ({}, [("body", "required")]),
    "nulls alone": ({"username": None, "displayName": None}, [("body", "required")]),
    "a name": ({"username": "a"}, [("username", "too_short")]),
    "a long bio": ({"bio": "x" * 501}, [("bio", "too_long")]),
    "types": (
        {"username": 1, "displayName": [], "bio": {}, "isPrivate": "yes"},
        [("displayName", "type"), ("username", "type"), ("bio", "type"), ("isPrivate", "type")],
    ),
    "no display name": ({"displayName": ""}, [("displayName", "too_short")]),
    "what is not the owner's": (
        {"email": "x@example.org", "verified": True, "id": "x"},
        [("email", "unknown_field"), ("verified", "unknown_field"), ("id", "unknown_field"), ("body", "required")],
    ),
}


@one_engine
@pytest.mark.parametrize(("body", "expected"), BAD_EDITS.values(), ids=BAD_EDITS)
def test_an_edit_that_is_refused(alice: Actor, body: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    before = alice.web.get("/api/auth/me").json()

    assert field_errors(alice.web.patch("/api/auth/me", json=body)) == expected
    assert alice.web.get("/api/auth/me").json() == before


def test_where_sign_up_is_closed_there_is_none(local_server: Any) -> None:
    server = local_server(SIGNUP="closed")

    answer = sign_up(server, "nobody")

    assert (answer.status_code, answer.json()["error"]) == (404, "Not found")
    assert server.run(server.runtime.db.one(ACCOUNTS)) == 0


@pytest.mark.parametrize("server", ["postgres"], indirect=True)
def test_a_name_taken_at_the_very_moment_is_a_conflict(actor: MakeActor) -> None:
    alice, bob = actor(), actor()

    async def race() -> httpx.Response:
        """Holds the name in a transaction of another node until alice's request waits for it, then takes it."""
        other = await connect_to(alice.server.settings)
        watch = await connect_to(alice.server.settings)
        try:
            transaction = other.transaction()
            await transaction.start()
            await other.execute("UPDATE accounts SET username_key = 'coveted' WHERE id = $1", bob.account.id)
            asking = asyncio.create_task(asyncio.to_thread(edit, alice, username="coveted"))
            deadline = time.monotonic() + 60
            waiting = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            )
            while not await watch.fetchval(waiting):
                assert time.monotonic() < deadline
            await transaction.commit()
            return await asking
        finally:
            await other.close()
            await watch.close()

    answer = asyncio.run(race())

    assert (answer.status_code, answer.json()["error"]) == (409, "Conflict")
