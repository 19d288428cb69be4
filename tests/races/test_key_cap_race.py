"""Keys and accounts made and taken back at the same moment: caps hold, names are unique, events come once."""

import json
from collections import Counter
from collections.abc import Callable

from tests.harness.owners import Owner, sign_up, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.wire import ask, at_once

MakeServer = Callable[..., ServerProcess]

RACERS = 20


def test_twenty_creations_at_once_make_five_keys(race_server: MakeServer) -> None:
    server = race_server()
    owner = Owner(server)

    answers = at_once([owner.create_key(f"key {n}") for n in range(RACERS)])

    assert Counter(answer.status for answer in answers) == {201: 5, 409: RACERS - 5}
    assert {answer.json()["error"] for answer in answers if answer.status == 409} == {"Conflict"}
    assert count(server, "api_keys") == 5
    keys = [answer.json()["key"] for answer in answers if answer.status == 201]
    assert [ask(who_am_i(server, key)).status for key in keys] == [200] * 5


def test_one_place_that_became_free_is_given_once(race_server: MakeServer) -> None:
    server = race_server()
    owner = Owner(server)
    made = [owner.new_key(f"key {n}").json() for n in range(5)]
    assert ask(owner.revoke(made[0]["id"])).status == 200

    answers = at_once([owner.create_key(f"other {n}") for n in range(RACERS)])

    assert Counter(answer.status for answer in answers) == {201: 1, 409: RACERS - 1}


def test_twenty_revocations_of_a_key_are_one_event(race_server: MakeServer) -> None:
    server = race_server()
    owner = Owner(server)
    made = owner.new_key().json()

    answers = at_once([owner.revoke(made["id"])] * RACERS)

    assert [answer.status for answer in answers] == [200] * RACERS
    assert len({answer.body for answer in answers}) == 1
    events = rows(server, "SELECT type, data FROM events")
    assert [(kind, json.loads(data)["apiKey"]["id"]) for kind, data in events] == [("apikey.revoked", made["id"])]
    assert json.loads(events[0][1])["apiKey"]["revokedAt"] == answers[0].json()["revokedAt"]
    assert ask(who_am_i(server, made["key"])).json()["error"] == "API key revoked"


def test_twenty_sign_ups_under_one_name_make_one_account(race_server: MakeServer) -> None:
    server = race_server()

    requests = [sign_up(server, "Alice" if n % 2 else "alice") for n in range(RACERS)]
    # On a busy machine some are told to come again, since their passwords would wait too long to be hashed.
    answers = [
        ask(request) if answer.status == 503 else answer
        for request, answer in zip(requests, at_once(requests), strict=True)
    ]

    assert Counter(answer.status for answer in answers) == {201: 1, 409: RACERS - 1}
    assert {answer.json()["error"] for answer in answers if answer.status == 409} == {"Conflict"}
    assert count(server, "accounts") == count(server, "sessions") == 1
