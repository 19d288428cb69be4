"""The home of somebody signed in: the timeline as a page."""

from tests.api.actors import Actor, body_of, follow, publish
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.media.uploads import ready_clip
from tests.pages.reader import Page

SETTINGS = ROOMY
CARDS = "[data-entries] > article"


def home(who: Actor, query: str = "") -> Page:
    """The front page."""
    return Page(who.web.get(f"/{query}").text)


def test_home_shows_the_timeline_with_bouncers_and_clips(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    follow(alice, bob)
    theirs, own = publish(carol, "Theirs"), publish(alice, "Mine alone", visibility="PRIVATE")
    bounce = body_of(bob.api.post(f"/api/posts/{theirs['id']}/bounce"), 201)
    deleted = publish(bob, "Gone")
    body_of(bob.api.delete(f"/api/posts/{deleted['id']}"))
    clip = ready_clip(bob, caption="The pilot boat")

    page = home(alice)

    expected = {f"clip-{clip['id']}", f"post-{bounce['id']}", f"post-{own['id']}"}
    assert set(page.values(CARDS, "id")) == expected
    assert f"{bob.account.display_name} bounced" in page.line(f"#post-{bounce['id']} .bounced p:first-of-type")
    assert page.lines(f"#post-{bounce['id']} .text") == ["Theirs"]
    assert page.lines(f"#clip-{clip['id']} .text") == ["The pilot boat"]
    assert page.lines(f"#clip-{clip['id']} .more :is(button, a)") == [
        f"Mute @{bob.account.username}",
        f"Block @{bob.account.username}",
    ]
    assert page.has(f'a[href="/post/{own["id"]}/edit"]')
    assert "Mine alone" not in home(bob).html


@one_engine
def test_older_entries_are_on_further_pages(alice: Actor) -> None:
    posts = [f"post-{publish(alice, f'Number {number}')['id']}" for number in range(23)]

    first = home(alice)
    second = home(alice, first.values("a[rel=next]", "href")[0].removeprefix("/"))

    assert first.values(CARDS, "id") + second.values(CARDS, "id") == posts[::-1]
    assert first.values("[data-new]", "data-new") == [posts[-1].removeprefix("post-")]
    assert not second.has("a[rel=next]")
    assert not second.has("[data-new]")


def test_empty_timeline_offers_people_to_follow(actor: MakeActor) -> None:
    alice = actor()

    page = home(alice)

    assert page.line(".welcome h2") == "Your timeline is empty"
    assert "/explore" in page.values(".welcome a", "href")
    publish(alice)
    assert not home(alice).has(".welcome")


def test_box_to_write_in_is_closed_until_it_is_needed(actor: MakeActor) -> None:
    alice = actor()
    hub = body_of(alice.web.post("/api/hubs", json={"name": "Quay", "slug": f"q-{alice.account.id.lower()}"}), 201)

    assert not home(alice).has("details.writing[open]")
    assert home(alice, f"?hub={hub['id']}").has("details.writing[open]")
    refused = Page(alice.web.post("/", data={"content": " ", "idempotency_key": "k"}).text)
    assert refused.has("details.writing[open]")
    assert refused.has("#errors")


def test_closed_comments_show_a_notice_instead_of_a_form(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = body_of(alice.web.post("/api/posts", json={"content": "Hello", "comments": "nobody"}), 201)["id"]

    page = Page(bob.web.get(f"/post/{post}").text)

    assert "does not take comments" in page.line("#comments > .soft")
    assert not page.has("#comments > form")
    assert Page(alice.web.get(f"/post/{post}").text).has("#comments > form")
