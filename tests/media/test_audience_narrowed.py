"""A former reader's addresses: whatever way an audience is narrowed, what was given before opens nothing."""

from collections.abc import Callable, Iterator
from typing import Final

import pytest

from pressroom.db import Query
from pressroom.domains.media.addresses import LONGEST
from pressroom.domains.moderation.actions import restore_account, suspend_account
from tests.api.actors import Actor, Json, body_of, follow, nobody, publish, read, rows
from tests.api.conftest import database_settings
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.media.test_signed_addresses import addresses_in
from tests.media.uploads import fetch, media_of, path_of, ready

TOKENS: Final = Query(str, "SELECT token FROM media WHERE owner_id = :post_id")

OPEN: Final = {"disk": 200, "s3": 302}


@pytest.fixture(params=["sqlite-disk", "postgres-disk", "sqlite-s3", "postgres-s3"])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LocalServer, int]]:
    """A server on an engine and a store, and the status of a file that it serves."""
    engine, store = str(request.param).split("-")
    settings = {**ROOMY, **database_settings(request, engine)}
    if store == "s3":
        settings["BLOBS_URL"] = request.getfixturevalue("bucket_url")
    server = LocalServer(tmp_path_factory.mktemp("store"), **settings).start()
    yield server, OPEN[store]
    server.stop()


class Case:
    """A post with a picture, its author, somebody who may see it as long as the audience is wide, and a stranger."""

    def __init__(self, server: LocalServer, visibility: str) -> None:
        self.server = server
        self.author, self.reader = Actor(server), Actor(server)
        follow(self.reader, self.author)
        follow(self.author, self.reader)
        self.post = ready(self.author, visibility=visibility)
        self.allow(self.reader)

    def allow(self, *readers: Actor) -> None:
        """Makes these the allowlist."""
        usernames = [each.account.username for each in readers]
        body_of(self.author.web.put(f"/api/posts/{self.post['id']}/audience", json={"usernames": usernames}))

    def edit(self, visibility: str) -> None:
        """Changes who may see it."""
        body_of(self.author.api.patch(f"/api/posts/{self.post['id']}", json={"visibility": visibility}))

    def shown(self, who: Actor | None) -> set[str]:
        """Every address of the post's picture that somebody is given, by the API and on pages."""
        found: set[str] = set()
        client = who.web if who else nobody
        base = self.server.base_url
        answer = client.get(f"{base}/api/posts/{self.post['id']}")
        if answer.status_code == 200:
            found |= addresses_of(answer.json())
        for page in (f"/post/{self.post['id']}", f"/@{self.author.account.username}"):
            found |= set(addresses_in(client.get(base + page).text))
        return found

    def statuses(self, addresses: set[str]) -> set[int]:
        """How the addresses answer somebody without a cookie, whole and in part."""
        asked: list[dict[str, str]] = [{}, {"Range": "bytes=0-3"}]
        found = {fetch(self.server, each, **headers).status_code for each in addresses for headers in asked}
        return {200 if status == 206 else status for status in found}


def addresses_of(post: Json) -> set[str]:
    """The paths of a post's picture, and of the posts that it shares, as the API gives them."""
    entries = [*(post["media"] or []), *((post.get("originalPost") or {}).get("media") or [])]
    paths = {path_of(each[name]) for each in entries for name in ("url", "thumbnailUrl")}
    return paths | {path + "/poster" for path in paths if not path.endswith("thumbnail")}


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


TIES: dict[str, tuple[str, Callable[[Case], object]]] = {
    "a follower unfollows": ("FOLLOWERS", lambda case: unfollow(case.reader, case.author)),
    "a connection unfollows": ("CONNECTIONS", lambda case: unfollow(case.reader, case.author)),
    "the author unfollows a connection": ("CONNECTIONS", lambda case: unfollow(case.author, case.reader)),
    "the author removes a follower": ("FOLLOWERS", lambda case: remove(case.author, case.reader)),
    "the author removes a connection": ("CONNECTIONS", lambda case: remove(case.author, case.reader)),
}


def unfollow(who: Actor, whom: Actor) -> None:
    """From now on `who` does not follow `whom`."""
    body_of(who.web.delete(f"/api/accounts/{whom.account.username}/follow"))


def remove(who: Actor, follower: Actor) -> None:
    """From now on `follower` does not follow `who`."""
    body_of(who.web.delete(f"/api/followers/{follower.account.username}"))


def test_what_a_former_reader_was_given_ends_within_minutes(store: tuple[LocalServer, int]) -> None:
    server, opened = store
    for visibility, cut in TIES.values():
        case = Case(server, visibility)
        given, own = case.shown(case.reader), path_of(media_of(read(case.author, case.post["id"]))["url"])
        assert case.statuses(given) == {opened}

        cut(case)
        server.clock.advance(LONGEST)

        assert not case.shown(case.reader)
        assert case.statuses(given) == {404}
        assert case.statuses({own}) == {opened}, "the author's own address lasts"


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


def test_nobody_is_given_what_lasts_of_a_post_that_few_may_see(store: tuple[LocalServer, int]) -> None:
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


def test_a_bounce_gives_no_address_of_what_was_narrowed(store: tuple[LocalServer, int]) -> None:
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
