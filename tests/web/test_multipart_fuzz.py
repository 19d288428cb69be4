"""Forms by real encoders and by chance, cut anywhere: one form or one refusal, however it arrives."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pressroom.errors import Invalid, PressroomError
from tests.web.form_bodies import END, file, part, read, seen, text


def cuts(body: bytes, places: Sequence[int]) -> list[bytes]:
    """`body`, cut at places."""
    bounds = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[start:end] for start, end in pairwise(bounds)]


tricky = st.lists(
    st.sampled_from([b"\r", b"\n", b"-", b"--", b"b", b"--b", b"\r\n", b"\r\n--", b"x", b"\x00", b"\xff", b"\r\n-"])
    | st.binary(max_size=8),
    max_size=20,
).map(b"".join)
bodies = tricky.filter(lambda raw: b"\r\n--b" not in b"\r\n" + raw + b"\r\n")
some_places = st.lists(st.integers(0, 2**20), max_size=12)
RELAXED = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(files=st.lists(bodies, max_size=5), alts=st.lists(bodies, max_size=3), content=bodies, places=some_places)
@RELAXED
def test_however_it_is_cut_it_is_the_same_form(
    tmp_path: Path, files: list[bytes], alts: list[bytes], content: bytes, places: list[int]
) -> None:
    body = b"".join([text("content", content), *map(file, files), *(text("altText", alt) for alt in alts), END])
    whole = seen(read(tmp_path, body))

    assert seen(read(tmp_path, cuts(body, places))) == whole
    if not whole[2]:
        assert [each[0] for each in whole[0]] == files
        assert whole[1]["content"] == [content.decode()]


heads = st.lists(
    st.sampled_from(
        [
            b"Content-Disposition: form-data",
            b'; name="media"',
            b"; name=content",
            b'; filename="',
            b'a"',
            b"; filename*=UTF-8''a",
            b"\\",
            b'"',
            b"Content-Type: text/plain",
            b"; charset=utf-16",
            b"multipart/mixed",
            b"Content-Length: 3",
            b"Content-Transfer-Encoding: base64",
            b"\r\n",
            b"\r\n\r\n",
            b"\r\n--b\r\n",
            b"\r\n--b--",
            b"--b\r\n",
            b"\n",
            b" ",
            b":",
        ]
    )
    | st.binary(max_size=6),
    max_size=30,
).map(b"".join)


@given(raw=heads, begun=st.booleans(), ended=st.booleans(), places=some_places)
@settings(RELAXED, max_examples=600)
def test_any_body_is_a_form_or_a_refusal(
    tmp_path: Path, raw: bytes, begun: bool, ended: bool, places: list[int]
) -> None:
    body = (b"--b\r\nContent-Disposition: form-data" if begun else b"") + raw + (b"\r\n" + END if ended else b"")
    outcomes: list[object] = []
    for chunks in ([body], cuts(body, places)):
        try:
            outcomes.append(seen(read(tmp_path, chunks)))
        except Invalid as refusal:
            outcomes.append([(field_error.field, field_error.code) for field_error in refusal.field_errors])
    assert outcomes[0] == outcomes[1]


@given(kind=st.text(max_size=40) | st.binary(max_size=40).map(lambda raw: raw.decode("latin-1")))
@settings(RELAXED)
def test_any_declared_type_is_a_form_or_a_refusal(tmp_path: Path, kind: str) -> None:
    for content_type in (kind, f"multipart/form-data{kind}", f"multipart/form-data; boundary={kind}"):
        try:
            form = read(tmp_path, file() + END, content_type)
        except PressroomError:
            continue
        seen(form)


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30)
contents = st.binary(min_size=1, max_size=2_000)
utf8 = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=200)


def by_httpx(files: list[tuple[str, bytes]], content: str, alts: list[str]) -> tuple[str, bytes]:
    """A form as httpx writes it: Content-Type and body."""
    fields = {"content": content, "altText": alts}
    request = httpx.Request("POST", "http://localhost", data=fields, files=[("media", each) for each in files])
    return request.headers["content-type"], request.read()


def by_requests(files: list[tuple[str, bytes]], content: str, alts: list[str]) -> tuple[str, bytes]:
    """A form as requests (urllib3) writes it."""
    fields = [("content", content), *(("altText", alt) for alt in alts)]
    request = requests.Request("POST", "http://localhost", data=fields, files=[("media", each) for each in files])
    prepared = request.prepare()
    content_type = prepared.headers["Content-Type"]
    assert isinstance(content_type, str)
    assert isinstance(prepared.body, bytes)
    return content_type, prepared.body


def by_curl(files: list[tuple[str, bytes]], content: str, alts: list[str]) -> tuple[str, bytes]:
    """A form in the way of curl: a long boundary of hyphens, a type for each file, `%22` for a quote in a name."""
    boundary = b"-" * 24 + b"0123456789abcdef012345"
    parts = [part('; name="content"', content.encode(), boundary=boundary)]
    parts += [part('; name="altText"', alt.encode(), boundary=boundary) for alt in alts]
    for name, body in files:
        disposition = f'; name="media"; filename="{name.replace(chr(34), "%22")}"'
        parts.append(part(disposition, body, "Content-Type: application/octet-stream", boundary=boundary))
    return f"multipart/form-data; boundary={boundary.decode()}", b"".join([*parts, b"--%b--\r\n" % boundary])


@pytest.mark.parametrize("client", [by_httpx, by_requests, by_curl])
@given(
    files=st.lists(st.tuples(names, contents), min_size=1, max_size=4),
    content=utf8,
    alts=st.lists(utf8, max_size=4),
    places=some_places,
)
@settings(RELAXED, max_examples=60)
def test_encoded_text_of_clients_is_decoded(
    tmp_path: Path,
    client: Callable[[list[tuple[str, bytes]], str, list[str]], tuple[str, bytes]],
    files: list[tuple[str, bytes]],
    content: str,
    alts: list[str],
    places: list[int],
) -> None:
    content_type, body = client(files, content, alts)

    read_files, texts, wrong = seen(read(tmp_path, cuts(body, places), content_type, len(body)))

    assert wrong == []
    assert [each[0] for each in read_files] == [each[1] for each in files]
    assert texts == {"content": [content]} | ({"altText": alts} if alts else {})
