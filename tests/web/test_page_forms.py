"""Forms of pages: who may send them, how they become the struct of a JSON body, and how they come back."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import pressroom.server.app
from pressroom.errors import Code, FieldError
from pressroom.server.routes import ROUTES
from pressroom.web.page_forms import field_errors_for_people
from tests.api.actors import Actor, nobody
from tests.api.conftest import actor, alice
from tests.api.sockets import Wire
from tests.conftest import database_settings
from tests.harness import example_pages
from tests.harness.local import LocalServer

__all__ = ["actor", "alice"]

GOOD = {"label": "One", "scopes": ["a"]}


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """A server that has the example's routes as well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pressroom.server.app, "ROUTES", (*ROUTES, *example_pages.routes))
        server = LocalServer(tmp_path_factory.mktemp("server"), **database_settings(request, "sqlite")).start()
    yield server
    server.stop()


def send(who: Actor, fields: Any, path: str = "/example", **more: Any) -> httpx.Response:
    return who.web.post(path, data=fields, **more)


DECODED: dict[str, tuple[Any, dict[str, object]]] = {
    "text": ({"label": "One"}, {"label": "One"}),
    "line breaks": ({"label": "a\r\nb"}, {"label": "a\nb"}),
    "one of a list": ({"scopes": ["a"]}, {"scopes": ["a"]}),
    "several": ({"scopes": ["a", "b"]}, {"scopes": ["a", "b"]}),
    "lines": ({"networks": " 1\r\n\r\n2 \n"}, {"networks": ["1", "2"]}),
    "no lines": ({"networks": " \r\n"}, {"networks": None}),
    "a number": ({"count": "7"}, {"count": 7}),
    "an empty number": ({"count": ""}, {"count": None}),
    "ticked": ({"isPrivate": "true"}, {"isPrivate": True}),
    "ticked, after its hidden no": ({"isPrivate": ["false", "true"]}, {"isPrivate": True}),
    "not ticked": ({}, {"isPrivate": None}),
    "a time, with a zone": ({"since": "2026-11-22T10:30", "since_zone": "+02:00"}, {"since": "2026-11-22T10:30+02:00"}),
    "a time, without": ({"since": "2026-11-22T10:30", "since_zone": ""}, {"since": "2026-11-22T10:30Z"}),
    "a time, with a bad zone": ({"since": "2026-11-22T10:30", "since_zone": "x"}, {"since": "2026-11-22T10:30Z"}),
    "no time": ({"since": "soon", "since_zone": "+02:00"}, {"since": "soon"}),
    "a choice": ({"expiry": "90d", "expiryAt": "2026-11-22T10:30"}, {"expiry": "90d"}),
    "another": ({"expiry": "other", "expiryAt": "2026-11-22T10:30"}, {"expiry": "2026-11-22T10:30Z"}),
    "an object": ({"place.name": "x", "place.latitude": "1,5"}, {"place": {"name": "x", "latitude": 1.5}}),
    "an object, empty": ({"place.name": "", "place.latitude": ""}, {"place": None}),
}


@pytest.mark.parametrize(("fields", "expected"), DECODED.values(), ids=DECODED)
@pytest.mark.parametrize("kind", ["urlencoded", "multipart"])
def test_a_form_becomes_the_struct(alice: Actor, fields: Any, expected: dict[str, object], kind: str) -> None:
    given = {**GOOD, **fields}
    if kind == "multipart":
        texts = {name: [sent] if isinstance(sent, str) else sent for name, sent in given.items()}
        answer = alice.web.post("/example", files=[(name, (None, text)) for name in texts for text in texts[name]])
    else:
        answer = send(alice, given)

    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert {name: body.get(name) for name in expected} == expected


def test_edit_clears_fields_that_are_left_empty(alice: Actor) -> None:
    body = send(alice, {**GOOD, "bio": "", "networks": ""}, "/example/edit").json()

    assert body["bio"] is None
    assert body["networks"] == []
    assert body["isPrivate"] is False
    assert "bio" not in send(alice, {**GOOD, "bio": ""}).json(), "elsewhere it is not given"
    assert send(alice, {**GOOD, "label": ""}, "/example/edit").json()["errors"]["label"] == ["At least 1 characters."]


BAD: dict[str, tuple[Any, Any]] = {
    "nothing": ({}, {}),
    "too long": ({"label": "x" * 11, "scopes": "a"}, {"label": "x" * 11, "scopes": ["a"]}),
    "decomposed and too long": ({"label": "e\u0301" * 11, "scopes": "a"}, {"label": "e\u0301" * 11, "scopes": ["a"]}),
    "NUL": ({"label": "\0", "scopes": "a"}, {"label": "\0", "scopes": ["a"]}),
    "too many": ({**GOOD, "scopes": list("abcd")}, {**GOOD, "scopes": list("abcd")}),
    "no number": ({**GOOD, "count": "x"}, {**GOOD, "count": "x"}),
    "a number beyond": ({**GOOD, "count": "10"}, {**GOOD, "count": 10}),
    "a huge number": ({**GOOD, "count": "9" * 400}, {**GOOD, "count": "9" * 400}),
    "no boolean": ({**GOOD, "isPrivate": "perhaps"}, {**GOOD, "isPrivate": "perhaps"}),
    "unknown": ({**GOOD, "<b>": "1", "x" * 500: ""}, {**GOOD, "<b>": "1", "x" * 500: ""}),
    "an object as text": ({**GOOD, "place": "x"}, {**GOOD, "place": "x"}),
    "an object, incomplete": ({**GOOD, "place.name": "x"}, {**GOOD, "place": {"name": "x"}}),
    "a bad line": ({**GOOD, "networks": "1\n\n2222222"}, {**GOOD, "networks": ["1", "2222222"]}),
}


@pytest.mark.parametrize(("fields", "as_json"), BAD.values(), ids=BAD)
def test_the_faults_are_those_of_the_json_body(alice: Actor, fields: Any, as_json: object) -> None:
    expected = alice.web.post("/api/example", json=as_json).json()["details"]
    answer = send(alice, {**fields, "password": "not shown"})

    assert answer.status_code == 400
    shown = [message for messages in answer.json()["errors"].values() for message in messages]
    faults = [FieldError(fault["field"], Code(fault["code"]), fault["message"]) for fault in expected]
    known = [each.message for each in field_errors_for_people(faults) if each.code is not Code.UNKNOWN_FIELD]
    assert [message.removeprefix("Line 3: ") for message in shown] == known
    typed = {name: [texts] if isinstance(texts, str) else texts for name, texts in fields.items()}
    assert answer.json()["typed"] == typed, "what was typed is kept, but for secrets"


MULTIPART: dict[str, list[tuple[str, tuple[str | None, bytes]]]] = {
    "NUL": [("label", (None, b"a\0b"))],
    "a file": [("label", ("a.txt", b"x"))],
    "not UTF-8": [("label", (None, b"\xff"))],
    "too many bytes": [("label", (None, b"x" * 100_000))],
    "twice": [("label", (None, b"x")), ("label", (None, b"y"))],
    "a name that nobody knows": [("label", (None, b"x")), ("other", (None, b"y"))],
    "a NUL in a line": [("label", (None, b"x")), ("networks", (None, b"1\n\0"))],
}


@pytest.mark.parametrize("parts", MULTIPART.values(), ids=MULTIPART)
def test_fault_of_a_part_is_reported_once(alice: Actor, parts: list[tuple[str, tuple[str | None, bytes]]]) -> None:
    answer = alice.web.post("/example", files=[*parts, ("scopes", (None, b"a"))])

    assert answer.status_code == 400
    assert sum(len(messages) for messages in answer.json()["errors"].values()) <= 1
    assert answer.json()["faults"] == 1


def test_a_nul_in_a_field_that_is_not_needed_is_refused(alice: Actor) -> None:
    answer = send(alice, {**GOOD, "expiry": "90d", "expiryAt": "\0"})

    assert answer.json()["errors"]["body"] == ["A form must not hold the NUL character."]


def test_a_line_is_named_by_its_number(alice: Actor) -> None:
    errors = send(alice, BAD["a bad line"][0]).json()["errors"]

    assert errors["networks"] == ["Line 3: At most 5 characters; this has 7."]


AGAIN = {
    "conflict": (409, "There are five.", None),
    "unprocessable": (422, None, None),
    "many": (429, "Too many.", 90),
    "wrong": (401, "Wrong.", None),
    "away": (503, "Away.", 7),
}


@pytest.mark.parametrize("error", AGAIN)
def test_a_refused_form_comes_back(alice: Actor, error: str) -> None:
    status, message, retry_after = AGAIN[error]
    answer = send(alice, {"idempotency_key": "mine"}, f"/example/{error}/failing")

    assert answer.status_code == status
    assert (answer.json()["message"], answer.json()["retryAfter"]) == (message, retry_after)
    assert answer.headers.get("retry-after") == (None if retry_after is None else str(retry_after))
    assert answer.json()["key"] == "mine", "what failed may have been done: a repetition must not do it twice"


def test_unexpected_error_is_a_page_without_its_details(alice: Actor) -> None:
    answer = send(alice, {}, "/example/bug/failing")

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "secret cause" not in answer.text


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("/example", "/login?next=%2Fexample"),
        ("/example?a=1&b=%2F", "/login?next=%2Fexample%3Fa%3D1%26b%3D%252F"),
        ("/settings", "/login?next=%2Fsettings"),
    ],
)
def test_signed_out_visitor_is_sent_to_sign_in(server: LocalServer, target: str, location: str) -> None:
    answer = nobody.get(server.base_url + target)

    assert (answer.status_code, answer.headers["location"]) == (303, location)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.content == b""
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("/example", "/login?next=%2Fexample"),
        ("/example?a=1", "/login?next=%2Fexample%3Fa%3D1"),
        ("/example/edit", "/login?next=%2Fexample"),
        ("/example/edit?next=/there%23below", "/login?next=%2Fthere%23below"),
        ("/example/edit?next=//elsewhere.example", "/login?next=%2Fexample"),
        ("/example/edit?next=/", "/login"),
    ],
)
def test_a_form_sent_after_the_session_ended(server: LocalServer, path: str, location: str) -> None:
    answer = nobody.post(server.base_url + path, data=GOOD)

    assert (answer.status_code, answer.headers["location"]) == (303, location)


@pytest.mark.parametrize("path", ["/example", "/example/visitor"])
@pytest.mark.parametrize("signed_in", [True, False])
@pytest.mark.parametrize("header", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}])
def test_a_form_of_another_site_is_refused(alice: Actor, path: str, signed_in: bool, header: dict[str, str]) -> None:
    client = alice.web if signed_in else nobody
    answer = client.post(alice.server.base_url + path, data=GOOD, headers=header)

    assert answer.status_code == 403
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert (
        "elsewhere" not in answer.text or "Origin" not in header or "&#39;https://elsewhere.example&#39;" in answer.text
    )


def test_redirection_names_the_completed_act(server: LocalServer) -> None:
    answer = nobody.post(f"{server.base_url}/example/visitor")

    assert (answer.status_code, answer.headers["location"]) == (303, "/example?done=signed-out")


def test_errors_of_pages_are_pages(server: LocalServer) -> None:
    for method, path, status in (("PUT", "/example", 405), ("POST", "/docs", 405), ("GET", "/absent", 404)):
        answer = nobody.request(method, server.base_url + path)
        assert answer.status_code == status
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "content-security-policy" in answer.headers
    assert nobody.put(f"{server.base_url}/example").headers["allow"] == "GET, POST, HEAD"
    assert nobody.put(f"{server.base_url}/healthz").headers["content-type"] == "application/json"


LARGE = {
    "urlencoded": (b"label=" + b"x" * 10_000_000, "application/x-www-form-urlencoded", 413),
    "multipart": (
        b'--b\r\nContent-Disposition: form-data; name="label"\r\n\r\n' + b"x" * 10_000_000 + b"\r\n--b--\r\n",
        "multipart/form-data; boundary=b",
        413,
    ),
    "multipart, below": (
        b'--b\r\nContent-Disposition: form-data; name="label"\r\n\r\n' + b"x" * 100_000 + b"\r\n--b--\r\n",
        "multipart/form-data; boundary=b",
        400,
    ),
    "many fields": (b"a=1&" * 2_000, "application/x-www-form-urlencoded", 400),
    "not UTF-8": (b"label=%ff", "application/x-www-form-urlencoded", 400),
    "raw bytes": (b"label=\xff", "application/x-www-form-urlencoded", 400),
    "json": (b"{}", "application/json", 415),
    "a file": (
        b'--b\r\nContent-Disposition: form-data; name="label"; filename="x"\r\n\r\nx\r\n--b--\r\n',
        "multipart/form-data; boundary=b",
        400,
    ),
}


@pytest.mark.parametrize(("body", "kind", "status"), LARGE.values(), ids=LARGE)
def test_bodies_that_are_no_such_form(alice: Actor, body: bytes, kind: str, status: int) -> None:
    answer = alice.web.post("/example", content=body, headers={"Content-Type": kind})

    assert answer.status_code == status, answer.text[:500]
    assert len(answer.content) < 5_000


def test_a_body_that_is_too_large_is_refused_before_it_is_there(alice: Actor) -> None:
    head = (
        f"POST /example HTTP/1.1\r\nHost: x\r\nCookie: {alice.cookie}\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10000000\r\n\r\nlabel=x"
    )
    with Wire(alice.server) as wire:
        wire.send(head.encode())
        assert wire.reply().status == 413
