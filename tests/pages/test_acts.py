"""A reader's acts in place: forms that need no script, lead back to where they stood, and show errors."""

from collections.abc import Iterator
from urllib.parse import urlencode

import httpx
import pytest

from pressroom.clock import MINUTE
from tests.api.actors import Actor, Json, body_of, follow, nobody, publish, read
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page, fetch, visit

SETTINGS = ROOMY

POLL = {"options": ["The fox", "The heron"]}
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


def act(who: Actor, path: str, **fields: object) -> httpx.Response:
    """Sends a form, and does not follow where it leads."""
    return who.web.post(path, data=fields, headers=SAME_ORIGIN)


def led(answer: httpx.Response) -> str:
    """Where a form leads."""
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def refused(answer: httpx.Response, status: int) -> Page:
    """The page that says why not."""
    assert answer.status_code == status, answer.text
    return Page(answer.text)


def offered(page: Page) -> dict[str, str]:
    """The labels of the buttons of the first bar, and their targets."""
    (bar, *_) = page.tree.css(".acts")
    return {
        " ".join((form.css_first("button span") or form).text().split()): form.attributes["action"] or ""
        for form in bar.css(".acts > form")
    }


def test_act_leads_back_and_shows_its_effect(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    path = f"/post/{post['id']}"

    for does, undoes in (("Like", "Liked"), ("Save", "Saved"), ("Bounce", "Bounced")):
        before = offered(visit(alice.server, path, bob))
        place = led(act(bob, before[does]))
        notice = {"Save": "?done=post-saved", "Bounce": "?done=post-bounced"}.get(does, "")
        assert place == f"{path}{notice}#post-{post['id']}"
        page = visit(alice.server, path, bob)
        assert undoes in offered(page)
        assert undoes in page.lines("[aria-pressed='true'] span")
        led(act(bob, offered(page)[undoes]))
        assert offered(visit(alice.server, path, bob)) == before

    stats = read(bob, post["id"])["stats"]
    assert (stats["likes"], stats["shares"], stats["shareCount"]) == (0, 0, 0)


def test_an_act_in_a_list_leads_back_to_its_place_there(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    posts = [publish(alice, f"Number {number}")["id"] for number in range(21)]
    further = f"/@{alice.account.username}?before={posts[1]}"

    page = visit(alice.server, further, bob)
    place = led(act(bob, offered(page)["Like"]))

    assert place == f"{further}#post-{posts[0]}"
    assert visit(alice.server, further, bob).has(f"#post-{posts[0]} [aria-pressed='true']")


@one_engine
@pytest.mark.parametrize("place", ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", ""])
def test_an_act_leads_nowhere_else(actor: MakeActor, place: str) -> None:
    alice = actor()
    post = publish(alice)

    answer = alice.web.post(f"/post/{post['id']}/like", params={"next": place}, data={}, headers=SAME_ORIGIN)

    assert led(answer) == f"/post/{post['id']}"


def test_a_bounce_once_per_post(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    path = f"/post/{post['id']}/bounce"
    led(act(bob, path, idempotency_key="one"))
    led(act(bob, path, idempotency_key="one"))

    page = refused(act(bob, path, idempotency_key="two"), 409)

    assert "has bounced this post already" in page.line("#errors p")
    assert page.has(f"#post-{post['id']}")
    assert read(alice, post["id"])["stats"]["shares"] == 1


def test_bounce_of_a_bounce_shares_the_original(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    share = body_of(bob.web.post(f"/api/posts/{post['id']}/bounce"), 201)

    page = visit(alice.server, f"/post/{share['id']}", carol)
    place = led(act(carol, offered(page)["Bounce"]))

    assert place == f"/post/{share['id']}?done=post-bounced#post-{share['id']}"
    assert "Bounced" in offered(visit(alice.server, f"/post/{share['id']}", carol))
    assert read(alice, post["id"])["stats"]["shares"] == 2


def test_only_public_posts_can_be_bounced(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    follow(bob, alice)
    post = publish(alice, visibility="FOLLOWERS")

    page = visit(alice.server, f"/post/{post['id']}", bob)

    assert set(offered(page)) == {"Like", "Save"}
    assert "Only PUBLIC posts" in refused(act(bob, f"/post/{post['id']}/bounce"), 422).line("#errors li")
    assert "Only PUBLIC posts" in refused(bob.web.get(f"/post/{post['id']}/quote"), 422).line("main li")


def test_bounce_of_a_hidden_post_cannot_be_quoted(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice)
    share = body_of(bob.web.post(f"/api/posts/{post['id']}/bounce"), 201)
    body_of(alice.web.patch(f"/api/posts/{post['id']}", json={"visibility": "PRIVATE"}))
    path = f"/post/{share['id']}/quote"

    for who in (bob, carol):
        refused(who.web.get(path), 404)
        refused(act(who, path, content="How true"), 404)


def test_a_quote(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, "The heron")
    path = f"/post/{post['id']}/quote"
    assert "The heron" in visit(alice.server, path, bob).line(".nested .text")

    empty = refused(act(bob, path, content=" "), 400)
    long = refused(act(bob, path, content="x" * 5001), 400)
    place = led(act(bob, path, content="How true", idempotency_key="k"))
    again = led(act(bob, path, content="How true", idempotency_key="k"))

    assert "without a word" in empty.line("#errors li")
    assert long.texts("textarea") == ["x" * 5001]
    assert place == again
    made = read(bob, place.removeprefix("/post/"))
    assert (made["type"], made["content"], made["originalPost"]["id"]) == ("QUOTE", "How true", post["id"])


@pytest.mark.parametrize("multiple", [False, True])
def test_a_vote(actor: MakeActor, multiple: bool) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, poll={**POLL, "multiple": multiple})
    path = f"/post/{post['id']}"
    page = visit(alice.server, path, bob)
    (action,) = page.values("form.vote", "action")
    assert page.values("form.vote input", "type") == ["checkbox" if multiple else "radio"] * 2

    nothing = refused(act(bob, action), 400)
    led(act(bob, action, choices=["1", "0"] if multiple else ["1"]))

    assert nothing.has("#errors li")
    page = visit(alice.server, path, bob)
    assert not page.has("form.vote")
    assert page.lines(".poll .own .label") == (["The fox", "The heron"] if multiple else ["The heron"])
    assert "has voted in this poll already" in refused(act(bob, action, choices="1"), 409).line("#errors p")


def test_an_open_poll_is_shown_wherever_posts_are_listed(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, "What next? #ballot", poll=POLL)
    body_of(bob.web.post(f"/api/posts/{post['id']}/save"))

    for path in ("/tag/ballot", "/saved", f"/@{alice.account.username}", f"/post/{post['id']}"):
        assert visit(bob.server, path, bob).has("form.vote"), path


def test_a_poll_within_a_quote_shows_no_result_before_a_vote(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice, "What next?", poll=POLL)
    body_of(carol.web.post(f"/api/posts/{post['id']}/poll/votes", json={"choices": [0]}))
    quoted = body_of(alice.api.post(f"/api/posts/{post['id']}/bounce", json={"content": "Vote!"}), 201)

    for path in (f"/post/{quoted['id']}", f"/@{alice.account.username}"):
        page = visit(bob.server, path, bob)
        (action,) = page.values(f"#post-{quoted['id']} .nested form.vote", "action")
        assert action.startswith(f"/post/{post['id']}/vote?next=")
        assert not page.has(".nested .share, .nested .bar")
        assert visit(bob.server, path).has(".nested .share"), "somebody signed out cannot vote"
    page = visit(bob.server, f"/post/{post['id']}/quote", bob)
    assert page.lines(".nested .label") == ["The fox", "The heron"]
    assert not page.has(".nested .share, .nested form")

    act(bob, action, choices="1")

    page = visit(bob.server, f"/post/{quoted['id']}", bob)
    assert (page.line(".nested .own .label"), page.has(".nested form.vote")) == ("The heron", False)
    assert len(page.lines(".nested .share")) == 2


def test_a_poll_that_closed_meanwhile(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, poll={**POLL, "durationMinutes": 5})
    (action,) = visit(alice.server, f"/post/{post['id']}", bob).values("form.vote", "action")
    alice.server.clock.advance(6 * MINUTE)

    page = refused(act(bob, action, choices="1"), 422)

    assert page.line("#errors li") == "This poll is closed."
    assert not page.has("form.vote")


def commented(who: Actor, post: Json, content: str, **fields: object) -> str:
    """Comments by the form; the comment's id."""
    place = led(act(who, f"/post/{post['id']}/comment", content=content, **fields))
    return place.rpartition("#comment-")[2]


def test_a_comment_and_a_reply(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    first = commented(bob, post, "The heron", idempotency_key="k")
    assert commented(bob, post, "The heron", idempotency_key="k") == first

    page = visit(alice.server, f"/post/{post['id']}", alice)
    reply = dict(page.links(".comment-acts"))["Reply"]
    page = visit(alice.server, reply.partition("#")[0], alice)
    sent_to = f"/post/{post['id']}/comment?{urlencode({'next': reply.partition('#')[0]}, safe='/')}"
    assert page.has(f"#comment-{first} form[action='{sent_to}']")
    second = commented(alice, post, "The fox", parentId=page.values("[name=parentId]", "value")[0])

    page = visit(alice.server, f"/post/{post['id']}")
    assert page.lines(".comment .text") == ["The heron", "The fox"]
    assert page.has(f"#comment-{second}.depth-1")
    assert not page.has("main form")


def test_a_comment_that_is_refused_comes_back_where_it_was_typed(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    first = commented(bob, post, "The heron")
    path = f"/post/{post['id']}/comment"

    above = refused(act(alice, path, content="x" * 501), 400)
    below = refused(act(alice, path, content="x" * 501, parentId=first), 400)

    assert above.texts("#comments > form textarea") == ["x" * 501]
    assert below.texts(f"#comment-{first} textarea") == ["x" * 501]
    assert [len(each.texts("textarea")) for each in (above, below)] == [1, 1]
    assert "At most 500 characters" in below.line("#errors li")


@one_engine
def test_a_comment_on_a_long_thread_is_on_the_page_that_it_leads_to(actor: MakeActor) -> None:
    alice = actor()
    post = publish(alice)
    first = commented(alice, post, "First")
    for number in range(101):
        body_of(alice.web.post(f"/api/posts/{post['id']}/comments", json={"content": f"Number {number}"}), 201)

    for fields in ({}, {"parentId": first}):
        place = led(act(alice, f"/post/{post['id']}/comment", content="Last", **fields))
        page, _, anchor = place.partition("#")
        assert visit(alice.server, page, alice).has(f"#{anchor}")


@one_engine
def test_a_reply_deep_in_a_long_thread_is_on_the_page_that_it_leads_to(actor: MakeActor) -> None:
    alice = actor()
    post = publish(alice)
    first = commented(alice, post, "First")
    for number in range(101):
        alice.server.clock.advance(1)
        body = {"content": f"Number {number}", "parentId": first}
        body_of(alice.web.post(f"/api/posts/{post['id']}/comments", json=body), 201)
    alice.server.clock.advance(1)

    place = led(act(alice, f"/post/{post['id']}/comment", content="Last", parentId=first))

    page, _, anchor = place.partition("#")
    assert visit(alice.server, page, alice).lines(f"#{anchor} .text") == ["Last"]


def test_following_and_taking_it_back(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    path = f"/@{alice.account.username}"
    assert visit(alice.server, path, bob).line(".follow > form button") == "Follow"

    assert led(act(bob, f"{path}/follow")) == path
    assert visit(alice.server, path, bob).line(".follow > form button") == "Unfollow"
    led(act(bob, f"{path}/unfollow"))
    assert visit(alice.server, path, bob).line(".follow > form button") == "Follow"

    body_of(alice.web.patch("/api/auth/me", json={"isPrivate": True}))
    assert visit(alice.server, path, bob).line(".follow > form button") == "Ask to follow"
    led(act(bob, f"{path}/follow"))
    assert visit(alice.server, path, bob).line(".follow > form button") == "Withdraw the request"
    led(act(bob, f"{path}/unfollow"))
    assert visit(alice.server, path, bob).line(".follow > form button") == "Ask to follow"


def test_blocking_and_muting_and_taking_it_back(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post, path = publish(bob), f"/@{bob.account.username}"
    here = f"/post/{post['id']}"
    page = visit(alice.server, here, alice)
    assert page.lines(".acts .more :is(form, a)")[:2] == [
        f"Mute @{bob.account.username}",
        f"Block @{bob.account.username}",
    ]
    assert page.values(".acts .more a[data-ask]", "href") == [f"{path}/block"], "the post is a 404 afterwards"

    assert led(act(alice, f"{path}/mute?next={here}")) == f"{here}?done=account-muted"
    assert "Unmute" in visit(alice.server, path, alice).lines(".follow .more button")
    assert led(act(alice, f"{path}/unmute")) == path
    question = visit(alice.server, f"{path}/block?next=/explore", alice)
    assert question.values("form[method=post][action*=block]", "action") == [f"{path}/block?next=/explore"]
    assert led(act(alice, f"{path}/block")) == f"{path}?done=account-blocked"
    assert visit(alice.server, path, alice).line(".follow > form button") == "Unblock"
    assert visit(alice.server, path, alice).line("main .notice").startswith("You block this account")
    assert led(act(alice, f"{path}/unblock")) == path
    assert visit(alice.server, path, alice).line(".follow > form button") == "Follow"


@one_engine
def test_filters_are_added_and_removed_on_the_page(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    page = "/settings/privacy?list=filters"

    assert led(act(alice, "/settings/privacy/filters", text="Ferry", places="timeline")).startswith(page)
    assert visit(alice.server, page, alice).lines(".people p bdi") == ["Ferry"]
    assert body_of(alice.web.get("/api/filters"))["filters"] == [
        {"text": "Ferry", "wholeWord": False, "places": ["timeline"]}
    ]
    assert led(act(alice, "/settings/privacy/filters/remove", text="Ferry")).startswith(page)
    assert not visit(alice.server, page, alice).has(".people")
    body_of(alice.web.put(f"/api/blocks/{bob.account.username}"))
    assert visit(alice.server, "/settings/privacy", alice).lines(".people button") == ["Unblock"]


def test_following_oneself_is_refused(actor: MakeActor) -> None:
    alice = actor()
    path = f"/@{alice.account.username}"

    assert not visit(alice.server, path, alice).has(f"form[action='{path}/follow']")
    assert "their own account" in refused(act(alice, f"{path}/follow"), 422).line("#errors li")


def test_joining_and_leaving_a_hub(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    slug = alice.account.username.replace("_", "-").lower()
    body_of(alice.web.post("/api/hubs", json={"name": "Letterpress", "slug": slug}), 201)
    path = f"/hub/{slug}"

    assert visit(alice.server, path, bob).line("form.follow button") == "Join the hub"
    assert led(act(bob, f"{path}/join")) == path
    page = visit(alice.server, path, bob)
    assert page.line("form.follow button") == "Leave the hub"
    assert "2 members" in page.lines(".counts li")
    led(act(bob, f"{path}/leave"))
    assert "1 member" in visit(alice.server, path, bob).lines(".counts li")


def acts(post: Json) -> Iterator[tuple[str, dict[str, object]]]:
    """Every act on a post."""
    for name in ("like", "unlike", "save", "unsave", "bounce", "unbounce"):
        yield f"/post/{post['id']}/{name}", {}
    yield f"/post/{post['id']}/vote", {"choices": "0"}
    yield f"/post/{post['id']}/comment", {"content": "Hm"}
    yield f"/post/{post['id']}/quote", {"content": "Hm"}


def test_act_on_a_hidden_post_is_404(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    hidden = publish(alice, visibility="PRIVATE", poll=POLL)
    gone = publish(alice, poll=POLL)
    body_of(alice.web.delete(f"/api/posts/{gone['id']}"))
    never = {"id": "01HZ0000000000000000000000"}

    for (path, fields), (past, _), (absent, _) in zip(acts(hidden), acts(gone), acts(never), strict=True):
        answers = [act(bob, each, **fields) for each in (path, past, absent)]
        assert [answer.status_code for answer in answers] == [404, 404, 404], path
        assert len({answer.text for answer in answers}) == 1, path
    assert [fetch(alice.server, f"/post/{each['id']}/quote", bob).status_code for each in (hidden, gone, never)] == [
        404,
        404,
        404,
    ]


@one_engine
def test_signed_out_there_is_nothing_to_do_but_sign_in(actor: MakeActor) -> None:
    alice = actor()
    post = publish(alice, poll=POLL)

    for path in (f"/post/{post['id']}", f"/@{alice.account.username}"):
        page = visit(alice.server, path)
        assert not page.has("main form, main button, script")
    assert ("Sign in to comment", f"/login?next=/post/{post['id']}") in visit(
        alice.server, f"/post/{post['id']}"
    ).links("#comments")


@one_engine
def test_a_form_sent_signed_out_leads_back_after_the_sign_in(actor: MakeActor) -> None:
    alice = actor()
    server, post = alice.server.base_url, publish(alice)
    here = f"/post/{post['id']}"
    forms = {
        f"{here}/like": here,
        f"{here}/like?next=/%23post-1": "/#post-1",
        f"{here}/comment": here,
        "/@somebody/follow": "/@somebody",
        "/hub/some-hub/join": "/hub/some-hub",
        "/notifications/read": "/notifications",
        "/notifications/01HZ0000000000000000000000/read": "/notifications",
        f"/report?type=post&id={post['id']}": f"/report?type=post&id={post['id']}",
    }
    for path, place in forms.items():
        answer = nobody.post(f"{server}{path}", headers=SAME_ORIGIN)
        assert led(answer) == f"/login?{urlencode({'next': place})}", path
    for path in ("/", "/preview"):
        assert led(nobody.post(f"{server}{path}", headers=SAME_ORIGIN)) == "/login", "which leads to /"
