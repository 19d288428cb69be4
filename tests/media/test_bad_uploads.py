"""Forms that are refused: every fault is named with its place, and nothing of them is kept."""

import contextlib
import json
from collections.abc import Callable

import pytest

from tests.api.actors import NOTHING, Actor, field_errors, refusal
from tests.api.conftest import one_engine
from tests.api.sockets import Reply, Wire
from tests.harness.roomy import ROOMY
from tests.media.uploads import (
    BOUNDARY,
    MEBIBYTE,
    UPLOAD,
    File,
    file,
    file_part,
    form,
    form_headers,
    image,
    kept,
    padded,
    part,
    text_part,
    upload,
    uploaded,
)

pytestmark = one_engine

SETTINGS = ROOMY

FieldAndCode = tuple[str, str]

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
HTML = b"<!doctype html><script>alert(1)</script>"
PNG = image("PNG")


def send(alice: Actor, content: bytes, *lines: str, **headers: str) -> Reply:
    """Sends a form as these bytes; a header given takes the place of ours, and an empty one leaves ours out."""
    own = form_headers(content, alice.key) | {name.replace("_", "-"): value for name, value in headers.items()}
    head = [f"POST {UPLOAD} HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in own.items() if value)]
    with Wire(alice.server) as wire:
        wire.send("\r\n".join([*head, *lines, "", ""]).encode("latin-1") + content)
        return wire.reply()


def field_errors_of(reply: Reply) -> list[FieldAndCode]:
    """Field and code of everything that a 400 complains of."""
    assert reply.status == 400, reply
    assert reply.json()["error"] == "Validation failed"
    return [(fault["field"], fault["code"]) for fault in reply.json()["details"]]


FILES: dict[str, tuple[list[File], list[FieldAndCode]]] = {
    "an empty file": ([file(b"")], [("media[0]", "too_short")]),
    "an empty file beside a good one": ([file(), file(b"")], [("media[1]", "too_short")]),
    "a JPEG declared as PNG": ([file(kind="image/png")], [("media[0]", "unsupported_media_type")]),
    "a video declared as an image": (
        [file(b"\0\0\0\x18ftypisom" + bytes(16))],
        [("media[0]", "unsupported_media_type")],
    ),
    "a JPEG declared as SVG": ([file(kind="image/svg+xml")], [("media[0]", "unsupported_media_type")]),
    "SVG called PNG": ([file(SVG, "image/png", "a.png")], [("media[0]", "unsupported_media_type")]),
    "SVG called SVG": ([file(SVG, "image/svg+xml", "a.svg")], [("media[0]", "unsupported_media_type")]),
    "HTML called PNG": ([file(HTML, "image/png", "a.png")], [("media[0]", "unsupported_media_type")]),
    "text": ([file(b"Hello", "text/plain", "a.txt")], [("media[0]", "unsupported_media_type")]),
    "text behind a byte order mark": ([file(b"\xef\xbb\xbfHi", None)], [("media[0]", "unsupported_media_type")]),
    "HEIC": ([file(b"\0\0\0\x18ftypheic" + bytes(16), "image/heic")], [("media[0]", "unsupported_media_type")]),
    "AVIF": ([file(b"\0\0\0\x18ftypavif" + bytes(16), "image/avif")], [("media[0]", "unsupported_media_type")]),
    "Matroska": ([file(b"\x1aE\xdf\xa3\x80B\x82\x88matroska", "video/webm")], [("media[0]", "unsupported_media_type")]),
    "PDF": ([file(b"%PDF-1.7", "application/pdf")], [("media[0]", "unsupported_media_type")]),
    "one byte": ([file(b"\xff")], [("media[0]", "unsupported_media_type")]),
    "two that are no media": (
        [file(b"one"), file(), file(HTML)],
        [("media[0]", "unsupported_media_type"), ("media[2]", "unsupported_media_type")],
    ),
    "two empty and two too many": (
        [file(b""), file(), file(b""), file(), file(), file()],
        [("media[0]", "too_short"), ("media[2]", "too_short"), ("media[4]", "too_many"), ("media[5]", "too_many")],
    ),
}


@pytest.mark.parametrize(("files", "expected"), FILES.values(), ids=FILES)
def test_files_that_are_refused(alice: Actor, files: list[File], expected: list[FieldAndCode]) -> None:
    before = kept(alice.server)

    assert field_errors(upload(alice.api, *files)) == expected
    assert kept(alice.server) == before
    assert alice.written() == NOTHING


@pytest.mark.parametrize(
    ("other", "code"), [(file(b""), "too_short"), (file(padded(8 * MEBIBYTE + 1)), "too_large")], ids=["empty", "large"]
)
@pytest.mark.parametrize("turned", [False, True], ids=["first", "last"])
def test_faults_of_size_do_not_hide_faults_of_type(alice: Actor, other: File, code: str, turned: bool) -> None:
    files = [other, file(HTML)] if turned else [file(HTML), other]
    expected = [code, "unsupported_media_type"] if turned else ["unsupported_media_type", code]

    found = field_errors(upload(alice.api, *files))

    assert sorted(found) == [(f"media[{place}]", each) for place, each in enumerate(expected)]


PLACES: dict[str, tuple[str, list[FieldAndCode]]] = {
    "no JSON": ("Köln", [("location", "invalid_format")]),
    "cut off": ('{"name": "Köln"', [("location", "invalid_format")]),
    "a list": ("[]", [("location", "type")]),
    "a text": ('"Köln"', [("location", "type")]),
    "a number": ("1", [("location", "type")]),
    "an empty object": ("{}", [("location.name", "required")]),
    "a blank name": ('{"name": " "}', [("location.name", "too_short")]),
    "a long name": (json.dumps({"name": "x" * 256}), [("location.name", "too_long")]),
    "an unknown field": ('{"name": "x", "lat": 1}', [("location.lat", "unknown_field")]),
    "far north": ('{"name": "x", "latitude": 90.1}', [("location.latitude", "out_of_range")]),
    "everything": (
        '{"name": 1, "latitude": -91, "longitude": "east", "planet": "Mars"}',
        [
            ("location.latitude", "out_of_range"),
            ("location.longitude", "type"),
            ("location.name", "type"),
            ("location.planet", "unknown_field"),
        ],
    ),
    "beyond all numbers": ('{"name": "x", "latitude": 1e999}', [("location", "invalid_format")]),
    "a long number": ('{"name": "x", "latitude": 1' + "0" * 300 + "}", [("location.latitude", "out_of_range")]),
    "a longer number": (
        '{"name": "x", "latitude": 1' + "0" * 400 + "}",
        [("location.latitude", "out_of_range")],
    ),
    "half of a pair": ('{"name": "\\ud800"}', [("location", "invalid_format")]),
    "not a number": ('{"name": "x", "latitude": NaN}', [("location", "invalid_format")]),
    "a NUL": ('{"name": "\\u0000"}', [("location.name", "invalid_format")]),
}


@pytest.mark.parametrize(("place", "expected"), PLACES.values(), ids=PLACES)
def test_places_that_are_none(alice: Actor, place: str, expected: list[FieldAndCode]) -> None:
    before = kept(alice.server)

    assert sorted(field_errors(upload(alice.api, location=place))) == expected
    assert kept(alice.server) == before


@pytest.mark.parametrize("depth", [100, 300, 500, 900, 1_000, 1_500, 3_000, 30_000])
def test_a_place_that_nests_deep_is_no_fault_of_ours(alice: Actor, depth: int) -> None:
    nested = upload(alice.api, location="[" * depth + "]" * depth)

    assert [field for field, _ in field_errors(nested)] in (["location"], ["body"])


TEXTS: dict[str, tuple[dict[str, str | list[str]], list[FieldAndCode]]] = {
    "content too long": ({"content": "x" * 5_001}, [("content", "too_long")]),
    "no such visibility": ({"visibility": "public"}, [("visibility", "invalid_choice")]),
    "an unknown field": ({"visbility": "PRIVATE"}, [("visbility", "unknown_field")]),
    "a poll": ({"poll": '{"options": ["a", "b"]}'}, [("poll", "unknown_field")]),
    "a link": ({"linkPreviewUrl": "https://example.org"}, [("linkPreviewUrl", "unknown_field")]),
    "content twice": ({"content": ["one", "two"]}, [("content", "duplicate")]),
    "visibility three times": ({"visibility": ["PRIVATE"] * 3}, [("visibility", "duplicate")]),
    "more descriptions than files": (
        {"altText": ["one", "two", ""]},
        [("altText[1]", "too_many"), ("altText[2]", "too_many")],
    ),
    "a long description": ({"altText": ["x" * 1_501]}, [("altText[0]", "too_long")]),
    "a NUL": ({"content": "a\0b"}, [("content", "invalid_format")]),
    "100 KiB": ({"content": "x" * 100 * 1024}, [("content", "too_long")]),
}


@pytest.mark.parametrize(("texts", "expected"), TEXTS.values(), ids=TEXTS)
def test_texts_that_are_refused(alice: Actor, texts: dict[str, str | list[str]], expected: list[FieldAndCode]) -> None:
    before = kept(alice.server)

    assert field_errors(upload(alice.api, idempotency_key=None, **texts)) == expected
    assert kept(alice.server) == before


def test_faults_of_files_and_of_texts_are_listed_together(alice: Actor) -> None:
    texts = {"content": "x" * 5_001, "visibility": "ALL", "location": '{"latitude": 100}', "hubid": "x"}

    refused = alice.api.post(
        UPLOAD, files=[file(b""), *[file()] * 4], data=texts, headers={"Idempotency-Key": "not visible ASCII"}
    )

    assert sorted(field_errors(refused)) == [
        ("content", "too_long"),
        ("header.Idempotency-Key", "invalid_format"),
        ("hubid", "unknown_field"),
        ("location.latitude", "out_of_range"),
        ("location.name", "required"),
        ("media[0]", "too_short"),
        ("media[4]", "too_many"),
        ("visibility", "invalid_choice"),
    ]
    assert alice.written() == NOTHING


HEAD_OF_MANY = {f"X-{n}": "x" for n in range(20)}

FORMS: dict[str, tuple[Callable[[], bytes], list[FieldAndCode]]] = {
    "no parts": (lambda: form([]), [("media", "required")]),
    "no file": (lambda: form([text_part("content", "Hello")]), [("media", "required")]),
    "an input left empty": (lambda: form([file_part(b"", name="")]), [("media", "required")]),
    "media as text": (lambda: form([text_part("media", "https://example.org/a.jpg")]), [("media[0]", "type")]),
    "content as a file": (lambda: form([file_part(), file_part(field="content")]), [("content", "type")]),
    "another field's name": (
        lambda: form([file_part(field="file")]),
        [("file", "unknown_field"), ("media", "required")],
    ),
    "media with brackets": (
        lambda: form([file_part(field="media[]")]),
        [("media", "required"), ("media[]", "unknown_field")],
    ),
    "a part without a name": (lambda: form([file_part(), part("", b"x")]), [("body", "invalid_format")]),
    "a part with an empty name": (lambda: form([file_part(), part('; name=""', b"x")]), [("body", "invalid_format")]),
    "a part with two names": (
        lambda: form([file_part(), part('; name="a"; name="b"', b"x")]),
        [("body", "invalid_format")],
    ),
    "a form in a form": (
        lambda: form([part('; name="media"', b"--x\r\n\r\n--x--", "Content-Type: multipart/mixed; boundary=x")]),
        [("body", "invalid_format")],
    ),
    "10,000 parts": (lambda: form([text_part("altText", "")] * 10_000), [("body", "too_many")]),
    "100,000 nameless parts": (lambda: form([b"\r\n"] * 100_000), [("body", "invalid_format")]),
    "20 headers in a part": (
        lambda: form([part('; name="media"', b"x", *(f"{name}: {value}" for name, value in HEAD_OF_MANY.items()))]),
        [("body", "invalid_format")],
    ),
    "a header of 1 MiB": (
        lambda: form([part('; name="media"', b"x", "X: " + "x" * MEBIBYTE)]),
        [("body", "invalid_format")],
    ),
    "a head without an end": (
        lambda: f"--{BOUNDARY}\r\nX: ".encode() + b"x" * 2 * MEBIBYTE,
        [("body", "invalid_format")],
    ),
    "a folded header": (
        lambda: form([part('; name="content"', b"x", "X: y\r\n z"), file_part()]),
        [("body", "invalid_format")],
    ),
    "no last boundary": (lambda: form([file_part()]).removesuffix(b"--\r\n"), [("body", "invalid_format")]),
    "cut within a file": (lambda: form([file_part()])[:-200], [("body", "invalid_format")]),
    "something before it": (lambda: b"Hello\r\n" + form([file_part()]), [("body", "invalid_format")]),
    "another boundary": (lambda: form([file_part()], "another"), [("body", "invalid_format")]),
    "bytes without sense": (lambda: bytes(range(256)) * 40, [("body", "invalid_format")]),
    "nothing": (lambda: b"", [("body", "invalid_format")]),
    "base64": (
        lambda: form([part('; name="media"; filename="a"', b"/9j/", "Content-Transfer-Encoding: base64")]),
        [("media[0]", "invalid_format")],
    ),
    "Latin-1": (lambda: form([file_part(), part('; name="content"', b"K\xf6ln")]), [("content", "invalid_format")]),
    "another charset": (
        lambda: form([file_part(), part('; name="content"', b"K\xf6ln", "Content-Type: text/plain; charset=latin1")]),
        [("content", "invalid_format")],
    ),
}


@pytest.mark.parametrize(("make", "expected"), FORMS.values(), ids=FORMS)
def test_forms_that_are_none(alice: Actor, make: Callable[[], bytes], expected: list[FieldAndCode]) -> None:
    before = kept(alice.server)

    found = field_errors_of(send(alice, make()))

    assert sorted(set(found)) == expected
    assert kept(alice.server) == before
    assert alice.written() == NOTHING


def test_no_more_than_a_hundred_faults_are_listed(alice: Actor) -> None:
    found = field_errors_of(send(alice, form([text_part("no", "x")] * 900)))

    assert len(found) <= 101
    assert found[-1] == ("body", "too_many")


@pytest.mark.parametrize(
    ("declared", "status"),
    {
        "application/json": 415,
        "application/x-www-form-urlencoded": 415,
        "multipart/mixed; boundary=x": 415,
        "image/jpeg": 415,
        "": 415,
        "multipart/form-data": 400,
        "multipart/form-data; boundary=": 400,
        f"multipart/form-data; boundary={'x' * 71}": 400,
        "multipart/form-data; boundary=a; boundary=b": 400,
        'multipart/form-data; boundary="a': 400,
        f"multipart/form-data; x={'x' * 5000}; boundary=a": 400,
    }.items(),
)
def test_content_types_that_are_refused(alice: Actor, declared: str, status: int) -> None:
    before = kept(alice.server)

    reply = send(alice, form([file_part()]), Content_Type=declared)

    labels = {415: "Unsupported media type", 400: "Validation failed"}
    assert (reply.status, reply.json()["error"]) == (status, labels[status])
    assert kept(alice.server) == before


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "identity, gzip", "nonsense"])
def test_a_content_encoding_is_refused(alice: Actor, encoding: str) -> None:
    reply = send(alice, form([file_part()]), Content_Encoding=encoding)

    assert (reply.status, reply.json()["error"]) == (415, "Unsupported media type")
    assert alice.written() == NOTHING


def test_body_shorter_than_its_length_leaves_nothing(alice: Actor) -> None:
    before, content = kept(alice.server), form([file_part()])
    head = form_headers(content, alice.key) | {"Content-Length": str(len(content) + 1)}

    with Wire(alice.server) as wire:
        lines = [f"POST {UPLOAD} HTTP/1.1", "Host: x", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        wire.send("\r\n".join(lines).encode() + content)
        wire.end()
        with contextlib.suppress(ConnectionError):
            assert wire.reply().status == 400

    assert kept(alice.server) == before


def test_a_chunked_form_is_taken_and_a_badly_chunked_one_is_not(alice: Actor) -> None:
    content = form([file_part()])
    pieces = [content[at : at + 100] for at in range(0, len(content), 100)]
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"

    taken = send(alice, chunked, Content_Length="", Transfer_Encoding="chunked")
    before = kept(alice.server)
    refused = send(alice, chunked[: 4 + 100 + 2] + b"zz\r\n", Content_Length="", Transfer_Encoding="chunked")

    assert taken.status == 201
    assert refused.status == 400
    assert kept(alice.server) == before


def test_names_of_files_lead_nowhere(alice: Actor) -> None:
    names = ["../../../../etc/passwd", "/etc/passwd", "..\\..\\x", "a\tb.jpg", "%00", ".", "CON", "x" * 2_000]
    for name in names[:4]:
        assert uploaded(alice, file(name=name))["media"][0]["processingStatus"] == "PROCESSING"
    for name in names[4:]:
        assert uploaded(alice, file(PNG, "image/png", name))["media"][0]["type"] == "image"


def test_a_stranger_is_refused_before_anything_is_read(alice: Actor) -> None:
    content = form([file_part()])
    head = f"POST {UPLOAD} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary={BOUNDARY}\r\n"

    with Wire(alice.server) as wire:
        wire.send(f"{head}Content-Length: {len(content)}\r\n\r\n".encode())
        reply = wire.reply()

    assert (reply.status, reply.json()["error"]) == (401, "Missing API key")


def test_another_method_is_refused(alice: Actor) -> None:
    assert refusal(alice.api.put(UPLOAD)) == (405, "Method not allowed")
