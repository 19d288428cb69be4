"""Addresses of media in pages that few may see, and in a store that serves its files itself."""

import hmac
import re
import time
from urllib.parse import parse_qs, urlsplit

import pytest

from pressroom.clock import HOUR, MINUTE, SECOND
from pressroom.db import Database, Query
from pressroom.domains.media.urls import LONGEST, STEP, WITHOUT_END, ending, signed_token
from pressroom.domains.shared_state.models import SecretName
from tests.api.actors import Actor, body_of, follow, nobody, read, rows
from tests.api.conftest import MakeActor, one_engine
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.uploads import addresses_in, fetch, file, image, media_of, opened, path_of, ready, ready_clip

SETTINGS = ROOMY

PICTURE = (300, 200)
TOKEN = Query(str, "SELECT token FROM media WHERE id = :media_id")


def test_a_page_that_everybody_sees_shows_lasting_addresses(alice: Actor) -> None:
    post = ready(alice)

    shown = addresses_in(nobody.get(f"{alice.server.base_url}/post/{post['id']}").text)

    assert path_of(media_of(post)["url"]) in {address.removesuffix("/thumbnail") for address in shown}


@pytest.mark.parametrize("visibility", ["FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM"])
def test_a_page_that_few_see_shows_addresses_that_run_out(alice: Actor, visibility: str) -> None:
    post = ready(alice, visibility=visibility)
    token = path_of(media_of(post)["url"])

    page = alice.web.get(f"/post/{post['id']}")
    shown = addresses_in(page.text)

    assert page.status_code == 200
    assert shown
    assert token not in page.text
    assert all(address.startswith("/media/signed.") for address in shown)
    for address in shown:
        answer = fetch(alice.server, address)
        assert answer.status_code == 200
        assert re.fullmatch("private, max-age=[0-9]{1,3}", answer.headers["cache-control"])
    alice.server.clock.advance(LONGEST - STEP - MINUTE)
    assert {fetch(alice.server, address).status_code for address in shown} == {200}
    alice.server.clock.advance(STEP + MINUTE)
    assert {fetch(alice.server, address).status_code for address in shown} == {404}


def row_token(server: LocalServer, media_id: str) -> str:
    """The row of a file."""
    return rows(server, TOKEN, media_id=media_id)[0]


def signed_before(media_id: str, row: str, secret: str, until: int) -> str:
    """A token as versions signed it that named no reader."""
    mac = hmac.digest(secret.encode(), f"media.{media_id}.{row}.{until}".encode(), "sha256").hex()[:32]
    return f"signed.{media_id}.{until}.{mac}"


@one_engine
def test_a_signed_address_cannot_be_altered(server: LocalServer, alice: Actor, actor: MakeActor) -> None:
    one, other = (media_of(ready(alice, visibility="FOLLOWERS")) for _ in range(2))
    bob, carol, eve = (actor() for _ in range(3))
    for follower in (bob, carol):
        follow(follower, alice)
    reader, until = bob.account.id, server.clock.now() + HOUR
    row, secret = row_token(server, one["id"]), server.secret(SecretName.MEDIA)
    token = signed_token(one["id"], row, secret, ending(reader, until))
    carols = signed_token(one["id"], row, secret, ending(carol.account.id, until))
    name, media_id, _, time_, mac = token.split(".")
    flipped = mac[:-1] + ("0" if mac[-1] != "0" else "1")
    grant = ending(reader, until)
    foreign = signed_token(one["id"], row, "another secret", grant).rpartition(".")[2]
    before = signed_token(one["id"], "another token", secret, grant).rpartition(".")[2]
    lasting = signed_token(one["id"], row, secret, WITHOUT_END).rpartition(".")[2]
    altered = [
        (name, other["id"], reader, time_, mac),
        (name, media_id.lower(), reader, time_, mac),
        *((name, media_id, who.account.id, time_, mac) for who in (carol, alice, eve)),
        (name, media_id, reader, time_, carols.rpartition(".")[2]),
        (name, media_id, reader.lower(), time_, mac),
        (name, media_id, reader[:-1], time_, mac),
        (name, media_id, reader + "0", time_, mac),
        (name, media_id, reader * 100, time_, mac),
        (name, media_id, "", time_, mac),
        (name, media_id, "%00" * 26, time_, mac),
        (name, media_id, "%D9%A1" * 26, time_, mac),
        (name, media_id, reader, str(until + 1), mac),
        (name, media_id, reader, WITHOUT_END, mac),
        (name, media_id, reader, WITHOUT_END, lasting),
        (name, media_id, reader, f"0{until}", mac),
        (name, media_id, reader, "9" * 5000, mac),
        (name, media_id, reader, f"-{until}", mac),
        (name, media_id, reader, "", mac),
        (name, media_id, time_, reader, mac),
        (name, media_id, reader, reader, time_, mac),
        (name, media_id, time_, mac),
        (name, media_id, reader, mac),
        (name, media_id, WITHOUT_END, mac),
        *(
            (name, media_id, reader, time_, each)
            for each in (flipped, mac[:-1], mac.upper(), foreign, before, lasting, "")
        ),
        (name.upper(), media_id, reader, time_, mac),
    ]

    assert {fetch(server, f"/media/{each}").status_code for each in (token, carols)} == {200}
    for parts in altered:
        wrong = ".".join(parts)
        if wrong != token:
            assert fetch(server, f"/media/{wrong}").status_code == 404, wrong


def test_a_genuine_address_opens_nothing_to_whom_it_names_without_a_right(alice: Actor, actor: MakeActor) -> None:
    server, eve = alice.server, actor()
    until = server.clock.now() + HOUR
    for visibility in ("PUBLIC", "FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM"):
        entry = media_of(ready(alice, visibility=visibility))
        for reader in (alice.account.id, eve.account.id, "01HZ0000000000000000000000"):
            grant = ending(reader, until)
            token = signed_token(entry["id"], row_token(server, entry["id"]), server.secret(SecretName.MEDIA), grant)
            may = reader == alice.account.id or (visibility == "PUBLIC" and reader == eve.account.id)
            assert fetch(server, f"/media/{token}").status_code == (200 if may else 404), (visibility, reader)


def test_an_address_of_a_version_that_named_no_reader_ends_but_the_authors(alice: Actor) -> None:
    server, entry = alice.server, media_of(ready(alice, visibility="FOLLOWERS"))
    row, secret = row_token(server, entry["id"]), server.secret(SecretName.MEDIA)

    theirs = signed_before(entry["id"], row, secret, server.clock.now() + MINUTE)
    own = signed_before(entry["id"], row, secret, 0)

    assert fetch(server, f"/media/{theirs}").status_code == 404
    assert path_of(entry["url"]) == f"/media/{own}"
    assert fetch(server, f"/media/{own}").status_code == 200


def test_a_files_address_costs_few_statements(alice: Actor, actor: MakeActor, monkeypatch: pytest.MonkeyPatch) -> None:
    server, reader = alice.server, actor()
    follow(reader, alice)
    public, few = ready(alice), ready(alice, visibility="FOLLOWERS")
    lasting = [path_of(media_of(post)["url"]) for post in (public, few)]
    asked: list[object] = []
    one = type(server.runtime.db).one

    def noted(self: Database, query: Query[object], **values: str) -> object:
        asked.append(query)
        return one(self, query, **values)

    named = path_of(media_of(read(reader, few["id"]))["url"])
    monkeypatch.setattr(type(server.runtime.db), "one", noted)
    for path, most in ((lasting[0], 1), (lasting[1], 1), (named, 2), (named[:-1] + "z", 0), (named + "0", 0)):
        asked.clear()
        fetch(server, path)
        assert len(asked) == most, path


@one_engine
def test_no_token_is_logged(server: LocalServer, alice: Actor, actor: MakeActor) -> None:
    public, private = ready(alice), ready(alice, visibility="FOLLOWERS")
    bob = actor()
    follow(bob, alice)
    posts = (public, private, read(bob, private["id"]))
    paths = [path_of(media_of(post)["url"]) for post in posts]
    assert bob.account.id in paths[2]

    for path in paths:
        for suffix in ("", "/thumbnail", "/medium", "/poster", "/nothing", "/thumbnail/"):
            fetch(server, path + suffix)
        fetch(server, path.replace("/media/", "/%6dedia/"))
        for misspelt in ("/cards/", "//media/", "/Media/", "/api/media/", "/media//"):
            fetch(server, path.replace("/media/", misspelt))
    server.runtime.log.flush()

    log = server.stream.getvalue()
    assert '"/media/[token]"' in log
    assert not any(path.removeprefix("/media/") in log for path in paths)
    assert not any(path.rpartition(".")[2] in log for path in paths)


def test_a_signed_address_ends_with_its_post(alice: Actor, actor: MakeActor) -> None:
    post, bob = ready(alice, visibility="FOLLOWERS"), actor()
    follow(bob, alice)
    shown = addresses_in(bob.web.get(f"/post/{post['id']}").text)
    assert {fetch(alice.server, address).status_code for address in shown} == {200}

    body_of(alice.api.delete(f"/api/posts/{post['id']}"))

    assert {fetch(alice.server, address).status_code for address in shown} == {404}


def test_from_an_s3_store_readers_are_sent_to_the_store(
    tmp_path_factory: pytest.TempPathFactory, bucket_url: str
) -> None:
    server = LocalServer(tmp_path_factory.mktemp("with_s3"), BLOBS_URL=bucket_url, **ROOMY).start()
    try:
        # Presigned addresses are judged by the store's clock.
        server.clock.time = round(time.time() * 1000)
        alice = Actor(server)
        post = ready(alice, file(image("PNG", PICTURE), "image/png"))
        entry = media_of(post)
        for address, size in ((entry["url"], PICTURE), (entry["thumbnailUrl"], PICTURE)):
            answer = nobody.get(address)
            assert (answer.status_code, answer.content) == (302, b"")
            assert answer.headers["cache-control"] == "no-store"
            stored = nobody.get(answer.headers["location"])
            assert (stored.status_code, stored.headers["content-type"]) == (200, "image/webp")
            assert opened(stored.content).size == size
            part = nobody.get(answer.headers["location"], headers={"Range": "bytes=0-3"})
            assert (part.status_code, part.content) == (206, b"RIFF")
        assert read(alice, post["id"])["media"][0]["sizeBytes"] == len(
            nobody.get(entry["url"], follow_redirects=True).content
        )
        page = alice.web.get(f"/post/{post['id']}")
        assert str(server.runtime.blobs.origin) in page.headers["content-security-policy"]
        body_of(alice.api.delete(f"/api/posts/{post['id']}"))
        assert nobody.get(entry["url"]).status_code == 404
    finally:
        server.stop()


def test_signed_address_of_a_restricted_file_holds_for_a_minute(
    tmp_path_factory: pytest.TempPathFactory, bucket_url: str
) -> None:
    """Nothing can end it. A video's holds for as long again as it plays: players read on at the store's address."""
    server = LocalServer(tmp_path_factory.mktemp("with_s3"), BLOBS_URL=bucket_url, **ROOMY).start()
    try:
        alice, bob = Actor(server), Actor(server)
        follow(bob, alice)
        clip = ready_clip(alice, visibility="FOLLOWERS")
        pictures = [media_of(ready(alice, visibility=each)) for each in ("PUBLIC", "FOLLOWERS")]
        his = body_of(bob.web.get(f"/api/clips/{clip['id']}"))
        server.clock.advance(STEP - server.clock.now() % STEP)

        def seconds(address: str) -> int:
            answer = nobody.get(address)
            assert answer.status_code == 302
            return int(parse_qs(urlsplit(answer.headers["location"]).query)["X-Amz-Expires"][0])

        assert 0 < clip["duration"] <= 1
        assert [seconds(each["url"]) for each in (*pictures, clip, his)] == [300, 60, 61, 61]
        assert [seconds(each["thumbnailUrl"]) for each in (*pictures, clip, his)] == [300, 60, 60, 60]
        until = int(path_of(his["url"]).split(".")[3])
        server.clock.advance(until - server.clock.now() - 7 * SECOND)
        assert [seconds(each["url"]) for each in (clip, his)] == [61, 7], "no longer than ours"
    finally:
        server.stop()
