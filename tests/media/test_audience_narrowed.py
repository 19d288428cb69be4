"""A former reader's addresses: however an audience is narrowed, earlier addresses open nothing."""

from collections.abc import Callable, Iterator
from typing import Final

import pytest

from pressroom.clock import SECOND
from pressroom.db import Query
from pressroom.domains.media.urls import LONGEST, STEP
from pressroom.domains.moderation.actions import delete_account, restore_account, suspend_account
from tests.api.actors import Actor, body_of, follow, nobody, publish, read, rows
from tests.api.conftest import database_settings
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.readers import Case, addresses_of, remove, suspend, unfollow
from tests.media.uploads import addresses_in, fetch, media_of, path_of, ready, ready_clip

TOKENS: Final = Query(str, "SELECT token FROM media WHERE owner_id = :post_id")

OPEN: Final = {"disk": 200, "s3": 302}


@pytest.fixture(scope="module", params=["sqlite-disk", "postgres-disk", "sqlite-s3", "postgres-s3"])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LocalServer, int]]:
    """A server on an engine and a store, and the status of a file that it serves."""
    engine, store = str(request.param).split("-")
    settings = {**ROOMY, **database_settings(request, engine)}
    if store == "s3":
        settings["BLOBS_URL"] = request.getfixturevalue("module_bucket_url")
    server = LocalServer(tmp_path_factory.mktemp("store"), **settings).start()
    yield server, OPEN[store]
    server.stop()


EDITS = [
    *(("PUBLIC", after) for after in ("FOLLOWERS", "CONNECTIONS", "PRIVATE", "CUSTOM")),
    *(("FOLLOWERS", after) for after in ("CONNECTIONS", "PRIVATE", "CUSTOM")),
    *(("CONNECTIONS", after) for after in ("PRIVATE", "CUSTOM")),
    *(("CUSTOM", after) for after in ("FOLLOWERS", "CONNECTIONS", "PRIVATE")),
]


def test_an_edit_that_narrows_moves_the_files(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    for before, after in EDITS:
        case = Case(server, before)
        readers = (case.author, case.reader, *([None] if before == "PUBLIC" else []))
        given = {who: case.shown(who) for who in readers}
        tokens = rows(server, TOKENS, post_id=case.post["id"])
        assert all(given.values()), (before, given)
        everything = set().union(*given.values())
        assert case.statuses(everything) == {opened}

        case.edit(after)

        assert case.statuses(everything) == {404}, after
        assert case.statuses({f"/media/{token}" for token in tokens}) == {404}
        assert case.statuses(case.shown(case.author)) == {opened}
        assert not case.shown(case.author) & everything
        assert not case.shown(None)
        case.edit(before)
        assert case.statuses(everything) == {404}, "moved back"


def test_an_allowlist_that_shrinks_moves_the_files(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    case = Case(server, "CUSTOM")
    other = Actor(server)
    given = case.shown(case.reader) | case.shown(case.author)
    case.allow(case.reader, other)
    assert case.statuses(given) == {opened}, "a list that grows moves nothing"

    given |= case.shown(other)
    case.allow(other)

    assert case.statuses(given) == {404}
    assert case.statuses(case.shown(other)) == case.statuses(case.shown(case.author)) == {opened}
    assert not case.shown(case.reader)


def delete(who: Actor) -> None:
    """The account is no more."""
    who.server.run(who.server.runtime.db.transact(delete_account, who.account.username))


ENDS: dict[str, tuple[str, Callable[[Case], object]]] = {
    "a follower unfollows": ("FOLLOWERS", lambda case: unfollow(case.reader, case.author)),
    "the author removes a follower": ("FOLLOWERS", lambda case: remove(case.author, case.reader)),
    "a connection unfollows": ("CONNECTIONS", lambda case: unfollow(case.reader, case.author)),
    "the author unfollows a connection": ("CONNECTIONS", lambda case: unfollow(case.author, case.reader)),
    "the author removes a connection": ("CONNECTIONS", lambda case: remove(case.author, case.reader)),
    "the reader is suspended": ("FOLLOWERS", lambda case: suspend(case.reader)),
    "a reader on the allowlist is suspended": ("CUSTOM", lambda case: suspend(case.reader)),
    "the reader is deleted": ("FOLLOWERS", lambda case: delete(case.reader)),
}
"""How one reader's right ends while the audience is as wide as it was."""


def test_end_of_a_right_ends_its_addresses(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    for way, (visibility, cut) in ENDS.items():
        case = Case(server, visibility)
        other = case.another_reader()
        given, kept, own = (case.shown(who) for who in (case.reader, other, case.author))
        assert given
        assert kept
        assert case.statuses(given | kept | own) == {opened}, way

        cut(case)

        for cookie in ({}, *({"Cookie": who.cookie} for who in (case.reader, other, case.author))):
            assert case.statuses(given, **cookie) == {404}, (way, cookie)
            assert case.statuses(kept | own, **cookie) == {opened}, (way, cookie)
        assert not case.shown(case.reader)
        assert case.shown(other) == kept, "nothing moved"


def test_a_right_that_returns_opens_the_same_address_again(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    case = Case(server, "FOLLOWERS")
    given = case.shown(case.reader)
    unfollow(case.reader, case.author)
    assert case.statuses(given) == {404}

    follow(case.reader, case.author)

    assert case.statuses(given) == {opened}
    assert case.shown(case.reader) == given


def test_unrelated_change_keeps_addresses(store: tuple[LocalServer, int]) -> None:
    """A hub shows posts and gives no right to see them; an account that turns private keeps its followers."""
    server, opened = store
    case = Case(server, "FOLLOWERS")
    slug = f"hub-of-{case.author.account.username}"
    hub = body_of(case.author.web.post("/api/hubs", json={"name": "Letterpress", "slug": slug}), 201)
    membership, member = f"/api/hubs/{hub['id']}/membership", Actor(server)
    for who in (case.reader, member):
        body_of(who.web.post(membership))
    case.post = ready(case.author, visibility="FOLLOWERS", hubId=hub["id"])
    given = case.shown(case.reader)
    assert not case.shown(member), "a member who does not follow sees nothing of it"

    body_of(case.reader.web.delete(membership))
    body_of(case.author.web.patch("/api/auth/me", json={"isPrivate": True}))

    assert case.statuses(given) == {opened}
    unfollow(case.reader, case.author)
    assert case.statuses(given) == {404}


def test_a_clip_ends_for_a_reader_as_a_post_does(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    case = Case(server, "CONNECTIONS")
    other, clip = case.another_reader(), ready_clip(case.author, visibility="CONNECTIONS")

    def shown(who: Actor) -> set[str]:
        answer = body_of(who.web.get(f"/api/clips/{clip['id']}"))
        given = {path_of(answer[name]) for name in ("url", "thumbnailUrl")}
        return given | set(addresses_in(who.web.get(f"/clip/{clip['id']}").text))

    given, kept, own = (shown(who) for who in (case.reader, other, case.author))
    assert case.statuses(given | kept | own) == {opened}

    unfollow(case.author, case.reader)

    assert case.statuses(given) == {404}
    assert case.statuses(kept | own) == {opened}


def test_a_bounce_passes_no_right_on(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    case = Case(server, "PUBLIC")
    bounce = body_of(case.reader.api.post(f"/api/posts/{case.post['id']}/bounce", json={"content": "Look"}), 201)
    case.edit("FOLLOWERS")
    given = addresses_of(read(case.reader, bounce["id"]))
    assert case.statuses(given) == {opened}

    remove(case.author, case.reader)

    assert case.statuses(given) == {404}
    assert read(case.reader, bounce["id"])["originalPost"] is None


def test_time_ends_it_too(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    case = Case(server, "FOLLOWERS")
    given, own = case.shown(case.reader), path_of(media_of(read(case.author, case.post["id"]))["url"])
    server.clock.advance(LONGEST - STEP - SECOND)
    assert case.statuses(given | {own}) == {opened}

    server.clock.advance(STEP + SECOND)

    assert case.statuses(given) == {404}
    assert case.statuses({own}) == {opened}, "the author's own address lasts"


def test_a_reader_finds_one_address_in_every_answer_of_a_step(store: tuple[LocalServer, int]) -> None:
    server, _ = store
    case = Case(server, "FOLLOWERS")
    other = case.another_reader()
    server.clock.advance(STEP - server.clock.now() % STEP)
    first = case.shown(case.reader)

    server.clock.advance(STEP - 1)

    assert case.shown(case.reader) == first, "so that the browser's cache has it"
    assert not first & case.shown(other)
    server.clock.advance(1)
    assert not case.shown(case.reader) & first


def test_nothing_of_a_suspended_account_is_served(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    for visibility in ("PUBLIC", "FOLLOWERS"):
        case = Case(server, visibility)
        given = case.shown(case.reader) | case.shown(case.author)
        assert case.statuses(given) == {opened}

        server.run(server.runtime.db.transact(suspend_account, case.author.account.username))
        assert case.statuses(given) == {404}

        server.run(server.runtime.db.transact(restore_account, case.author.account.username))
        assert case.statuses(given) == {opened}


def test_restricted_post_has_no_lasting_addresses(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    for visibility in ("FOLLOWERS", "CONNECTIONS", "CUSTOM"):
        case = Case(server, visibility)
        (token,) = rows(server, TOKENS, post_id=case.post["id"])
        client = case.reader.web
        paths = (f"/api/posts/{case.post['id']}", f"/post/{case.post['id']}", f"/@{case.author.account.username}")
        texts = [client.get(path).text for path in paths]
        texts += [case.author.web.get(path).text for path in paths]

        assert not any(token in text for text in texts)
        assert case.statuses({f"/media/{token}"}) == {404}
        lasting = [path for path in case.shown(case.reader) if ".0." in path]
        assert not lasting
        on_pages = {path for page in paths[1:] for path in addresses_in(case.author.web.get(page).text)}
        assert on_pages
        assert not any(".0." in path for path in on_pages), "not even on the author's pages"
        if opened == 200:
            kept = {fetch(server, path).headers["cache-control"] for path in case.shown(case.author)}
            assert not any("immutable" in each or "public" in each for each in kept)
            assert all(int(each.rpartition("=")[2]) <= 300 for each in kept)


def test_an_address_is_final_while_the_audience_grows(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    case = Case(server, "PRIVATE")
    own = addresses_of(read(case.author, case.post["id"]))

    for visibility in ("CONNECTIONS", "FOLLOWERS", "PUBLIC"):
        case.edit(visibility)
        assert case.statuses(own) == {opened}


def test_bounce_of_a_narrowed_post_has_no_file_address(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    case = Case(server, "PUBLIC")
    bounce = body_of(case.reader.api.post(f"/api/posts/{case.post['id']}/bounce", json={"content": "Look"}), 201)
    given = addresses_of(bounce)
    assert case.statuses(given) == {opened}

    case.edit("FOLLOWERS")

    assert case.statuses(given) == {404}
    again = addresses_of(read(case.reader, bounce["id"]))
    assert case.statuses(again) == {opened}
    assert all(path.startswith("/media/signed.") for path in again)
    assert body_of(nobody.get(f"{server.base_url}/api/posts/{bounce['id']}"))["originalPost"] is None
    assert not addresses_in(nobody.get(f"{server.base_url}/post/{bounce['id']}").text)
    unfollow(case.reader, case.author)
    assert read(case.reader, bounce["id"])["originalPost"] is None


def test_a_text_needs_no_move(store: tuple[LocalServer, int]) -> None:
    server, _ = store
    author = Actor(server)
    post = publish(author)

    body_of(author.api.patch(f"/api/posts/{post['id']}", json={"visibility": "PRIVATE"}))

    assert read(author, post["id"])["media"] is None
