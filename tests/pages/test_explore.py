"""The page of explore, its forms without script, the front page that shows it, and the page of admins on it."""

from collections.abc import Callable

import pytest

from pressroom.domains.explore.picking import Picker
from tests.api.actors import Actor, body_of, follow, new_client, publish
from tests.api.conftest import MakeActor
from tests.harness.browser import OpenTab
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page

SETTINGS = {**ROOMY, "PUBLIC_EXPLORE": 1}

MakeServer = Callable[..., LocalServer]


def pick(server: LocalServer) -> None:
    """Does the job."""
    server.run(Picker(server.runtime.db, server.clock).run())


def page(who: Actor, path: str = "/explore") -> Page:
    """The page at an address, as somebody sees it."""
    answer = who.web.get(path)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def front(server: LocalServer) -> Page:
    """The front page of a visitor."""
    with new_client(base_url=server.base_url) as visitor:
        return Page(visitor.get("/").text)


def like(who: Actor, post_id: str) -> None:
    body_of(who.web.post(f"/api/posts/{post_id}/like"))


def test_page_has_hashtags_people_hubs_and_posts(server: LocalServer, actor: MakeActor) -> None:
    reader, *authors = (actor() for _ in range(4))
    posts = [publish(author, "At noon. #Regatta")["id"] for author in authors]
    like(reader, posts[0])
    slug = f"sails-of-{authors[0].account.username}"
    body_of(authors[0].web.post("/api/hubs", json={"name": "Sails", "slug": slug}), 201)
    pick(server)

    shown = page(reader)
    assert ("#regatta", "/tag/regatta") in shown.links(".rising")
    assert f"/@{authors[0].account.username}" in shown.values(".picks a", "href")
    assert f"/hub/{slug}" in shown.values(".picks a", "href")
    assert f"post-{posts[0]}" in shown.values("article.card", "id")
    assert set(shown.values("header nav a[aria-current=page]", "href")) == {"/explore"}


def test_forms_follow_and_join_and_lead_back(server: LocalServer, actor: MakeActor) -> None:
    reader, author = actor(), actor()
    publish(author)
    slug = f"club-of-{author.account.username}"
    body_of(author.web.post("/api/hubs", json={"name": "Club", "slug": slug}), 201)
    pick(server)

    follows = f"/@{author.account.username}/follow?next=/explore"
    for action in (follows, f"/hub/{slug}/join?next=/explore"):
        assert action in page(reader).values("form", "action")
        answer = reader.web.post(action)
        assert (answer.status_code, answer.headers["location"]) == (303, "/explore")
    assert follows not in page(reader).values("form", "action")
    assert f"/hub/{slug}/leave?next=/explore" in page(reader).values("form", "action")
    assert body_of(reader.web.get("/api/follows"))["follows"][0]["username"] == author.account.username


def test_names_are_shown_as_text(server: LocalServer, actor: MakeActor) -> None:
    reader, author = actor(), actor()
    body_of(author.web.patch("/api/auth/me", json={"displayName": '<i>Ada</i> & "co"'}))
    publish(author)
    slug = f"text-of-{author.account.username}"
    body_of(author.web.post("/api/hubs", json={"name": "<b>Ink</b>", "slug": slug}), 201)
    pick(server)

    for shown in (page(reader), front(server)):
        assert '<i>Ada</i> & "co"' in shown.texts(".picks .name")
        assert "<b>Ink</b>" in shown.texts(".picks .name")
        assert not shown.has(".picks i")


def test_empty_explore_describes_its_contents(local_server: MakeServer) -> None:
    server = local_server()
    reader = Actor(server)

    shown = page(reader)
    assert shown.line(".nothing h2") == "Nothing to explore yet"
    assert not shown.has("main section")
    for client in reader.clients():
        client.close()


def test_visitor_of_explore_is_sent_to_sign_in(server: LocalServer) -> None:
    with new_client(base_url=server.base_url) as visitor:
        answer = visitor.get("/explore")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Fexplore")


def test_front_page_of_visitors_shows_explore_where_that_is_set(server: LocalServer, actor: MakeActor) -> None:
    author, fan = actor(), actor()
    post, hidden = publish(author, "For everybody")["id"], publish(author, "Not for long")["id"]
    for each in (post, hidden):
        like(fan, each)
    pick(server)
    body_of(author.web.patch(f"/api/posts/{hidden}", json={"visibility": "FOLLOWERS"}))

    with new_client(base_url=server.base_url) as visitor:
        answer = visitor.get("/")
        again = visitor.get("/", headers={"If-None-Match": answer.headers["etag"]})
    shown = Page(answer.text)
    assert f"post-{post}" in shown.values("article.card", "id")
    assert f"post-{hidden}" not in shown.values("article.card", "id")
    assert "/login" in shown.values("main a", "href")
    assert not shown.has("main form")
    assert not shown.has("script")
    assert "script-src" not in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-cache"
    assert (again.status_code, again.text) == (304, "")
    assert not Page(author.web.get("/").text).has(".side-picks"), "signed in it stays"


def test_front_page_of_visitors_is_an_introduction_otherwise(local_server: MakeServer) -> None:
    server = local_server()
    publish(Actor(server))
    pick(server)

    assert front(server).line("h1") == "This is a Pressroom server"


@pytest.fixture
def admin(actor: MakeActor) -> Actor:
    """Somebody with the rights of an admin."""
    return actor().become_admin()


def test_admin_takes_a_post_out_by_its_link_and_puts_it_back(
    server: LocalServer, actor: MakeActor, admin: Actor
) -> None:
    author, fan = actor(), actor()
    post = publish(author)["id"]
    like(fan, post)
    pick(server)
    link = f"/admin/explore?type=post&subject={post}"
    assert link in page(admin).values(f"#post-{post} a", "href")
    assert link not in page(fan).values("a", "href")

    form = page(admin, link)
    assert form.values("main form.stack option[selected]", "value") == ["post"]
    assert form.values("input[name=subject]", "value") == [post]
    fields = {"type": "post", "subject": post, "reason": "Nothing but advertisements."}
    answer = admin.web.post("/admin/explore", data=fields)
    assert answer.headers["location"] == "/admin/explore?done=explore-excluded"
    assert f"post-{post}" not in page(fan).values("article.card", "id")
    listed = page(admin, "/admin/explore")
    assert f"/post/{post}" in listed.values("table a", "href")

    (put_back, *_) = listed.values("table form", "action")
    assert admin.web.post(put_back).headers["location"] == "/admin/explore?done=explore-included"
    assert f"post-{post}" in page(fan).values("article.card", "id")


def test_wrong_subject_comes_back_with_the_form(admin: Actor) -> None:
    fields = {"type": "account", "subject": "nobody_at_all", "reason": "It advertises."}
    answer = admin.web.post("/admin/explore", data=fields)

    assert answer.status_code == 422
    shown = Page(answer.text)
    assert shown.lines("#errors li") == ["Which: There is no account nobody_at_all."]
    assert shown.values("input[name=subject]", "value") == ["nobody_at_all"]
    assert shown.values("option[selected]", "value") == ["account"]


def test_pages_of_an_account_and_a_person_lead_to_the_form(actor: MakeActor, admin: Actor) -> None:
    name = actor().account.username
    link = f"/admin/explore?type=account&subject={name}"
    for path in (f"/admin/accounts/{name}", f"/@{name}"):
        assert link in page(admin, path).values("a", "href")


def test_page_of_exclusions_is_for_admins_alone(alice: Actor) -> None:
    assert alice.web.get("/admin/explore").status_code == 404
    assert alice.web.post("/admin/explore", data={"type": "tag", "subject": "ink", "reason": "x"}).status_code == 404


def test_suggested_people_follow_the_reader_s_own_graph(server: LocalServer, actor: MakeActor) -> None:
    reader, near, far = actor(), actor(), actor()
    follow(reader, near)
    follow(near, far)
    pick(server)

    (first, *_) = page(reader).lines(".picks li p")
    assert first == f"{far.account.username} @{far.account.username} Followed by 1 you follow"


def test_follow_with_script_takes_the_person_off_the_list_in_place(
    server: LocalServer, actor: MakeActor, open_tab: OpenTab
) -> None:
    reader, near, far, other = actor(), actor(), actor(), actor()
    follow(reader, near)
    for whom in (far, other):
        follow(near, whom)
    tab = open_tab(server, reader)
    tab.open("/explore")
    tab.page.evaluate("window.stayed = true")

    button = tab.page.get_by_role("button", name=f"Follow @{far.account.username}", exact=True)
    button.press("Enter")
    button.wait_for(state="detached")
    tab.page.get_by_role("button", name=f"Follow @{other.account.username}", exact=True).wait_for()
    assert tab.page.evaluate("window.stayed")
    followed = [each["username"] for each in body_of(reader.web.get("/api/follows"))["follows"]]
    assert far.account.username in followed
