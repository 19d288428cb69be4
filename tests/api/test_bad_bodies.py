"""Bodies of POST /api/posts that are refused: all faults are named, and nothing is written."""

import json
import sys
from typing import Any

import httpx
import pytest

from tests.api.actors import NOTHING, Actor, field_errors
from tests.api.conftest import one_engine

SETTINGS = {"POSTS_PER_MINUTE": 1000, "REQUESTS_PER_MINUTE": 1000}

DEEP = 10_000

NOT_JSON = {
    "nothing": (b"", "required"),
    "white space": (b" \r\n\t", "required"),
    "words": (b"hello", "invalid_format"),
    "a form": (b"content=Hello", "invalid_format"),
    "cut off": (b'{"content": "Hel', "invalid_format"),
    "two objects": (b'{"content":"a"}{"content":"b"}', "invalid_format"),
    "a comment": (b'{"content":"a"} // b', "invalid_format"),
    "single quotes": (b"{'content': 'a'}", "invalid_format"),
    "a trailing comma": (b'{"content":"a",}', "invalid_format"),
    "a list": (b'[{"content":"a"}]', "type"),
    "a string": (b'"content"', "type"),
    "a number": (b"5", "type"),
    "null": (b"null", "type"),
    "true": (b"true", "type"),
    "Latin-1": ('{"content":"Köln"}'.encode("latin-1"), "invalid_format"),
    "UTF-16": ('{"content":"a"}'.encode("utf-16"), "invalid_format"),
    "UTF-16 without a mark": ('{"content":"a"}'.encode("utf-16-le"), "invalid_format"),
    "overlong UTF-8": (b'{"content":"\xc0\xaf"}', "invalid_format"),
    "a surrogate, raw": (b'{"content":"a\xed\xa0\x80b"}', "invalid_format"),
    "half a pair, first": (b'{"content":"a\\ud800b"}', "invalid_format"),
    "half a pair, second": (b'{"content":"a\\udc00b"}', "invalid_format"),
    "half a pair, in a name": (b'{"content":"a","\\ud800":1}', "invalid_format"),
    "a pair the wrong way round": (b'{"content":"\\udc00\\ud800"}', "invalid_format"),
    "a raw NUL": (b'{"content":"a\x00b"}', "invalid_format"),
    "a raw line break": (b'{"content":"a\nb"}', "invalid_format"),
    "a byte order mark": (b'\xef\xbb\xbf{"content":"a"}', "invalid_format"),
    "deep in a known field": (b'{"content":' + b"[" * DEEP + b"]" * DEEP + b"}", "invalid_format"),
    "deep in a field of any type": (b'{"content":"a","poll":' + b"[" * DEEP + b"]" * DEEP + b"}", "invalid_format"),
    "deep in an unknown field": (
        b'{"content":"a","x":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}",
        "invalid_format",
    ),
    "deep and never closed": (b"[" * 200_000, "invalid_format"),
    "NaN": (b'{"content":"a","location":{"name":"b","latitude":NaN}}', "invalid_format"),
    "Infinity": (b'{"content":"a","location":{"name":"b","latitude":-Infinity}}', "invalid_format"),
    "a number beyond all range": (b'{"content":"a","location":{"name":"b","latitude":1e999}}', "invalid_format"),
    "a number of 5,000 digits": (
        b'{"content":"a","location":{"name":"b","latitude":' + b"1" * 5000 + b"}}",
        "invalid_format",
    ),
}


def send(actor: Actor, body: bytes) -> httpx.Response:
    headers = {"Content-Type": "application/json", "Idempotency-Key": "again"}
    return actor.api.post("/api/posts", content=body, headers=headers)


@one_engine
@pytest.mark.parametrize(("body", "code"), NOT_JSON.values(), ids=NOT_JSON)
def test_body_without_a_json_object_is_refused(alice: Actor, body: bytes, code: str) -> None:
    assert field_errors(send(alice, body)) == [("body", code)]
    assert alice.written() == NOTHING


PLACES = {
    '{"content": "a",\n  "visibility": PUBLIC}': (2, 17),
    '{"content": "a"': (1, 16),
    '{"content": "a",}': (1, 16 if sys.version_info >= (3, 13) else 17),  # Python points at the comma since 3.13.
    '{"content": "é", é}': (1, 18),
    '\n\n{"content": "a"} {': (3, 18),
    '{"content": "a\n"}': (1, 15),
    "\ufeff{}": (1, 1),
    "[" * 50 + '{"a": 1' + "0" * 5_000 + "}": (1, 5_059),
}
"""Bodies that do not parse, and the line and column where they stop to be JSON."""


@one_engine
@pytest.mark.parametrize("body", PLACES, ids=lambda body: ascii(body[:30]))
def test_syntax_error_names_line_and_column(alice: Actor, body: str) -> None:
    line, column = PLACES[body]

    (fault,) = send(alice, body.encode()).json()["details"]

    assert fault["message"].endswith(f"(line {line}, column {column}).")


@one_engine
@pytest.mark.parametrize("body", ['{"content": "\\ud800"}', '{"content": 1e999}', '{"content": NaN}'])
def test_json_beyond_our_limits_is_refused_without_a_place(alice: Actor, body: str) -> None:
    (fault,) = send(alice, body.encode()).json()["details"]

    assert fault["message"].startswith("The body ")


@one_engine
def test_more_than_100_field_errors_are_cut_with_too_many(alice: Actor) -> None:
    def refused(count: int, **fields: object) -> list[tuple[str, str]]:
        body = {**fields, **{f"x{number}": 1 for number in range(count)}}
        answer = send(alice, json.dumps(body).encode())
        assert len(answer.content) < 50_000
        return field_errors(answer)

    unknown = [(f"x{number}", "unknown_field") for number in range(100)]
    assert refused(100, content="a") == unknown
    assert refused(101, content="a") == [*unknown[:99], ("body", "too_many")]
    assert refused(20_000, content=5, location={"name": 5}) == [
        ("content", "type"),
        ("location.name", "type"),
        *unknown[:97],
        ("body", "too_many"),
    ]
    assert refused(99) == [*unknown[:99], ("content", "required")]
    assert refused(100) == [*unknown[:99], ("body", "too_many")]
    assert alice.written() == NOTHING


REFUSED: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "nothing given": ({}, [("content", "required")]),
    "null for everything": (
        dict.fromkeys(["content", "visibility", "location", "hubId", "poll", "linkPreviewUrl"]),
        [("content", "required")],
    ),
    "content: a number": ({"content": 5}, [("content", "type")]),
    "content: a truth value": ({"content": True}, [("content", "type")]),
    "content: a list": ({"content": ["a"]}, [("content", "type")]),
    "content: an object": ({"content": {"text": "a"}}, [("content", "type")]),
    "content: NUL": ({"content": "a\0b"}, [("content", "invalid_format")]),
    "content: nothing": ({"content": ""}, [("content", "required")]),
    "visibility: unknown": ({"content": "a", "visibility": "EVERYBODY"}, [("visibility", "invalid_choice")]),
    "visibility: lower case": ({"content": "a", "visibility": "public"}, [("visibility", "invalid_choice")]),
    "visibility: empty": ({"content": "a", "visibility": ""}, [("visibility", "invalid_choice")]),
    "visibility: a number": ({"content": "a", "visibility": 1}, [("visibility", "type")]),
    "visibility: a list": ({"content": "a", "visibility": ["PUBLIC"]}, [("visibility", "type")]),
    "visibility: misspelt": ({"content": "a", "visibilty": "PRIVATE"}, [("visibilty", "unknown_field")]),
    "visibility: in capitals": ({"content": "a", "Visibility": "PRIVATE"}, [("Visibility", "unknown_field")]),
    "unknown: null too": ({"content": "a", "x": None}, [("x", "unknown_field")]),
    "unknown: the empty name": ({"content": "a", "": 1}, [("", "unknown_field")]),
    "unknown: like a path": ({"content.x": 1}, [("content.x", "unknown_field"), ("content", "required")]),
    "unknown: snake case": ({"content": "a", "hub_id": None}, [("hub_id", "unknown_field")]),
    "linkPreviewUrl: no address": ({"content": "a", "linkPreviewUrl": "here"}, [("linkPreviewUrl", "invalid_format")]),
    "linkPreviewUrl: false": ({"content": "a", "linkPreviewUrl": False}, [("linkPreviewUrl", "type")]),
    "location: a string": ({"content": "a", "location": "Köln"}, [("location", "type")]),
    "location: a list": ({"content": "a", "location": []}, [("location", "type")]),
    "location: empty": ({"content": "a", "location": {}}, [("location.name", "required")]),
    "location: null name": ({"content": "a", "location": {"name": None}}, [("location.name", "required")]),
    "location: no name": ({"content": "a", "location": {"name": ""}}, [("location.name", "too_short")]),
    "location: blank name": ({"content": "a", "location": {"name": "\u3000"}}, [("location.name", "too_short")]),
    "location: long name": ({"content": "a", "location": {"name": "ä" * 256}}, [("location.name", "too_long")]),
    "location: NUL": ({"content": "a", "location": {"name": "a\0"}}, [("location.name", "invalid_format")]),
    "location: unknown field": (
        {"content": "a", "location": {"name": "b", "latitud": 1}},
        [("location.latitud", "unknown_field")],
    ),
    "location: strings": (
        {"content": "a", "location": {"name": "b", "latitude": "50.9", "longitude": "6.9"}},
        [("location.latitude", "type"), ("location.longitude", "type")],
    ),
    "location: truth values": (
        {"content": "a", "location": {"name": "b", "latitude": True, "longitude": False}},
        [("location.latitude", "type"), ("location.longitude", "type")],
    ),
    "location: too far": (
        {"content": "a", "location": {"name": "b", "latitude": 90.000001, "longitude": -180.000001}},
        [("location.latitude", "out_of_range"), ("location.longitude", "out_of_range")],
    ),
    "location: very far": (
        {"content": "a", "location": {"name": "b", "latitude": -(10**300), "longitude": 10**400}},
        [("location.latitude", "out_of_range"), ("location.longitude", "out_of_range")],
    ),
    "everything at once": (
        {
            "content": "ä" * 5001,
            "visibility": "x",
            "location": {"latitude": 91, "longitude": "6", "nmae": "b"},
            "hubId": 7,
            "linkPreviewUrl": "x",
            "tags": [],
        },
        [
            ("content", "too_long"),
            ("visibility", "invalid_choice"),
            ("location.name", "required"),
            ("location.latitude", "out_of_range"),
            ("location.longitude", "type"),
            ("location.nmae", "unknown_field"),
            ("hubId", "type"),
            ("tags", "unknown_field"),
            ("linkPreviewUrl", "invalid_format"),
        ],
    ),
}


@one_engine
@pytest.mark.parametrize(("body", "expected"), REFUSED.values(), ids=REFUSED)
def test_every_fault_is_named(alice: Actor, body: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert field_errors(send(alice, json.dumps(body).encode())) == expected
    assert alice.written() == NOTHING


def test_faults_of_header_and_body_come_together(alice: Actor) -> None:
    answer = alice.api.post("/api/posts", json={"visibility": "x"}, headers={"Idempotency-Key": "a b"})

    assert field_errors(answer) == [
        ("header.Idempotency-Key", "invalid_format"),
        ("visibility", "invalid_choice"),
        ("content", "required"),
    ]
    assert alice.written() == NOTHING


def test_repeated_name_takes_the_last_value(alice: Actor) -> None:
    twice = send(alice, b'{"content":5,"visibility":"x","content":"last","visibility":"PRIVATE"}')

    assert twice.status_code == 201
    assert (twice.json()["content"], twice.json()["visibility"]) == ("last", "PRIVATE")


@one_engine
@pytest.mark.parametrize("last", ["null", "7", '""'])
def test_a_last_value_that_is_wrong_is_not_saved_by_the_first(alice: Actor, last: str) -> None:
    assert [field for field, _ in field_errors(send(alice, b'{"content":"first","content":%b}' % last.encode()))] == [
        "content"
    ]
    assert alice.written() == NOTHING


def test_null_for_an_optional_field_means_not_given(alice: Actor) -> None:
    body = {"content": "a", "visibility": None, "location": {"name": "b", "latitude": None}, "poll": None}
    answer = alice.api.post("/api/posts", json={**body, "hubId": None, "linkPreviewUrl": None})

    assert answer.status_code == 201
    assert answer.json()["visibility"] == "PUBLIC"
    assert answer.json()["location"] == {"name": "b"}


def test_a_long_unknown_name_is_shortened(alice: Actor) -> None:
    body = {"content": "a", "location": {"name": "b", "y" * 10_000: 1}, "x" * 10_000: 1}

    assert field_errors(send(alice, json.dumps(body).encode())) == [
        ("location." + "y" * 100, "unknown_field"),
        ("x" * 100, "unknown_field"),
    ]


def test_the_limits_of_a_location_belong_to_it(alice: Actor) -> None:
    for latitude, longitude in ((90, 180), (-90, -180), (0, -0.0), (1e-320, 12.345678901234567)):
        place = {"name": "x" * 255, "latitude": latitude, "longitude": longitude}
        answer = alice.api.post("/api/posts", json={"content": "a", "location": place})
        assert answer.status_code == 201
        assert answer.json()["location"] == place


def test_a_refused_request_may_be_sent_again_mended_under_its_key(alice: Actor) -> None:
    assert send(alice, b'{"content":5}').status_code == 400
    mended = send(alice, b'{"content":"five"}')

    assert mended.status_code == 201
    assert "Idempotent-Replayed" not in mended.headers
    assert alice.written() == (1, 1, 1, 1)
