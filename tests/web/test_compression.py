"""Compressed responses, their clients, and responses that never are."""

import gzip
import re
import sys
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from pressroom.domains.accounts.models import Caller
from pressroom.server.routes import API_ROUTES
from pressroom.web import compression
from pressroom.web.codings import ZSTD_FROM, Coding, accepted, best_of
from pressroom.web.routing import Route
from pressroom.web.static_files import static_file, static_names, static_path
from tests.api.actors import Actor, body_of, nobody
from tests.api.conftest import actor, alice, one_engine, server
from tests.api.sockets import Reply, exchange
from tests.harness.local import LocalServer

__all__ = ["actor", "alice", "server"]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

KEPT = ("etag", "vary", "cache-control")


LONG, SHORT = ZSTD_FROM, ZSTD_FROM - 1


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("", None),
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("gzip, deflate, br", "gzip"),
        ("br;q=1, gzip;q=0.1", "gzip"),
        ("gzip;q=0", None),
        ("gzip;q=0.000, *", None),
        ("*", "gzip"),
        ("*;q=0", None),
        ("identity", None),
        ("identity, gzip;q=0.5", None),
        ("identity, zstd;q=0.5", None),
        ("identity;q=0.5, gzip", "gzip"),
        ("identity;q=0.5, gzip;q=0.4, zstd;q=0.6", "zstd"),
        ("identity;q=0, *;q=0.1", "gzip"),
        ("x-gzip", "gzip"),
        ("deflate, br, zstd", "zstd"),
        ("ZSTD", "zstd"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("zstd , gzip", "zstd"),
        ("zstd;q=0.5, gzip", "gzip"),
        ("zstd;q=0, gzip", "gzip"),
        ("zstd;q=0, *", "gzip"),
        ("gzip;q=0.5, zstd;q=0.8", "zstd"),
        ("gzip;q=nonsense", None),
        ("gzip;q=nan, zstd;q=nan", None),
        ("gzip;level=9", None),
        ("gzip ; q=0.3", "gzip"),
        (";;;,,,=", None),
        ("a," * 5_000 + "gzip", None),
    ],
)
def test_which_coding_a_long_text_gets(header: str, wanted: str | None) -> None:
    assert best_of(accepted(header), LONG) == wanted


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("gzip, deflate, br, zstd", "gzip"),
        ("zstd, gzip", "gzip"),
        ("zstd", "zstd"),
        ("zstd, gzip;q=0.9", "zstd"),
        ("zstd, *", "gzip"),
        ("identity", None),
    ],
)
def test_which_coding_a_short_text_gets(header: str, wanted: str | None) -> None:
    assert best_of(accepted(header), SHORT) == wanted


UNPACK = {"gzip": gzip.decompress, "zstd": zstd.decompress}


def static() -> Iterator[str]:
    yield from (static_path(name) for name in ("pressroom.css", "icon.svg", "docs.js"))


DOCUMENTS = ["/openapi.json", "/docs", "/docs/verification.py", *static()]


def ask(server: LocalServer, path: str, method: str = "GET", *lines: str, accept: str = "identity") -> Reply:
    return exchange(server, method, path, f"Accept-Encoding: {accept}", *lines)


@one_engine
@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_document_is_the_same_compressed(server: LocalServer, path: str) -> None:
    plain = ask(server, path)
    assert plain.header("content-encoding") is None

    for coding in Coding:
        packed = ask(server, path, accept=coding)
        assert plain.header("vary") == packed.header("vary") == "accept-encoding"
        if len(plain.body) > 1_024:
            assert packed.header("content-encoding") == coding
            assert len(packed.body) < len(plain.body) * 0.6
            assert UNPACK[coding](packed.body) == plain.body
            assert plain.header("etag") != packed.header("etag")


@one_engine
def test_each_coding_has_a_tag_of_its_own(server: LocalServer) -> None:
    tags = {ask(server, "/openapi.json", accept=each).header("etag") for each in ("identity", *Coding)}
    assert len(tags) == 3
    assert not any(tag is None or tag.startswith("W/") for tag in tags)


@one_engine
def test_a_copy_counts_in_the_codings_that_the_client_accepts(server: LocalServer) -> None:
    tag_in = {each: ask(server, "/openapi.json", accept=each).header("etag") for each in ("identity", *Coding)}
    for accept in ("identity", "gzip", "zstd", "gzip, zstd"):
        answers = {
            each: ask(server, "/openapi.json", "GET", f"If-None-Match: {tag}", accept=accept)
            for each, tag in tag_in.items()
        }
        unchanged = {each: answer for each, answer in answers.items() if answer.status == 304}
        assert set(unchanged) == {"identity", *accept.split(", ")}
        assert all(answer.header("etag") == tag_in[each] for each, answer in unchanged.items())
        assert all(answer.header("vary") == "accept-encoding" for answer in answers.values())


@one_engine
@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_document_that_is_known_is_not_sent_again(server: LocalServer, path: str) -> None:
    for accept in ("identity", *Coding):
        first, head = ask(server, path, accept=accept), ask(server, path, "HEAD", accept=accept)

        assert head.body == b""
        assert head.header("content-length") == first.header("content-length") == str(len(first.body))
        assert [head.header(name) for name in KEPT] == [first.header(name) for name in KEPT]
        for tag in (first.header("etag"), f'"other", W/{first.header("etag")}', "*"):
            again = ask(server, path, "GET", f"If-None-Match: {tag}", accept=accept)
            assert (again.status, again.body) == (304, b"")
            assert [again.header(name) for name in KEPT] == [first.header(name) for name in KEPT]
            assert again.header("content-length") is None
            assert again.header("content-encoding") is None
        assert ask(server, path, "GET", 'If-None-Match: "other"', accept=accept).status == 200


@one_engine
def test_static_files_are_kept_for_good_at_addresses_of_their_content(server: LocalServer) -> None:
    for name in static_names():
        assert re.fullmatch(rf"/static/[0-9a-f]{{12}}/{re.escape(name)}", static_path(name))
    answer = nobody.get(server.base_url + static_path("pressroom.css"))

    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert nobody.get(f"{server.base_url}/static/pressroom.css").status_code == 404
    assert nobody.get(f"{server.base_url}/static/{'0' * 12}/pressroom.css").status_code == 404


@one_engine
@pytest.mark.parametrize("coding", Coding)
def test_pages_and_lists_are_compressed_when_they_are_long(alice: Actor, coding: Coding) -> None:
    post = body_of(alice.post("# " + "long words " * 200), 201)
    for client, path in ((nobody, f"/post/{post['id']}"), (alice.web, "/api/posts")):
        with client.stream("GET", alice.server.base_url + path, headers={"Accept-Encoding": coding}) as answer:
            packed = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == coding
        assert "accept-encoding" in answer.headers["vary"]
        assert b"long words" in UNPACK[coding](packed)
    assert "content-encoding" not in nobody.get(f"{alice.server.base_url}/healthz").headers


@one_engine
@pytest.mark.parametrize("coding", Coding)
def test_an_answer_with_a_secret_is_never_compressed(alice: Actor, coding: Coding) -> None:
    fields = {"label": "x", "scopes": ["posts:write"], "ipAllowlist": [f"10.{n}.0.0/16" for n in range(50)]}
    answer = alice.web.post("/api/auth/api-keys", json=fields, headers={"Accept-Encoding": coding})

    assert answer.status_code == 201
    assert len(answer.content) > 1_024
    assert "content-encoding" not in answer.headers


WITH_SECRET = [route for route in API_ROUTES if "secret" in getattr(route.gives, "__struct_fields__", ())]


def test_which_answers_hold_a_secret() -> None:
    assert {route.name for route in WITH_SECRET} >= {
        "create_webhook",
        "replace_webhook",
        "rotate_webhook",
        "begin_two_factor",
    }


@one_engine
@pytest.mark.parametrize("route", WITH_SECRET, ids=lambda route: route.name)
def test_no_answer_with_a_secret_is_compressed(
    alice: Actor, route: Route[Caller], monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = f"/api/auth/api-keys/{alice.record.id}/webhooks"
    hook = {"url": "https://93.184.216.34/", "events": ["post.created"]}
    hook_id = body_of(alice.web.post(hooks, json=hook), 201)["id"]
    path = route.path.format(keyId=alice.record.id, webhookId=hook_id)
    monkeypatch.setattr(compression, "SMALLEST", 0)
    body = hook if route.example else None
    headers = {"Accept-Encoding": "gzip", "Idempotency-Key": "one"}

    new, again = (alice.web.request(route.method, path, json=body, headers=headers) for _ in range(2))

    assert new.json()["secret"]
    assert "content-encoding" not in new.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert not again.json()["secret"] or "content-encoding" not in again.headers
    assert alice.web.get(hooks, headers=headers).headers["content-encoding"] == "gzip"


def imported(name: str, found: set[str]) -> set[str]:
    """The script `name` and all that it imports at its start."""
    if name not in found:
        found.add(name)
        text = static_file(name).body.decode()
        for path in re.findall(r"""(?:from|import)\s*["'`](\./[^"'`]+\.js)""", text):
            imported(str(PurePosixPath(name).parent / path), found)
    return found


@one_engine
def test_the_reference_is_sent_in_less_than_900_kilobytes(server: LocalServer) -> None:
    page = exchange(server, "GET", "/docs").body.decode()
    scripts = imported("vendor/scalar-api-reference/standalone.esm.js", set())
    paths = {"/docs", "/openapi.json", *re.findall(r'/static/[^"]+', page), *map(static_path, scripts)}
    sizes = {path: len(ask(server, path, accept="gzip").body) for path in paths}

    assert len(scripts) > 5
    assert sum(sizes.values()) < 900_000, sizes
