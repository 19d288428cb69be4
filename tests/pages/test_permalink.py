"""The page of a post."""

import pytest

from pressroom.clock import HOUR
from pressroom.web.avatars import avatar_source
from tests.api.actors import Actor, Json, body_of, publish
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.pages.markup import FOREIGN
from tests.pages.reader import Page, visit

SETTINGS = ROOMY

LOST = "The original post is no longer available."


def permalink(post: Json) -> str:
    return f"/post/{post['id']}"


def opened(author: Actor, post: Json, reader: Actor | None = None) -> Page:
    return visit(author.server, permalink(post), reader)


def bounced(who: Actor, post: Json, content: str | None = None) -> Json:
    return body_of(who.web.post(f"/api/posts/{post['id']}/bounce", json={"content": content}), 201)


def edited(author: Actor, post: Json, **changes: object) -> Json:
    author.server.clock.advance(HOUR)
    return body_of(author.web.patch(f"/api/posts/{post['id']}", json=changes))


def test_hashtags_mentions_and_urls_are_linked(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    name, url = bob.account.username, "https://e.org/a_(b)?c=1&d=%22#e"
    text = f"Am #Läufer:\n(@{name}) war bei {url}. a#b a@b #1 &#x26;"

    page = opened(alice, publish(alice, text))

    assert page.texts(".post .text") == [text]
    assert page.links(".text") == [("#Läufer", "/tag/l%C3%A4ufer"), (f"@{name}", f"/@{name}"), (url, url)]
    assert page.values(".text a", "rel") == ["", "", FOREIGN]
    assert visit(alice.server, "/tag/l%C3%A4ufer").line("h1") == "#läufer"


def test_permalink_shows_author_and_time(actor: MakeActor) -> None:
    alice = actor()
    body_of(alice.web.patch("/api/auth/me", json={"displayName": "Alice Ö."}))
    post = publish(alice, "Hello")

    page = opened(alice, post)

    assert page.line("head > title") == 'Alice Ö.: "Hello"'
    assert page.line("h1") == "Post by Alice Ö."
    assert page.line(".post .who") == f"Alice Ö. @{alice.account.username}"
    assert set(page.values(".post .head a", "href")) == {f"/@{alice.account.username}"}
    assert page.values(".post time", "datetime") == [post["createdAt"]]
    assert "edited" not in page.line(".post .when")
    assert not page.has(".badge, .place, .chip, .poll, .nested, .bounced, .lost, .versions")


def test_a_poll_is_shown_with_its_votes(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    poll = {"question": "Which bird?", "options": ["Heron", "Stork", "Crane"], "durationMinutes": 60}
    post = publish(alice, poll=poll)
    for who, choice in ((alice, 1), (bob, 0), (carol, 1)):
        body_of(who.web.post(f"/api/posts/{post['id']}/poll/votes", json={"choices": [choice]}))

    page = opened(alice, post, carol)

    assert page.line(".poll .question") == "Which bird?"
    assert page.lines(".poll .label") == ["Heron", "Stork", "Crane"]
    assert page.lines(".poll .share") == ["33%, 1 vote", "67%, 2 votes", "0%, 0 votes"]
    assert page.values(".poll rect", "width") == ["33%", "67%", "0%"]
    assert page.lines(".poll .own .label") == ["Stork"]
    assert page.line(".poll .facts").startswith("3 votes Closes ")
    assert not opened(alice, post).has(".poll .own")
    alice.server.clock.advance(HOUR)
    assert opened(alice, post).line(".poll .facts").startswith("3 votes Closed ")


def test_a_poll_with_several_choices_counts_voters(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, poll={"options": ["x", "y", "z"], "multiple": True})
    assert opened(alice, post).lines(".poll .share") == ["0%, 0 votes"] * 3
    for who, choices in ((alice, [0, 1]), (bob, [1])):
        body_of(who.web.post(f"/api/posts/{post['id']}/poll/votes", json={"choices": choices}))

    page = opened(alice, post)

    assert not page.has(".question")
    assert page.lines(".poll .share") == ["50%, 1 vote", "100%, 2 votes", "0%, 0 votes"]
    assert page.line(".poll .facts").startswith("2 voters Several choices Closes ")


PLACES: dict[str, tuple[Json, str, list[tuple[str, str]]]] = {
    "a name": ({"name": "Köln"}, "Köln", []),
    "half a place": ({"name": "Köln", "latitude": 1}, "Köln", []),
    "north east": (
        {"name": "Köln", "latitude": 50.9375, "longitude": 6.96},
        "Köln 50.9375° N, 6.9600° E",
        [("50.9375° N, 6.9600° E", "geo:50.937500,6.960000")],
    ),
    "south west": (
        {"name": "Lima", "latitude": -12.04637, "longitude": -77.0428},
        "Lima 12.0464° S, 77.0428° W",
        [("12.0464° S, 77.0428° W", "geo:-12.046370,-77.042800")],
    ),
    "nowhere": (
        {"name": "0", "latitude": 0, "longitude": 0},
        "0 0.0000° N, 0.0000° E",
        [("0.0000° N, 0.0000° E", "geo:0.000000,0.000000")],
    ),
}


@pytest.mark.parametrize(("location", "shown", "links"), PLACES.values(), ids=PLACES)
def test_a_place(alice: Actor, location: Json, shown: str, links: list[tuple[str, str]]) -> None:
    page = opened(alice, publish(alice, location=location))

    assert page.line(".place") == shown
    assert page.links(".place") == links


def test_the_hub_and_the_key_that_made_it(alice: Actor) -> None:
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Bleisatz 🗞", "slug": "bleisatz"}), 201)
    by_key = publish(alice, hubId=hub["id"])
    by_hand = body_of(alice.web.post("/api/posts", json={"content": "x"}), 201)

    page = opened(alice, by_key)

    assert page.links(".origin") == [("Bleisatz 🗞", "/hub/bleisatz")]
    assert page.values(".chip img", "src") == [avatar_source(hub["avatar"], None)]
    assert page.line(".via") == "via test key"
    assert alice.key[:15] not in page.html
    assert not opened(alice, by_hand).has(".via, .origin")


def test_an_edit_shows_and_its_history_is_the_author_s(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, "First draft", visibility="PRIVATE")
    second = edited(alice, post, content="Second draft #now")
    last = edited(alice, post, content="Last word", visibility="PUBLIC")

    for reader in (None, bob):
        page = opened(alice, post, reader)
        assert page.lines(".post > .text") == ["Last word"]
        assert "edited" in page.line(".post .head .when")
        assert page.values(".post .head time", "datetime") == [post["createdAt"], last["editedAt"]]
        assert not page.has("main details.versions")
        assert not page.has(".versions")
    own = opened(alice, post, alice)
    assert own.line(".versions summary") == "2 earlier versions"
    assert own.lines(".versions .text") == ["Second draft #now", "First draft"]
    assert own.values(".versions time", "datetime") == [second["editedAt"], post["createdAt"]]
    assert own.lines(".versions .badge") == ["Private", "Private"]
    assert own.links(".versions") == [("#now", "/tag/now")]


def test_quote_shows_the_quoted_post(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice, "The heron.", poll={"options": ["x", "y"]}, location={"name": "Köln"})
    quote = bounced(bob, original, "Look!")

    page = opened(alice, quote)

    assert page.line("h1") == f"Post by {bob.account.username}"
    assert page.lines(".post > .text") == ["Look!"]
    assert page.line(".nested .text") == "The heron."
    assert page.line(".nested .handle") == f"@{alice.account.username}"
    assert page.values(".nested a.permalink", "href") == [f"{alice.server.base_url}{permalink(original)}"]
    assert page.lines(".nested .label") == ["x", "y"]
    assert page.line(".nested .place") == "Köln"


def test_a_quote_of_a_quote_leads_on(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    first = bounced(bob, publish(alice, "The heron."), "Look!")
    second = bounced(alice, first, "You look!")

    page = opened(alice, second)

    assert page.lines(".text") == ["You look!", "Look!"]
    assert page.links(".more") == [("Show the post that this one quotes", f"{alice.server.base_url}{permalink(first)}")]


def test_plain_bounce_is_a_line_above_the_original(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice, "The heron.")
    body_of(bob.web.post(f"/api/posts/{original['id']}/like"))
    bounce = bounced(bob, original)

    page = opened(alice, bounce)

    assert page.line("head > title") == f'{bob.account.username} bounced {alice.account.username}: "The heron."'
    assert page.line("h1") == f"Bounce by {bob.account.username}"
    assert page.line(".bounced > p:not(.when)") == f"{bob.account.username} bounced"
    assert page.line(".post .text") == "The heron."
    assert page.line(".post .handle") == f"@{alice.account.username}"
    assert page.line(".post .counts") == "1 like 0 comments 1 bounce 0 views"
    assert page.line(".own-counts .counts") == "0 likes 0 comments 0 bounces 0 views"


@pytest.mark.parametrize("content", [None, "Look!"], ids=["bounce", "quote"])
@pytest.mark.parametrize("end", ["deleted", "FOLLOWERS", "PRIVATE"])
def test_the_original_is_gone(actor: MakeActor, content: str | None, end: str) -> None:
    alice, bob = actor(), actor()
    original = publish(alice, "The heron.", location={"name": "Köln"}, poll={"options": ["x", "y"]})
    bounce = bounced(bob, original, content)

    if end == "deleted":
        body_of(alice.web.delete(f"/api/posts/{original['id']}"))
    else:
        edited(alice, original, visibility=end)

    for reader in (None, bob):
        for path in (permalink(bounce), f"/@{bob.account.username}"):
            page = visit(bob.server, path, reader)
            assert page.line(".lost") == LOST
            assert not page.has(".nested, .poll, .place")
            for word in ("heron", "Köln", original["id"], alice.account.username):
                assert word not in page.html
            assert page.lines(".text") == ([content] if content else [])
    assert opened(alice, bounce, alice).has(".lost") == (end == "deleted")


BADGES = {
    "FOLLOWERS": "Followers only",
    "CONNECTIONS": "Connections only",
    "PRIVATE": "Private",
    "CUSTOM": "Chosen readers only",
}


@one_engine
@pytest.mark.parametrize(("visibility", "badge"), BADGES.items())
def test_for_whom_it_is(alice: Actor, visibility: str, badge: str) -> None:
    post = publish(alice, visibility=visibility)

    for path in (permalink(post), f"/@{alice.account.username}"):
        assert visit(alice.server, path, alice).line(".badge") == badge


def test_permalink_shows_the_counts_of_reactions(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    assert opened(alice, post, alice).line(".counts") == "0 likes 0 comments 0 bounces 0 views"
    for who in (alice, bob):
        body_of(who.web.post(f"/api/posts/{post['id']}/like"))
    for content in (None, "Look!", "And look again!"):
        bounced(bob, post, content)
    body_of(bob.web.post(f"/api/posts/{post['id']}/comments", json={"content": "Hm"}), 201)

    page = opened(alice, post, alice)

    assert page.line(".counts") == "2 likes 1 comment 3 bounces 0 views"
    assert page.line("#comments-heading") == "1 comment"


def test_a_page_knows_who_reads_it(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)

    assert (f"@{bob.account.username}", f"/@{bob.account.username}") in opened(alice, post, bob).links("header nav")
    assert bob.account.username not in opened(alice, post).html
