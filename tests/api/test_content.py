"""The text of a post: its length, its stored form, and texts that are none."""

import json

import httpx
import pytest

from pressroom.db import Query
from tests.api.actors import NOTHING, Actor, field_errors
from tests.api.conftest import one_engine

SETTINGS = {"POSTS_PER_MINUTE": 1000, "REQUESTS_PER_MINUTE": 1000}

STORED = Query(str, "SELECT content FROM posts WHERE id = :post_id")
PUBLISHED = Query(str, "SELECT data FROM events WHERE account_id = :account_id ORDER BY id DESC LIMIT 1")

E_ACUTE = "e\u0301"
HAN = "\u1112\u1161\u11ab"
QA = "\u0958"  # Normal form C takes this one apart.


def publish(actor: Actor, content: str) -> httpx.Response:
    """Sends the text as it is, in UTF-8."""
    body = json.dumps({"content": content}, ensure_ascii=False).encode()
    return actor.api.post("/api/posts", content=body, headers={"Content-Type": "application/json"})


FITTING = {
    "ASCII": ("a" * 5000, "a" * 5000),
    "two bytes each": ("ö" * 5000, "ö" * 5000),
    "emoji": ("😀" * 5000, "😀" * 5000),
    "one too many, composed": (E_ACUTE + "a" * 4999, "é" + "a" * 4999),
    "twice as many, composed": (E_ACUTE * 5000, "é" * 5000),
    "three times as many, composed": (HAN * 5000, "한" * 5000),
    "half as many, taken apart": (QA * 2500, "\u0915\u093c" * 2500),
    "marks without end": ("a" + "\u0335" * 4999, "a" + "\u0335" * 4999),
    "families": ("👨‍👩‍👧" * 1000, "👨‍👩‍👧" * 1000),
    "marks in disorder": ("a\u0301\u0323", "ạ\u0301"),
    "white space around": ("\n a \u3000", "\n a \u3000"),
    "control characters": ("a\x01\x1b\x7f\u200b\u202eb", "a\x01\x1b\x7f\u200b\u202eb"),
    "what no one has assigned": ("\U0010ffff\ufffe", "\U0010ffff\ufffe"),
    "a joiner alone": ("\u200d", "\u200d"),
}


@pytest.mark.parametrize(("content", "kept"), FITTING.values(), ids=FITTING)
def test_text_is_returned_and_stored_in_normal_form_c(alice: Actor, content: str, kept: str) -> None:
    answer = publish(alice, content)

    assert answer.status_code == 201
    assert answer.json()["content"] == kept
    db = alice.server.runtime.db
    assert alice.server.run(db.one(STORED, post_id=answer.json()["id"])) == kept
    event = json.loads(alice.server.run(db.one(PUBLISHED, account_id=alice.account.id)) or "")
    assert event["post"]["content"] == kept


def test_escaped_text_is_measured_like_any_other(alice: Actor) -> None:
    escaped = alice.api.post("/api/posts", json={"content": "😀" * 5000})

    assert r"\ud83d\ude00" in json.dumps({"content": "😀"}), "this client escapes"
    assert escaped.status_code == 201
    assert escaped.json()["content"] == "😀" * 5000


TOO_LONG = {
    "ASCII": "a" * 5001,
    "ASCII and an escape": "a" * 5000 + "\\",
    "emoji": "😀" * 5001,
    "composed": E_ACUTE * 5001,
    "one, taken apart": "a" * 4999 + QA,
    "half as many, taken apart": QA * 2501,
    "ten times as many": "ö" * 50_000,
    "white space": " " * 5001,
}


@one_engine
@pytest.mark.parametrize("content", TOO_LONG.values(), ids=TOO_LONG)
def test_5001_characters_are_too_long(alice: Actor, content: str) -> None:
    assert field_errors(publish(alice, content)) == [("content", "too_long")]
    assert alice.written() == NOTHING


WHITE = (
    "\t\n\v\f\r \x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


@one_engine
def test_white_space_alone_is_no_content(alice: Actor) -> None:
    for content in [*WHITE, WHITE, " " * 5000]:
        assert field_errors(publish(alice, content)) == [("content", "required")], ascii(content)
    assert alice.written() == NOTHING


MARKS = {"two kinds": "\u0315\u0300" * 40_000, "hidden": "\u0f73" * 80_000, "fewer, hidden": "\u0f73" * 19_999}
"""Marks in the wrong order: to sort them takes a naive normaliser time that grows with the square of their number."""


@one_engine
@pytest.mark.parametrize("marks", MARKS.values(), ids=MARKS)
def test_no_text_keeps_the_server_busy(alice: Actor, marks: str) -> None:
    for path, body in [
        ("/api/posts", {"content": f"a{marks}"}),
        ("/api/posts", {"content": "a", "location": {"name": marks}}),
        ("/api/posts", {"content": "a", f"x{marks}": 1}),
        ("/api/auth/api-keys", {"label": marks, "expiry": marks}),
        ("/api/auth/signup", {"username": f"a{marks}"}),
        ("/api/auth/login", {"login": f"a{marks}", "password": "a"}),
    ]:
        client = alice.api if path == "/api/posts" else alice.web
        answer = client.post(path, content=json.dumps(body, ensure_ascii=False).encode())
        assert answer.status_code in (400, 413)
