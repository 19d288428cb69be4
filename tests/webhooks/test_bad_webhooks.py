"""Bodies of the webhook routes that are refused: all faults are named, and nothing is written.

The server is not in development mode: what leads to private addresses must be refused.
"""

import json
from typing import Any

import httpx
import pytest

from tests.api.actors import Actor, body_of, field_errors
from tests.api.conftest import one_engine
from tests.api.tables import held
from tests.outbound.ssrf import REFUSED
from tests.webhooks.endpoints import CHOOSABLE, webhooks_of

PUBLIC = "https://8.8.8.8/hook"
"""Needs no look-up; the server of these tests delivers nothing."""

GOOD = {"url": PUBLIC, "events": ["post.created"]}
NOW = "2027-01-15T08:00:00.000Z"
"""The time of every test server."""

FieldErrors = list[tuple[str, str]]

NO_OBJECTS = {
    "nothing": (b"", ("body", "required")),
    "words": (b"url=https://8.8.8.8/", ("body", "invalid_format")),
    "cut off": (b'{"url":"https://8.8', ("body", "invalid_format")),
    "a list": (b"[]", ("body", "type")),
    "a string": (b'"https://8.8.8.8/"', ("body", "type")),
    "null": (b"null", ("body", "type")),
    "Latin-1": (b'{"url":"https://8.8.8.8/\xe9"}', ("body", "invalid_format")),
    "deep": (b'{"url":' + b"[" * 10_000 + b"]" * 10_000 + b"}", ("body", "invalid_format")),
}

ADDING: dict[str, tuple[dict[str, Any], FieldErrors]] = {
    "nothing given": ({}, [("url", "required"), ("events", "required")]),
    "nulls": ({"url": None, "events": None}, [("url", "required"), ("events", "required")]),
    "url: a number": ({**GOOD, "url": 5}, [("url", "type")]),
    "url: true": ({**GOOD, "url": True}, [("url", "type")]),
    "url: a list": ({**GOOD, "url": [PUBLIC]}, [("url", "type")]),
    "url: an object": ({**GOOD, "url": {"href": PUBLIC}}, [("url", "type")]),
    "url: empty": ({**GOOD, "url": ""}, [("url", "too_short")]),
    "url: blank": ({**GOOD, "url": " "}, [("url", "not_allowed")]),
    "url: 2,049 characters": ({**GOOD, "url": PUBLIC.ljust(2_049, "x")}, [("url", "too_long")]),
    "url: enormous": ({**GOOD, "url": PUBLIC.ljust(100_000, "x")}, [("url", "too_long")]),
    "url: NUL": ({**GOOD, "url": PUBLIC + "\0"}, [("url", "invalid_format")]),
    "url: http": ({**GOOD, "url": "http://8.8.8.8/hook"}, [("url", "not_allowed")]),
    "url: a path": ({**GOOD, "url": "/hook"}, [("url", "not_allowed")]),
    "url: a name without addresses": ({**GOOD, "url": "https://nowhere.invalid/"}, [("url", "not_allowed")]),
    "events: a string": ({**GOOD, "events": "post.created"}, [("events", "type")]),
    "events: an object": ({**GOOD, "events": {"post.created": True}}, [("events", "type")]),
    "events: none": ({**GOOD, "events": []}, [("events", "too_few")]),
    "events: five": ({**GOOD, "events": [*CHOOSABLE, "x"]}, [("events", "too_many")]),
    "events: null among them": ({**GOOD, "events": ["post.created", None]}, [("events[1]", "type")]),
    "events: a number among them": ({**GOOD, "events": [1, "post.created"]}, [("events[0]", "type")]),
    "events: one twice": ({**GOOD, "events": ["post.created"] * 2}, [("events[1]", "duplicate")]),
    "events: everything": ({**GOOD, "events": ["*"]}, [("events[0]", "invalid_choice")]),
    "events: in capitals": ({**GOOD, "events": ["Post.Created"]}, [("events[0]", "invalid_choice")]),
    "events: a space behind": ({**GOOD, "events": ["post.created "]}, [("events[0]", "invalid_choice")]),
    "events: two in one": ({**GOOD, "events": ["post.created comment.created"]}, [("events[0]", "invalid_choice")]),
    "events: several faults": (
        {**GOOD, "events": ["like", "post.created", 5, "post.created"]},
        [("events[2]", "type"), ("events[0]", "invalid_choice"), ("events[3]", "duplicate")],
    ),
    "unknown: another name": ({**GOOD, "secret": "whsec_mine"}, [("secret", "unknown_field")]),
    "unknown: in capitals": ({**GOOD, "URL": PUBLIC}, [("URL", "unknown_field")]),
    "unknown: snake case, null": ({**GOOD, "event_types": None}, [("event_types", "unknown_field")]),
    "everything at once": (
        {"url": "https://user@8.8.8.8/", "events": ["x"], "enabled": True},
        [("enabled", "unknown_field"), ("url", "not_allowed"), ("events[0]", "invalid_choice")],
    ),
}

REDELIVERING: dict[str, tuple[dict[str, Any], FieldErrors]] = {
    "nothing given": ({}, [("since", "required")]),
    "null": ({"since": None, "until": None, "eventTypes": None}, [("since", "required")]),
    "until alone": ({"until": NOW}, [("since", "required")]),
    "since: a number": ({"since": 1_800_000_000}, [("since", "type")]),
    "since: a list": ({"since": [NOW]}, [("since", "type")]),
    # Both that are empty fail while RedeliverEvents.field_errors passes over an empty text: it goes on to a 500.
    "since: empty": ({"since": ""}, [("since", "invalid_format")]),
    "since: a date": ({"since": "2027-01-15"}, [("since", "invalid_format")]),
    "since: no zone": ({"since": "2027-01-15T07:00:00"}, [("since", "invalid_format")]),
    "since: no T": ({"since": "2027-01-15 07:00:00Z"}, [("since", "invalid_format")]),
    "since: no such day": ({"since": "2026-02-29T00:00:00Z"}, [("since", "invalid_format")]),
    "since: no such hour": ({"since": "2026-02-28T25:00:00Z"}, [("since", "invalid_format")]),
    "since: the year 0": ({"since": "0000-01-01T00:00:00Z"}, [("since", "invalid_format")]),
    "since: words": ({"since": "yesterday"}, [("since", "invalid_format")]),
    "since: too long": ({"since": NOW.ljust(41, "0")}, [("since", "too_long")]),
    "since: enormous": ({"since": "9" * 50_000}, [("since", "too_long")]),
    "since: NUL": ({"since": NOW + "\0"}, [("since", "invalid_format")]),
    "since: in the future": ({"since": "2027-01-15T08:00:00.001Z"}, [("since", "out_of_range")]),
    "since: in the future of another zone": ({"since": "2027-01-15T08:30:00+00:29"}, [("since", "out_of_range")]),
    "until: a number": ({"since": NOW, "until": 5}, [("until", "type")]),
    "until: no zone": ({"since": NOW, "until": "2027-01-15T09:00:00"}, [("until", "invalid_format")]),
    "until: empty": ({"since": NOW, "until": ""}, [("until", "invalid_format")]),
    "until: before since": ({"since": NOW, "until": "2027-01-15T07:59:59.999Z"}, [("until", "out_of_range")]),
    "until: before since by its zone": (
        {"since": NOW, "until": "2027-01-15T09:00:00+02:00"},
        [("until", "out_of_range")],
    ),
    "until: too long": ({"since": NOW, "until": NOW.ljust(41, "0")}, [("until", "too_long")]),
    "kinds: a string": ({"since": NOW, "eventTypes": "post.created"}, [("eventTypes", "type")]),
    "kinds: none": ({"since": NOW, "eventTypes": []}, [("eventTypes", "too_few")]),
    "kinds: five": ({"since": NOW, "eventTypes": [*CHOOSABLE, "x"]}, [("eventTypes", "too_many")]),
    "kinds: one twice": ({"since": NOW, "eventTypes": ["post.created"] * 2}, [("eventTypes[1]", "duplicate")]),
    "kinds: a number": ({"since": NOW, "eventTypes": [5]}, [("eventTypes[0]", "type")]),
    "kinds: null": ({"since": NOW, "eventTypes": [None]}, [("eventTypes[0]", "type")]),
    "unknown: snake case": ({"since": NOW, "event_types": ["post.created"]}, [("event_types", "unknown_field")]),
    "unknown: the other body's": ({"since": NOW, "events": None}, [("events", "unknown_field")]),
    "everything at once": (
        {"until": "soon", "eventTypes": ["x", 1], "limit": 5},
        [
            ("since", "required"),
            ("eventTypes[1]", "type"),
            ("limit", "unknown_field"),
            ("until", "invalid_format"),
            ("eventTypes[0]", "invalid_choice"),
        ],
    ),
}

NOT_TO_BE_CHOSEN = ["post.deleted", "postclip.deleted", "comment.deleted", "webhook.test"]

OTHERWISE = {
    "nothing": ("url", "too_short"),
    "too long": ("url", "too_long"),
    "a null byte": ("url", "invalid_format"),
    "half a surrogate pair": ("body", "invalid_format"),
}
"""Characters that no text field takes are refused in the words of text fields."""


def add(alice: Actor, body: object) -> httpx.Response:
    """Sends a body, or bytes as they are, that is to add an endpoint."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return alice.web.post(webhooks_of(alice.record.id), content=content)


@pytest.fixture
def redelivery(alice: Actor) -> str:
    """The path that redelivers to an endpoint of Alice's."""
    return f"{webhooks_of(alice.record.id)}/{body_of(add(alice, GOOD), 201)['id']}/redeliver"


@one_engine
@pytest.mark.parametrize(("body", "fault"), NO_OBJECTS.values(), ids=NO_OBJECTS)
def test_body_that_is_not_a_json_object_is_400(
    alice: Actor, redelivery: str, body: bytes, fault: tuple[str, str]
) -> None:
    before = held(alice.server)

    assert field_errors(add(alice, body)) == [fault]
    assert field_errors(alice.web.post(redelivery, content=body)) == [fault]

    assert held(alice.server) == before


@one_engine
@pytest.mark.parametrize(("body", "expected"), ADDING.values(), ids=ADDING)
def test_every_fault_of_an_endpoint_is_named(alice: Actor, body: dict[str, Any], expected: FieldErrors) -> None:
    before = held(alice.server)

    assert sorted(field_errors(add(alice, body))) == sorted(expected)

    assert held(alice.server) == before


@one_engine
@pytest.mark.parametrize(("body", "expected"), REDELIVERING.values(), ids=REDELIVERING)
def test_every_fault_of_a_redelivery_is_named(
    alice: Actor, redelivery: str, body: dict[str, Any], expected: FieldErrors
) -> None:
    before = held(alice.server)

    assert sorted(field_errors(alice.web.post(redelivery, json=body))) == sorted(expected)

    assert held(alice.server) == before


@one_engine
@pytest.mark.parametrize("kind", NOT_TO_BE_CHOSEN)
def test_reserved_events_and_tests_cannot_be_chosen(alice: Actor, redelivery: str, kind: str) -> None:
    before = held(alice.server)

    assert field_errors(add(alice, {**GOOD, "events": ["post.created", kind]})) == [("events[1]", "invalid_choice")]
    again = alice.web.post(redelivery, json={"since": NOW, "eventTypes": [kind]})
    assert field_errors(again) == [("eventTypes[0]", "invalid_choice")]

    assert held(alice.server) == before


@one_engine
@pytest.mark.parametrize(("url", "tries"), REFUSED, ids=[tries for _, tries in REFUSED])
def test_forbidden_address_is_refused(alice: Actor, url: str, tries: str) -> None:
    before = held(alice.server)

    answer = add(alice, {"url": url, "events": ["post.created"]})

    assert field_errors(answer) == [OTHERWISE.get(tries, ("url", "not_allowed"))]
    assert held(alice.server) == before


@one_engine
@pytest.mark.parametrize(
    "url",
    [
        PUBLIC,
        "https://8.8.8.8",
        "HTTPS://8.8.8.8:8443/a?b=c&d=%20",
        "https://[2001:4860:4860::8888]/",
        PUBLIC.ljust(2_048, "x"),
        "https://8.8.8.8/caf\u00e9",
    ],
)
def test_a_public_address_is_taken_and_shown_as_it_was_given(alice: Actor, url: str) -> None:
    assert body_of(add(alice, {"url": url, "events": list(CHOOSABLE)}), 201)["url"] == url


@pytest.mark.parametrize(
    "body",
    [
        {"since": NOW},
        {"since": NOW, "until": NOW},
        {"since": NOW, "until": None, "eventTypes": None},
        {"since": "0001-01-01T00:00:00Z", "until": "9999-12-31T23:59:59.999Z"},
        {"since": "2027-01-15T09:59:59.999+02:00", "until": NOW},
        {"since": "20270115T0800Z", "eventTypes": list(CHOOSABLE)},
    ],
)
def test_a_span_in_any_spelling_is_taken(alice: Actor, redelivery: str, body: dict[str, Any]) -> None:
    assert body_of(alice.web.post(redelivery, json=body)) == {"queued": 0, "skippedDuplicates": 0}
