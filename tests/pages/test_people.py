"""Saved posts, hubs, followers and followed accounts: the JSON routes and the pages over them."""

import pytest

from pressroom.domains.accounts.models import Caller
from pressroom.domains.hubs.actions import OFFERED, create_hub
from pressroom.domains.hubs.models import NewHub
from pressroom.domains.moderation import actions as moderation
from tests.api.actors import Actor, body_of, follow, publish, refusal
from tests.api.conftest import MakeActor
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page, visit

SETTINGS = ROOMY


def press(who: Actor, path: str, status: int = 303) -> str:
    """Sends a form without fields; where it leads."""
    answer = who.web.post(path, headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == status, answer.text
    return answer.headers.get("location", "")


def asks(who: Actor, path: str, owner: Actor) -> list[str]:
    """The user names of a list of requests."""
    return [each["username"] for each in body_of(who.web.get(path))["followRequests"] if owner]


def make_private(who: Actor) -> None:
    """From now on followers of the account wait."""
    body_of(who.web.patch("/api/auth/me", json={"isPrivate": True}))


def test_saved_posts_that_are_still_visible(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    follow(bob, alice)
    posts = [publish(alice, f"Number {number}", visibility="FOLLOWERS")["id"] for number in range(3)]
    public = publish(alice, "For all")["id"]
    for each in (*posts, public):
        body_of(bob.web.post(f"/api/posts/{each}/save"))
    body_of(alice.web.delete(f"/api/posts/{posts[0]}"))

    first = body_of(bob.web.get("/api/saved?limit=2"))
    second = body_of(bob.web.get(f"/api/saved?limit=2&cursor={first['nextCursor']}"))

    assert [each["id"] for each in first["posts"]] == [public, posts[2]]
    assert ([each["id"] for each in second["posts"]], second["nextCursor"]) == ([posts[1]], None)
    assert visit(alice.server, "/saved", bob).posts == [public, posts[2], posts[1]]
    body_of(bob.web.delete(f"/api/accounts/{alice.account.username}/follow"))
    assert [each["id"] for each in body_of(bob.web.get("/api/saved"))["posts"]] == [public]
    page = visit(alice.server, "/saved", bob)
    assert page.posts == [public]
    assert "Number" not in page.html
    assert body_of(alice.web.get("/api/saved"))["posts"] == []
    assert refusal(bob.api.get("/api/saved")) == (403, "Session required")


def test_requests_are_accepted_rejected_and_withdrawn(actor: MakeActor) -> None:
    alice, bob, carol, dora = actor(), actor(), actor(), actor()
    make_private(alice)
    name = alice.account.username
    for each in (bob, carol, dora):
        press(each, f"/@{name}/follow")
    assert asks(bob, "/api/follow-requests/sent", alice) == [name]
    assert visit(alice.server, "/follows?list=sent", bob).has(f".people a[href='/@{name}']")

    assert press(dora, f"/@{name}/unfollow?next=/follows%3Flist%3Dsent") == "/follows?list=sent"
    assert press(alice, f"/follows/{bob.account.username}/accept").startswith("/follows?list=requests")
    press(alice, f"/follows/{carol.account.username}/reject")

    assert asks(alice, "/api/follow-requests", alice) == []
    assert asks(bob, "/api/follow-requests/sent", alice) == []
    followers = [each["username"] for each in body_of(alice.web.get("/api/followers"))["followers"]]
    assert followers == [bob.account.username]
    for path in ("accept", "reject"):
        press(alice, f"/follows/{dora.account.username}/{path}", 404)
    press(alice, f"/follows/{bob.account.username}/remove")
    assert body_of(alice.web.get("/api/followers"))["followers"] == []


@pytest.mark.parametrize("by_page", [False, True])
def test_all_requests_at_once(actor: MakeActor, by_page: bool) -> None:
    alice, others = actor(), [actor() for _ in range(3)]
    make_private(alice)
    for each in others:
        follow(each, alice)

    if by_page:
        assert visit(alice.server, "/follows?list=requests", alice).has("form[action='/follows/accept']")
        press(alice, "/follows/accept")
    else:
        assert body_of(alice.web.post("/api/follow-requests/accept")) == {"accepted": 3, "left": False}
        assert body_of(alice.web.post("/api/follow-requests/accept")) == {"accepted": 0, "left": False}

    assert body_of(alice.web.get("/api/follow-requests"))["followRequests"] == []
    assert len(body_of(alice.web.get("/api/followers"))["followers"]) == 3
    assert "3" in visit(alice.server, "/follows?list=followers", alice).lines(".tabs b")


def test_request_made_after_the_list_waits_on(actor: MakeActor) -> None:
    alice, early, suspended, late, later = (actor() for _ in range(5))
    make_private(alice)
    for each in (early, suspended, late):
        alice.server.clock.advance(1)
        follow(each, alice)
    db = alice.server.runtime.db
    alice.server.run(db.transact(moderation.suspend_account, suspended.account.username))
    up_to = body_of(alice.web.get("/api/follow-requests"))["followRequests"][1]["requestId"]

    answer = alice.web.post("/api/follow-requests/accept", json={"upTo": up_to})

    assert body_of(answer) == {"accepted": 1, "left": False}
    followers = body_of(alice.web.get("/api/followers"))["followers"]
    assert [each["username"] for each in followers] == [early.account.username]
    form = visit(alice.server, "/follows?list=requests", alice)
    (newest,) = form.values("form[action='/follows/accept'] input[name=upTo]", "value")
    alice.server.clock.advance(1)
    follow(later, alice)
    assert alice.web.post("/follows/accept", data={"upTo": newest}).status_code == 303
    waiting = body_of(alice.web.get("/api/follow-requests"))["followRequests"]
    assert [each["username"] for each in waiting] == [later.account.username]
    alice.server.run(db.transact(moderation.restore_account, suspended.account.username))
    waiting = body_of(alice.web.get("/api/follow-requests"))["followRequests"]
    assert [each["username"] for each in waiting] == [later.account.username, suspended.account.username]


def test_own_hubs_are_listed(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    slug = alice.account.username.replace("_", "-").lower()

    refused = alice.web.post("/hubs/new", data={"name": "Letterpress", "slug": "A!"})
    made = alice.web.post("/hubs/new", data={"name": "Letterpress", "slug": slug})
    taken = bob.web.post("/hubs/new", data={"name": "Again", "slug": slug})

    assert (refused.status_code, made.status_code, taken.status_code) == (400, 303, 409)
    assert Page(taken.text).line("#errors p") == f"The slug {slug} is taken."
    (hub,) = body_of(alice.web.get("/api/hubs"))["hubs"]
    page = visit(alice.server, "/hubs", alice)
    assert page.values("[data-copy]", "data-copy") == [hub["id"]]
    assert page.links(".card h2") == [("Letterpress", f"/hub/{slug}")]
    assert not visit(alice.server, "/hubs", bob).has(".card")


@pytest.mark.parametrize("form", ["/", "/clips"])
def test_more_hubs_than_a_form_offers_are_reached_from_their_list(alice: Actor, form: str) -> None:
    db, caller = alice.server.runtime.db, Caller(alice.account)
    slug = alice.account.username.replace("_", "-").lower()
    made: list[str] = []
    for number in range(OFFERED):
        alice.server.clock.advance(1)
        new = NewHub(f"Hub {number}", f"{slug}-{number}")
        made.insert(0, alice.server.run(db.transact(create_hub, caller, new)).id)
    assert offered(alice, form) == ["", *made]
    assert "newest hubs" not in alice.web.get(form).text

    alice.server.clock.advance(1)
    made.insert(0, alice.server.run(db.transact(create_hub, caller, NewHub("Newest", f"{slug}-new"))).id)
    assert offered(alice, form) == ["", *made[:OFFERED]]
    assert "newest hubs" in alice.web.get(form).text

    last = visit(alice.server, f"/hubs?before={made[-2]}", alice)
    address = f"{form}?hub={made[-1]}"
    assert [link for link in last.values(".card .actions a", "href") if link.partition("#")[0] == address]
    assert offered(alice, address) == ["", *made]
    assert visit(alice.server, address, alice).values("#f-hubId [selected]", "value") == [made[-1]]
    refused = Page(alice.web.post(form, data={"hubId": made[-1], "visibility": "NOBODY"}).text)
    assert refused.values("#f-hubId [selected]", "value") == [made[-1]]


def offered(who: Actor, path: str) -> list[str | None]:
    """The ids of the hubs that a form offers."""
    return list(visit(who.server, path, who).values("#f-hubId option", "value"))


def test_a_hub_of_others_is_not_offered(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hub = {"name": "Letterpress", "slug": bob.account.username.replace("_", "-").lower()}
    foreign = body_of(bob.web.post("/api/hubs", json=hub), 201)["id"]

    for hub_id in (foreign, "0" * 26, "x", "'"):
        assert visit(alice.server, f"/?hub={hub_id}", alice).values("#f-hubId option", "value") == []
