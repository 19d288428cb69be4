"""Pages that list posts: an account's, a hub's, a hashtag's. Each shows its reader the visible posts, and no more."""

import unicodedata
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest

from tests.api.actors import Actor, Json, body_of, follow, publish
from tests.api.audiences import READERS, SEEN_BY, crowd, set_audience
from tests.api.conftest import MakeActor, one_engine
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page, fetch, visit

SETTINGS = ROOMY

VISIBILITIES = tuple(SEEN_BY)
NEVER_GIVEN = ("", "x", "~", "%01", "%FF", "é" * 26, "'" * 26)


def profile(who: Actor) -> str:
    return f"/@{who.account.username}"


def tag(name: str) -> str:
    return f"/tag/{quote(name, safe='')}"


def hub_of(who: Actor) -> Json:
    """A new hub of theirs."""
    return body_of(who.web.post("/api/hubs", json={"name": "Letterpress", "slug": who.account.username}), 201)


def ids(*posts: Json) -> list[str]:
    return [post["id"] for post in posts]


def turned(server: LocalServer, path: str, reader: Actor | None = None) -> Iterator[Page]:
    """All pages of a list, each found by the link on the one before."""
    query = ""
    while True:
        yield (page := visit(server, path + query, reader))
        following = page.values("a[rel=next]", "href")
        if not following:
            return
        (query,) = following
        assert query.startswith("?before=")


PathOf = Callable[[Actor], str]
Into = Callable[[Actor], dict[str, str]]

LISTS: dict[str, tuple[PathOf, Into]] = {
    "profile": (profile, lambda who: {}),
    "hub": (lambda who: f"/hub/{who.account.username}", lambda who: {"hubId": hub_of(who)["id"]}),
    "tag": (lambda who: tag(who.account.username), lambda who: {"content": f"#{who.account.username}"}),
}
"""Of each list its path, and what puts a post into it."""

every_list = pytest.mark.parametrize(("path_of", "into"), LISTS.values(), ids=LISTS)


@every_list
def test_a_list_is_turned_without_gaps_or_repeats(alice: Actor, path_of: PathOf, into: Into) -> None:
    server, path, fields = alice.server, path_of(alice), into(alice)
    made: list[Json] = []
    for number in range(45):
        made.append(publish(alice, **fields))
        server.clock.advance(number % 3)  # some of them within the same millisecond

    pages = list(turned(server, path))

    assert [len(page.posts) for page in pages] == [20, 20, 5]
    assert [post for page in pages for post in page.posts] == [post["id"] for post in reversed(made)]
    links = [page.links(".pager") for page in pages]
    assert [[said for said, _ in each] for each in links] == [
        ["Older posts"],
        ["Newest posts", "Older posts"],
        ["Newest posts"],
    ]
    for each in links[1:]:
        assert visit(server, each[0][1]).posts == pages[0].posts


@every_list
def test_a_list_is_turned_while_it_grows_and_shrinks(alice: Actor, path_of: PathOf, into: Into) -> None:
    server, path, fields = alice.server, path_of(alice), into(alice)
    made: list[Json] = []
    for _ in range(22):
        made.append(publish(alice, **fields))
        server.clock.advance(1)
    pages = turned(server, path)
    assert next(pages).posts == ids(*made[:1:-1])

    publish(alice, **fields)
    body_of(alice.web.delete(f"/api/posts/{made[2]['id']}"))  # where the next page begins
    body_of(alice.web.delete(f"/api/posts/{made[1]['id']}"))

    assert next(pages).posts == ids(made[0])


@one_engine
@every_list
def test_a_place_that_was_never_given_out_is_refused(alice: Actor, path_of: PathOf, into: Into) -> None:
    server, path, post = alice.server, path_of(alice), publish(alice, **into(alice))

    for place in (*NEVER_GIVEN, post["id"].lower(), f"{post['id']}x", post["id"][:25]):
        assert fetch(server, f"{path}?before={place}").status_code == 400, place


@one_engine
@every_list
def test_behind_its_end_a_list_has_no_older_posts(alice: Actor, path_of: PathOf, into: Into) -> None:
    publish(alice, **into(alice))
    path = path_of(alice)

    page = visit(alice.server, f"{path}?before={'0' * 26}")

    assert page.line(".empty") == "There are no older posts."
    assert page.links(".pager") == [("Newest posts", path)]


@every_list
def test_list_shows_posts_visible_to_its_reader(actor: MakeActor, path_of: PathOf, into: Into) -> None:
    people = crowd(actor)
    author, fields = people["author"], into(people["author"])
    made: dict[str, Json] = {}
    for visibility in VISIBILITIES:
        made[visibility] = publish(author, visibility=visibility, **fields)
        set_audience(author, made[visibility], people["listed"])
        author.server.clock.advance(1)
    for visibility in VISIBILITIES:
        gone = publish(author, visibility=visibility, **fields)
        body_of(author.web.delete(f"/api/posts/{gone['id']}"))

    for kind in READERS:
        seen = [
            each for each in VISIBILITIES if kind in SEEN_BY[each] and (each == "PUBLIC" or "content" not in fields)
        ]
        page = visit(author.server, path_of(author), people.get(kind))
        assert (kind, page.posts) == (kind, [made[each]["id"] for each in reversed(seen)])


def test_list_of_one_author_with_any_visibilities_is_in_time_order(actor: MakeActor) -> None:
    people = crowd(actor)
    author = people["author"]
    made: list[tuple[str, str]] = []
    for number in range(60):
        visibility = VISIBILITIES[number * 7 % 5]
        post = publish(author, visibility=visibility)
        if number % 2:
            set_audience(author, post, people["listed"])
        made.append((post["id"], "" if visibility == "CUSTOM" and not number % 2 else visibility))
        author.server.clock.advance(1)

    for kind in READERS:
        shown = [post for page in turned(author.server, profile(author), people.get(kind)) for post in page.posts]
        seen = [each for each, visibility in made if kind == "author" or (visibility and kind in SEEN_BY[visibility])]
        assert (kind, shown) == (kind, seen[::-1])


def test_profile_shows_its_account(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    body_of(
        alice.web.patch("/api/auth/me", json={"displayName": "Alice Ö.", "bio": "Lead & ink: #Heron,\nhttps://e.org"})
    )
    follow(bob, alice)
    follow(carol, alice)
    follow(alice, bob)
    post = publish(alice, "#heron")

    name = alice.account.username
    for spelling in (name, name.upper(), name.capitalize(), f"%{ord(name[0]):x}{name[1:]}"):
        page = visit(alice.server, f"/@{spelling}")
        assert page.line("h1") == "Alice Ö."
        assert page.line(".banner .handle") == f"@{name}"
        assert page.texts(".banner .text") == ["Lead & ink: #Heron,\nhttps://e.org"]
        assert page.links(".banner .text") == [("#Heron", "/tag/heron"), ("https://e.org", "https://e.org")]
        assert page.lines(".banner .counts li")[:3] == ["1 post", "2 followers", "1 following"]
        assert page.lines(".banner .counts li")[3] == "Joined 15 January 2027"
        assert page.posts == ids(post)


def test_bounce_is_listed_on_the_bouncing_profile(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, "The heron.")
    plain, quote_ = (
        body_of(bob.web.post(f"/api/posts/{post['id']}/bounce", json={"content": content}), 201)
        for content in (None, "Look!")
    )

    page = visit(bob.server, profile(bob))

    base = f"{bob.server.base_url}/post"
    assert page.values(".bounced a.permalink", "href") == [f"{base}/{plain['id']}"]
    assert page.values(".card > .head a.permalink", "href") == [f"{base}/{each['id']}" for each in (quote_, post)]
    assert page.lines(".card .text") == ["Look!", "The heron.", "The heron."]
    assert page.line(".bounced > p:not(.when)") == f"{bob.account.username} bounced"


def test_there_is_nothing_to_list(alice: Actor) -> None:
    hub = hub_of(alice)

    assert visit(alice.server, profile(alice)).line(".empty") == "No posts yet."
    assert visit(alice.server, f"/hub/{hub['slug']}").line(".empty") == "No posts here yet."
    for path in ("/@nobody_at_all", "/hub/no-such-hub", tag("nobody says this"), f"/@{alice.account.username}x"):
        assert visit(alice.server, path, status=404).line("h1") == "Not found"


@one_engine
def test_addresses_that_are_none(alice: Actor) -> None:
    name = alice.account.username
    publish(alice, f"#{name}")
    strange = ("%00", "%FF", "%ED%A0%80", "%F0%9F%97%9E", "'", "%2F", "%2e%2e", " ".join("ab"), "%", "%zz", "x" * 5_000)

    for prefix in ("/@", "/hub/", "/tag/", "/post/", f"/@{name}", f"/tag/{name}"):
        for each in strange:
            assert fetch(alice.server, prefix + quote(each, safe="%'")).status_code == 404, prefix + each[:20]
    for path in ("/@", "/tag/", "/hub/", f"/{name}", f"/@{name}/", f"/@@{name}", f"//@{name}", f"/tag/%23{name}"):
        assert fetch(alice.server, path).status_code == 404, path


def test_a_private_account_shows_its_posts_to_its_followers(actor: MakeActor) -> None:
    people = crowd(actor)
    author = people["author"]
    hub = hub_of(author)
    post = publish(author, f"#{author.account.username}", hubId=hub["id"])
    body_of(author.web.patch("/api/auth/me", json={"isPrivate": True, "bio": "Lead."}))

    for kind in READERS:
        page = visit(author.server, profile(author), people.get(kind))
        shown = kind in ("follower", "mutual", "author")
        assert (kind, page.posts) == (kind, ids(post) if shown else [])
        assert page.has(".notice") != shown
        assert page.meta["robots"] == "noindex"
        assert not [name for name in page.meta if name.startswith(("og:", "profile:"))]
        assert page.line(".banner .text") == "Lead."
        there = visit(author.server, f"/hub/{hub['slug']}", people.get(kind))
        assert there.posts == ids(post), "a post goes by its own visibility"
        on_tag = fetch(author.server, tag(author.account.username), people.get(kind))
        assert on_tag.status_code == 404, "but is on no tag's page"
    body_of(author.web.patch("/api/auth/me", json={"isPrivate": False}))
    assert "robots" not in visit(author.server, profile(author)).meta


def test_hub_shows_posts_of_its_members(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    hub = hub_of(alice)
    body_of(bob.web.post(f"/api/hubs/{hub['id']}/membership"))
    made: list[Json] = []
    for who, fields in ((alice, {}), (bob, {}), (bob, {"visibility": "FOLLOWERS"}), (alice, {"visibility": "PRIVATE"})):
        made.append(publish(who, hubId=hub["id"], **fields))
        alice.server.clock.advance(1)
        publish(who, "elsewhere")
    body_of(bob.web.delete(f"/api/hubs/{hub['id']}/membership"))
    follow(carol, bob)

    def shown(reader: Actor | None) -> list[str]:
        return visit(alice.server, f"/hub/{hub['slug']}", reader).posts

    assert shown(None) == ids(made[1], made[0])
    assert shown(carol) == shown(bob) == ids(made[2], made[1], made[0])
    assert shown(alice) == ids(made[3], made[1], made[0]), "a member sees no more than others"
    page = visit(alice.server, f"/hub/{hub['slug']}", alice)
    assert (page.line("h1"), page.lines(".counts li")) == ("Letterpress", ["1 member", "You are a member"])
    assert visit(alice.server, f"/hub/{hub['slug']}", bob).lines(".banner .counts li") == ["1 member"]


SPELLINGS = {
    "NFC": "Café",
    "NFD": unicodedata.normalize("NFD", "Café"),
    "capitals": "CAFÉ",
    "small": "café",
    "full width": "\uff23\uff41\uff46é",
    "a mark of its own": "cafe\u0301",
}


def test_a_hashtag_is_one_however_it_is_written(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    ending = alice.account.username
    made: list[Json] = []
    for number, name in enumerate(SPELLINGS.values()):
        made.append(publish((alice, bob)[number % 2], f"Now: #{name}{ending}, #{name}{ending}!"))
        alice.server.clock.advance(1)
    publish(alice, f"#cafe{ending} #café{ending}s #caféx #x{ending} a#café{ending} https://e.org/#café{ending}")

    pages = {spelling: visit(alice.server, tag(f"{name}{ending}")) for spelling, name in SPELLINGS.items()}

    for spelling, page in pages.items():
        assert (spelling, page.posts) == (spelling, ids(*reversed(made)))
        assert page.line("h1") == f"#café{ending}"
        assert {href for _, href in page.links(".card .text")} == {tag(f"café{ending}")}


@pytest.mark.parametrize("name", ["straße", "ŀa", "क्षत्रिय", "\ufc5ea", "ﷺ", "ΑΣ", "İstanbul"])
def test_a_hashtag_leads_to_its_page(alice: Actor, name: str) -> None:
    post = publish(alice, f"#{name}")
    (href,) = visit(alice.server, f"/post/{post['id']}").values(".text a", "href")

    for path in (href, tag(name), tag(name.upper())):
        assert post["id"] in visit(alice.server, path).posts


def test_a_hashtag_lists_public_posts_that_stand(actor: MakeActor) -> None:
    alice = actor()
    name = alice.account.username
    other = publish(alice, f"#{name} too")
    alice.server.clock.advance(1)
    post = publish(alice, f"About #{name}")

    def edit(**changes: str) -> list[str]:
        body_of(alice.web.patch(f"/api/posts/{post['id']}", json=changes))
        assert visit(alice.server, tag(name)).posts == visit(alice.server, tag(name), alice).posts
        return visit(alice.server, tag(name)).posts

    both, one = ids(post, other), ids(other)
    assert edit(content=f"#{name} #{name}_2") == both
    assert visit(alice.server, tag(f"{name}_2")).posts == ids(post)
    assert edit(visibility="FOLLOWERS") == one
    assert visit(alice.server, tag(f"{name}_2"), status=404).line("h1") == "Not found"
    assert edit(visibility="PUBLIC") == both
    assert edit(content="Nothing") == one
    assert edit(content=f"Again #{name.upper()}") == both
    body_of(alice.web.delete(f"/api/posts/{post['id']}"))
    assert visit(alice.server, tag(name)).posts == one
    body_of(alice.web.delete(f"/api/posts/{other['id']}"))
    for reader in (None, alice):
        assert visit(alice.server, tag(name), reader, status=404).line("h1") == "Not found"


def test_a_quote_is_found_under_its_hashtag_and_a_plain_bounce_is_not(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    name = alice.account.username
    post = publish(alice, f"#{name}")
    alice.server.clock.advance(1)
    body_of(bob.web.post(f"/api/posts/{post['id']}/bounce"), 201)
    quoted = body_of(bob.web.post(f"/api/posts/{post['id']}/bounce", json={"content": f"#{name}!"}), 201)

    assert visit(alice.server, tag(name)).posts == ids(quoted, post)
