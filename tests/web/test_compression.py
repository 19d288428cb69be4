"""What is compressed, for whom, and what never is."""

import gzip
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from pressroom.domains.accounts.models import Caller
from pressroom.routes import API_ROUTES
from pressroom.web import compression
from pressroom.web.compression import accepts_gzip
from pressroom.web.routing import Route
from pressroom.web.static_files import static_file, static_names, static_path
from tests.api.actors import Actor, body_of, nobody
from tests.api.conftest import actor, alice, one_engine, server
from tests.api.sockets import Reply, exchange
from tests.harness.local import LocalServer

__all__ = ["actor", "alice", "server"]
KEPT = ("etag", "vary", "cache-control")


@pytest.mark.parametrize(
    ("header", "wanted"),
    [
        ("", False),
        ("gzip", True),
        ("GZIP", True),
        ("gzip, deflate, br", True),
        ("br;q=1, gzip;q=0.1", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000, *", False),
        ("*", True),
        ("*;q=0", False),
        ("identity", False),
        ("identity, gzip;q=0.5", False),
        ("identity;q=0.5, gzip", True),
        ("identity;q=0, *;q=0.1", True),
        ("x-gzip", True),
        ("deflate, br, zstd", False),
        ("gzip;q=nonsense", False),
        ("gzip;level=9", False),
        ("gzip ; q=0.3", True),
        (";;;,,,=", False),
        ("a," * 5_000 + "gzip", False),
    ],
)
def test_who_wants_gzip(header: str, wanted: bool) -> None:
    assert accepts_gzip(header) is wanted


def static() -> Iterator[str]:
    yield from (static_path(name) for name in ("pressroom.css", "icon.svg", "docs.js"))


def ask(server: LocalServer, path: str, method: str = "GET", *lines: str, accept: str = "identity") -> Reply:
    return exchange(server, method, path, f"Accept-Encoding: {accept}", *lines)


@one_engine
@pytest.mark.parametrize("path", ["/openapi.json", "/docs/verification.py", *static()])
def test_a_document_is_the_same_compressed_and_not_sent_again(server: LocalServer, path: str) -> None:
    plain, packed = ask(server, path), ask(server, path, accept="gzip")

    assert plain.header("content-encoding") is None
    assert plain.header("vary") == packed.header("vary") == "accept-encoding"
    if len(plain.body) > 1_024:
        assert packed.header("content-encoding") == "gzip"
        assert len(packed.body) < len(plain.body) * 0.6
        assert gzip.decompress(packed.body) == plain.body
        assert plain.header("etag") != packed.header("etag")


@one_engine
@pytest.mark.parametrize("accept", ["identity", "gzip"])
@pytest.mark.parametrize("path", ["/openapi.json", "/docs/verification.py", *static()])
def test_a_document_that_is_known_is_not_sent_again(server: LocalServer, path: str, accept: str) -> None:
    first, head = ask(server, path, accept=accept), ask(server, path, "HEAD", accept=accept)

    assert head.body == b""
    assert head.header("content-length") == first.header("content-length") == str(len(first.body))
    for tag in (first.header("etag"), f'"other", W/{first.header("etag")}', "*"):
        again = ask(server, path, "GET", f"If-None-Match: {tag}", accept=accept)
        assert (again.status, again.body) == (304, b"")
        assert [again.header(name) for name in KEPT] == [first.header(name) for name in KEPT]
        assert again.header("content-length") is None
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
def test_pages_and_lists_are_compressed_when_they_are_long(alice: Actor) -> None:
    post = body_of(alice.post("# " + "long words " * 200), 201)
    for client, path in ((nobody, f"/post/{post['id']}"), (alice.web, "/api/posts")):
        answer = client.get(alice.server.base_url + path, headers={"Accept-Encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        assert "accept-encoding" in answer.headers["vary"]
        assert "long words" in answer.text
    assert "content-encoding" not in nobody.get(f"{alice.server.base_url}/healthz").headers


@one_engine
def test_an_answer_with_a_secret_is_never_compressed(alice: Actor) -> None:
    fields = {"label": "x", "scopes": ["posts:write"], "ipAllowlist": [f"10.{n}.0.0/16" for n in range(50)]}
    answer = alice.web.post("/api/auth/api-keys", json=fields, headers={"Accept-Encoding": "gzip"})

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
