"""Addresses of media in pages that few may see, and in a store that serves its files itself."""

import re
import time

import pytest

from pressroom.clock import HOUR, MINUTE
from pressroom.db import Query
from pressroom.domains.media.addresses import LONGEST, STEP, WITHOUT_END, signed_token
from tests.api.actors import Actor, body_of, follow, nobody, read, rows
from tests.api.conftest import MakeActor, one_engine
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.uploads import fetch, file, image, media_of, opened, path_of, ready

SETTINGS = ROOMY

PICTURE = (300, 200)
TOKEN = Query(str, "SELECT token FROM media WHERE id = :media_id")


def addresses_in(page: str) -> list[str]:
    """Every address of media that a page shows."""
    return re.findall(r'(?:src|href|poster)="[^"]*?(/media/[^"]+)"', page)


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


@one_engine
def test_a_signed_address_cannot_be_altered(server: LocalServer, alice: Actor) -> None:
    one, other = (media_of(ready(alice, visibility="PRIVATE")) for _ in range(2))
    until = server.clock.now() + HOUR
    row = rows(server, TOKEN, media_id=one["id"])[0]
    token = signed_token(one["id"], row, server.runtime.media_secret, until)
    name, media_id, time_, mac = token.split(".")
    flipped = mac[:-1] + ("0" if mac[-1] != "0" else "1")
    foreign = signed_token(one["id"], row, "another secret", until).rpartition(".")[2]
    before = signed_token(one["id"], "another token", server.runtime.media_secret, until).rpartition(".")[2]
    altered = [
        (name, other["id"], time_, mac),
        (name, media_id.lower(), time_, mac),
        (name, media_id, str(until + 1), mac),
        (name, media_id, str(WITHOUT_END), mac),
        (name, media_id, f"0{until}", mac),
        (name, media_id, time_, flipped),
        (name, media_id, time_, mac[:-1]),
        (name, media_id, time_, mac.upper()),
        (name, media_id, time_, foreign),
        (name, media_id, time_, before),
        (name, media_id, time_, ""),
        (name.upper(), media_id, time_, mac),
    ]

    assert fetch(server, f"/media/{token}").status_code == 200
    for parts in altered:
        wrong = ".".join(parts)
        if wrong != token:
            assert fetch(server, f"/media/{wrong}").status_code == 404, wrong


@one_engine
def test_no_token_is_logged(server: LocalServer, alice: Actor) -> None:
    public, private = ready(alice), ready(alice, visibility="PRIVATE")
    paths = [path_of(media_of(post)["url"]) for post in (public, private)]

    for path in paths:
        for suffix in ("", "/thumbnail", "/poster", "/nothing", "/thumbnail/"):
            fetch(server, path + suffix)
        fetch(server, path.replace("/media/", "/%6dedia/"))
        for misspelt in ("/cards/", "//media/", "/Media/", "/api/media/", "/media//"):
            fetch(server, path.replace("/media/", misspelt))
    server.runtime.log.flush()

    log = server.stream.getvalue()
    assert '"/media/[token]"' in log
    assert not any(path.removeprefix("/media/") in log for path in paths)


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
        # What is presigned is judged by the store's clock.
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
