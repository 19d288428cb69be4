"""Explore: the picks of the job, and those of them that each reader is shown."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from pressroom.clock import DAY, HOUR, iso
from pressroom.db import Tx
from pressroom.domains.explore.actions import open_explore
from pressroom.domains.explore.picking import Picker
from tests.api.actors import Actor, Json, body_of, follow, nobody, objections, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY


@pytest.fixture(autouse=True)
def _later(server: LocalServer) -> None:
    """Some days after the test before, so that nothing of it counts."""
    server.clock.advance(9 * DAY)


def pick(server: LocalServer, page: int = 200) -> None:
    """Does the job, in pages of so many rows."""
    server.run(Picker(server.runtime.db, server.clock, page=page).run())


def explore(who: Actor) -> Json:
    return body_of(who.web.get("/api/explore"))


def like(who: Actor, post: Json) -> None:
    body_of(who.web.post(f"/api/posts/{post['id']}/like"))


def posts_for(who: Actor) -> list[str]:
    return [post["id"] for post in explore(who)["posts"]]


def people_for(who: Actor) -> list[str]:
    return [person["username"] for person in explore(who)["people"]]


def tags_for(who: Actor) -> dict[str, tuple[int, int]]:
    return {tag["name"]: (tag["posts"], tag["accounts"]) for tag in explore(who)["tags"]}


def profile(who: Actor, **changes: object) -> None:
    body_of(who.web.patch("/api/auth/me", json=changes))


def exclude(admin: Actor, kind: str, subject: str) -> Json:
    body = {"type": kind, "subject": subject, "reason": "Nothing but advertisements."}
    return body_of(admin.web.post("/api/admin/explore", json=body), 201)


def test_key_and_visitor_are_refused(alice: Actor) -> None:
    assert refusal(alice.api.get("/api/explore")) == (403, "Session required")
    assert refusal(nobody.get(f"{alice.server.base_url}/api/explore")) == (401, "Not signed in")


def test_hashtag_of_three_accounts_rises(server: LocalServer, actor: MakeActor) -> None:
    reader, *authors = (actor() for _ in range(4))
    for author in authors:
        publish(author, "At the harbour. #Bridge")
    publish(authors[0], "#bridge, once more; #quay")
    publish(authors[1], "#quay")
    pick(server)

    assert tags_for(reader) == {"bridge": (4, 3)}


def test_hashtag_rises_against_its_week_before(server: LocalServer, actor: MakeActor) -> None:
    reader, *authors = (actor() for _ in range(5))
    for _ in range(7):
        for author in authors:
            publish(author, "#daily")
        server.clock.advance(DAY)
    server.clock.advance(HOUR)
    for author in authors:
        publish(author, "#daily #sudden")
    pick(server)

    assert tags_for(reader) == {"sudden": (4, 4)}


def test_hashtag_of_yesterday_does_not_rise(server: LocalServer, actor: MakeActor) -> None:
    reader, *authors = (actor() for _ in range(4))
    for author in authors:
        publish(author, "#yesterday")
    server.clock.advance(DAY + HOUR)
    pick(server)

    assert tags_for(reader) == {}


@pytest.mark.parametrize("changes", [{"isPrivate": True}, {"discoverable": False}], ids=["private", "undiscoverable"])
def test_account_that_is_not_listed_makes_no_hashtag_rise(
    server: LocalServer, actor: MakeActor, changes: dict[str, bool]
) -> None:
    reader, *authors = (actor() for _ in range(4))
    for author in authors:
        publish(author, "#three")
    profile(authors[0], **changes)
    pick(server)

    assert tags_for(reader) == {}


def test_hashtag_without_a_post_is_not_shown(server: LocalServer, actor: MakeActor) -> None:
    reader, *authors = (actor() for _ in range(4))
    posts = [publish(author, "#gone") for author in authors]
    pick(server)
    for author, post in zip(authors[:2], posts[:2], strict=True):
        body_of(author.web.delete(f"/api/posts/{post['id']}"))
    assert list(tags_for(reader)) == ["gone"]
    body_of(reader.web.put(f"/api/blocks/{authors[2].account.username}"))

    assert tags_for(reader) == {}, "the page of the hashtag has nothing for this reader"
    assert list(tags_for(authors[0])) == ["gone"]


def test_posts_are_ranked_by_accounts_that_liked_or_bounced_them(server: LocalServer, actor: MakeActor) -> None:
    author, *readers = (actor() for _ in range(5))
    three, two, own, none = (publish(author, f"Post {number}") for number in range(4))
    for reader in readers[:2]:
        like(reader, three)
        like(reader, two)
    body_of(readers[2].api.post(f"/api/posts/{three['id']}/bounce"), 201)
    for content in ("Look!", "Look again!"):  # the same account once more, and one that likes it as well
        body_of(readers[0].api.post(f"/api/posts/{two['id']}/bounce", json={"content": content}), 201)
    like(author, own)
    body_of(author.api.post(f"/api/posts/{own['id']}/bounce"), 201)
    like(author, two)
    pick(server)

    assert posts_for(readers[3]) == [three["id"], two["id"]]
    assert explore(readers[0])["posts"][0]["userInteractions"]["liked"] is True
    assert none["id"] not in posts_for(author)


def test_old_post_is_picked_for_likes_of_today(server: LocalServer, actor: MakeActor) -> None:
    author, first, second = actor(), actor(), actor()
    old, older = publish(author, "Old"), publish(author, "Older")
    like(first, old)
    like(first, older)
    server.clock.advance(2 * DAY)
    like(second, old)
    pick(server)

    assert posts_for(first) == [old["id"]]


def test_like_that_was_taken_back_does_not_count(server: LocalServer, actor: MakeActor) -> None:
    author, reader = actor(), actor()
    post = publish(author)
    like(reader, post)
    body_of(reader.web.delete(f"/api/posts/{post['id']}/like"))
    pick(server)

    assert posts_for(reader) == []


@pytest.mark.parametrize("page", [1, 2, 3])
def test_rows_of_one_millisecond_all_count_in_any_pages(server: LocalServer, actor: MakeActor, page: int) -> None:
    author, first, second = actor(), actor(), actor()
    posts = [publish(author, f"Post {number} #one #two") for number in range(3)]
    for reader in (first, second):
        publish(reader, "#one #two")
        for post in posts[:2]:
            like(reader, post)
    like(first, posts[2])
    for post in posts[:2]:
        body_of(author.api.post(f"/api/posts/{post['id']}/bounce"), 201)
    body_of(first.api.post(f"/api/posts/{posts[0]['id']}/bounce"), 201)
    pick(server, page)

    assert posts_for(first) == [posts[1]["id"], posts[0]["id"], posts[2]["id"]]
    assert tags_for(first) == {"one": (5, 3), "two": (5, 3)}


def narrow(case: "Case") -> None:
    body_of(case.author.web.patch(f"/api/posts/{case.post['id']}", json={"visibility": "FOLLOWERS"}))


class Case:
    """A picked post, its author and a reader who follows the author."""

    def __init__(self, server: LocalServer, actor: MakeActor) -> None:
        self.server = server
        self.author, self.reader, self.admin = actor(), actor(), actor().become_admin()
        self.post = publish(self.author)
        like(self.reader, self.post)
        follow(self.reader, self.author)


HIDDEN: dict[str, Callable[[Case], Any]] = {
    "deleted": lambda case: body_of(case.author.web.delete(f"/api/posts/{case.post['id']}")),
    "narrowed": narrow,
    "author private": lambda case: profile(case.author, isPrivate=True),
    "author undiscoverable": lambda case: profile(case.author, discoverable=False),
    "author blocked": lambda case: body_of(case.reader.web.put(f"/api/blocks/{case.author.account.username}")),
    "reader blocked": lambda case: body_of(case.author.web.put(f"/api/blocks/{case.reader.account.username}")),
    "author muted": lambda case: body_of(case.reader.web.put(f"/api/mutes/{case.author.account.username}")),
    "author suspended": lambda case: body_of(
        case.admin.web.post(f"/api/admin/accounts/{case.author.account.username}/suspend", json={"reason": "Spam."})
    ),
    "author deleted": lambda case: body_of(
        case.admin.web.post(
            f"/api/admin/accounts/{case.author.account.username}/delete",
            json={"username": case.author.account.username, "reason": "Spam."},
        )
    ),
    "post excluded": lambda case: exclude(case.admin, "post", case.post["id"]),
    "author excluded": lambda case: exclude(case.admin, "account", case.author.account.username),
}


@pytest.mark.parametrize("hide", HIDDEN.values(), ids=HIDDEN)
def test_pick_disappears_with_the_next_read(server: LocalServer, actor: MakeActor, hide: Callable[[Case], Any]) -> None:
    case = Case(server, actor)
    pick(server)
    assert posts_for(case.reader) == [case.post["id"]]

    hide(case)
    assert posts_for(case.reader) == []
    pick(server)
    assert posts_for(case.reader) == []


def test_people_are_those_whom_followed_accounts_follow(server: LocalServer, actor: MakeActor) -> None:
    reader, one, two, both, single, known = (actor() for _ in range(6))
    for followed in (one, two, known):
        follow(reader, followed)
    for near in (one, two):
        for far in (both, known, reader):
            follow(near, far)
    follow(one, single)

    assert people_for(reader)[:2] == [both.account.username, single.account.username]
    found = {person["username"]: person for person in explore(reader)["people"]}
    assert not found.keys() & {who.account.username for who in (reader, one, two, known)}
    shown = found[both.account.username]
    assert (shown["followedBy"], shown["totalFollowers"]) == (2, 2)
    assert shown.keys() == {
        *("id", "username", "displayName", "avatar", "verified", "verifiedType", "bio", "totalFollowers", "followedBy")
    }


UNLISTED: dict[str, Callable[[Actor, Actor, Actor], Any]] = {
    "private": lambda reader, far, admin: profile(far, isPrivate=True),
    "undiscoverable": lambda reader, far, admin: profile(far, discoverable=False),
    "muted": lambda reader, far, admin: body_of(reader.web.put(f"/api/mutes/{far.account.username}")),
    "blocked": lambda reader, far, admin: body_of(reader.web.put(f"/api/blocks/{far.account.username}")),
    "blocks": lambda reader, far, admin: body_of(far.web.put(f"/api/blocks/{reader.account.username}")),
    "excluded": lambda reader, far, admin: exclude(admin, "account", far.account.username),
    "followed": lambda reader, far, admin: follow(reader, far),
}


@pytest.mark.parametrize("change", UNLISTED.values(), ids=UNLISTED)
def test_person_is_not_suggested_any_more(
    server: LocalServer, actor: MakeActor, change: Callable[[Actor, Actor, Actor], Any]
) -> None:
    reader, near, far, admin = actor(), actor(), actor(), actor().become_admin()
    follow(reader, near)
    follow(near, far)
    publish(far)
    pick(server)
    assert people_for(reader)[0] == far.account.username

    change(reader, far, admin)
    assert far.account.username not in people_for(reader)


def test_account_that_follows_nobody_is_suggested_followed_ones_that_publish(
    server: LocalServer, actor: MakeActor
) -> None:
    reader, one, two = actor(), actor(), actor()
    fans = [actor() for _ in range(9)]
    for author, followers in ((one, 8), (two, 9)):
        publish(author)
        for fan in fans[:followers]:
            follow(fan, author)
    pick(server)

    assert people_for(reader)[:2] == [two.account.username, one.account.username]
    assert explore(reader)["people"][0]["followedBy"] == 0


def test_hubs_are_sorted_by_members(server: LocalServer, actor: MakeActor) -> None:
    maker, *others = (actor() for _ in range(4))
    slugs = [f"{size}-of-{maker.account.username}" for size in ("small", "large", "gone")]
    small, large, gone = (
        body_of(maker.web.post("/api/hubs", json={"name": "Club", "slug": slug}), 201) for slug in slugs
    )
    for who in others:
        body_of(who.web.post(f"/api/hubs/{large['id']}/membership"))
        body_of(who.web.post(f"/api/hubs/{gone['id']}/membership"))
    body_of(others[0].web.post(f"/api/hubs/{small['id']}/membership"))
    pick(server)
    exclude(actor().become_admin(), "hub", gone["slug"])

    hubs = explore(others[1])["hubs"]
    assert [hub["id"] for hub in hubs][:2] == [large["id"], small["id"]]
    assert [hub["member"] for hub in hubs][:2] == [True, False]
    assert hubs[0] == body_of(others[1].web.get(f"/api/hubs/{large['id']}"))
    assert gone["id"] not in {hub["id"] for hub in hubs}


def test_picks_stay_the_same_when_the_job_is_done_again(server: LocalServer, actor: MakeActor) -> None:
    author, reader = actor(), actor()
    like(reader, publish(author))
    pick(server)
    before = explore(reader)

    pick(server)
    assert explore(reader) == before


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    """Somebody with the rights of an admin."""
    return actor().become_admin()


def test_admin_takes_a_subject_out_and_puts_it_back(server: LocalServer, actor: MakeActor, admin: Actor) -> None:
    author, reader = actor(), actor()
    post = publish(author)
    like(reader, post)
    pick(server)

    made = exclude(admin, "post", post["id"])
    assert made == {
        "id": made["id"],
        "type": "post",
        "subject": post["id"],
        "reason": "Nothing but advertisements.",
        "admin": admin.account.username,
        "createdAt": iso(server.clock.now()),
    }
    assert body_of(admin.web.get("/api/admin/explore"))["exclusions"][0] == made
    assert posts_for(reader) == []
    put_back = body_of(admin.web.delete(f"/api/admin/explore/{made['id']}"))
    assert put_back == {"message": f"{post['id']} may be in explore again"}
    assert posts_for(reader) == [post["id"]]
    assert made not in body_of(admin.web.get("/api/admin/explore"))["exclusions"]
    assert refusal(admin.web.delete(f"/api/admin/explore/{made['id']}")) == (404, "Not found")

    for log in (
        body_of(author.web.get("/api/auth/log"))["entries"],
        body_of(admin.web.get("/api/admin/log"))["entries"],
    ):
        kinds = [entry["kind"] for entry in log if entry["kind"].startswith("explore.")]
        assert kinds[:2] == ["explore.included", "explore.excluded"]
        reasons = [entry["detail"].get("reason") for entry in log if entry["kind"] == "explore.excluded"]
        assert reasons[0] == "Nothing but advertisements."


def test_hashtag_is_excluded_in_any_spelling(server: LocalServer, actor: MakeActor, admin: Actor) -> None:
    authors = [actor() for _ in range(3)]
    for author in authors:
        publish(author, "#Straße")
    pick(server)
    assert list(tags_for(authors[0])) == ["strasse"]

    assert exclude(admin, "tag", "#STRASSE")["subject"] == "strasse"
    assert tags_for(authors[0]) == {}
    again = {"type": "tag", "subject": "straße", "reason": "Again."}
    assert refusal(admin.web.post("/api/admin/explore", json=again)) == (409, "Conflict")


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        ("post", "{base}/post/{post}"),
        ("account", "{base}/@{name}"),
        ("account", "@{name}"),
        ("hub", "{base}/hub/{hub}"),
    ],
)
def test_address_of_a_page_names_a_subject(actor: MakeActor, admin: Actor, kind: str, address: str) -> None:
    author = actor()
    slug = f"named-{author.account.username}"
    body_of(author.web.post("/api/hubs", json={"name": "Club", "slug": slug}), 201)
    post, name = publish(author)["id"], author.account.username

    made = exclude(admin, kind, address.format(base=author.server.base_url, post=post, name=name, hub=slug))
    assert made["subject"] == {"post": post, "account": name, "hub": slug}[kind]


@pytest.mark.parametrize(
    ("kind", "subject"),
    [
        *(("tag", "two words"), ("tag", "#"), ("tag", "#a#b"), ("tag", "12!"), ("post", "x"), ("post", "01M7/")),
        *(("account", "nobody_at_all"), ("hub", "no-such-hub"), ("hub", "/")),
    ],
)
def test_unknown_subject_is_422(admin: Actor, kind: str, subject: str) -> None:
    body = {"type": kind, "subject": subject, "reason": "x"}
    assert objections(admin.web.post("/api/admin/explore", json=body)) == [("subject", "invalid_choice")]


def test_post_that_is_not_public_cannot_be_excluded(actor: MakeActor, admin: Actor) -> None:
    secret = publish(actor(), visibility="PRIVATE")
    body = {"type": "post", "subject": secret["id"], "reason": "x"}
    assert objections(admin.web.post("/api/admin/explore", json=body)) == [("subject", "invalid_choice")]


def test_routes_of_exclusions_are_there_for_admins_alone(alice: Actor) -> None:
    body = {"type": "tag", "subject": "ink", "reason": "x"}
    for answer in (
        alice.web.get("/api/admin/explore"),
        alice.web.post("/api/admin/explore", json=body),
        alice.web.delete(f"/api/admin/explore/{alice.account.id}"),
    ):
        assert refusal(answer) == (404, "Not found")


def test_exclusion_is_made_once_under_one_key(actor: MakeActor, admin: Actor) -> None:
    body = {"type": "account", "subject": actor().account.username, "reason": "x"}
    headers = {"Idempotency-Key": "once"}
    first = admin.web.post("/api/admin/explore", json=body, headers=headers)
    second = admin.web.post("/api/admin/explore", json=body, headers=headers)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()


def test_exclusions_of_a_deleted_account_are_erased(server: LocalServer, actor: MakeActor, admin: Actor) -> None:
    author = actor()
    name = author.account.username
    of_author = [exclude(admin, "account", name)["id"], exclude(admin, "post", publish(author)["id"])["id"]]
    kept = exclude(admin, "tag", f"kept_{name}")["id"]
    body_of(admin.web.post(f"/api/admin/accounts/{name}/delete", json={"username": name, "reason": "Asked for it."}))
    server.do_jobs()

    left = [each["id"] for each in body_of(admin.web.get("/api/admin/explore"))["exclusions"]]
    assert kept in left
    assert not set(left) & set(of_author)


class Interrupted(Picker):
    """A job that is cut off at its `left`-th statement."""

    left = 0

    async def _read(self, *args: Any, **kwargs: Any) -> Any:
        if self.left == 0:
            raise CutOff
        self.left -= 1
        return await super()._read(*args, **kwargs)


class CutOff(Exception):
    """The end of a process, as far as its work is concerned."""


def test_job_that_is_cut_off_anywhere_leaves_the_picks_before(server: LocalServer, actor: MakeActor) -> None:
    author, fan = actor(), actor()
    like(fan, publish(author, "First #one"))
    pick(server)
    before = explore(fan)
    like(fan, publish(author, "Second #one"))

    job, statements = Interrupted(server.runtime.db, server.clock), 0
    while True:
        job.left = statements
        try:
            server.run(job.run())
            break
        except CutOff:
            assert [post["id"] for post in explore(fan)["posts"]] == [post["id"] for post in before["posts"]]
            statements += 1
    assert statements >= 5
    assert len(posts_for(fan)) == 2


class Counting:
    """A transaction that counts its statements."""

    def __init__(self, tx: Tx) -> None:
        self.tx = tx
        self.statements = 0

    def __getattr__(self, name: str) -> Any:
        self.statements += name in ("one", "all", "run")
        return getattr(self.tx, name)


def test_read_costs_two_statements_beside_those_of_its_posts(server: LocalServer, actor: MakeActor) -> None:
    reader, *authors = (actor() for _ in range(4))
    for author in authors:
        publish(author, "#counted")
    pick(server)

    async def read(tx: Tx) -> int:
        counting = Counting(tx)
        found = await open_explore(cast("Tx", counting), reader.account.id)
        assert found.tags
        assert found.people
        assert not found.posts
        return counting.statements

    assert server.run(server.runtime.db.read(read)) == 2
