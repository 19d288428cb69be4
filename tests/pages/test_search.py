"""The page of the search, and the field in the header."""

from urllib.parse import urlencode

import pytest

from tests.api.actors import Actor, body_of, publish
from tests.api.conftest import MakeActor, one_engine
from tests.harness.browser import OpenTab
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page, fetch, visit

SETTINGS = ROOMY


def results(who: Actor, text: str, **more: str) -> Page:
    """The page of the results, once all posts are indexed."""
    who.server.index()
    return visit(who.server, f"/search?{urlencode({'q': text, **more})}", who)


@pytest.fixture
def bob(actor: MakeActor) -> Actor:
    """Somebody else."""
    return actor()


def test_posts_are_found_page_by_page(alice: Actor, bob: Actor) -> None:
    made = [publish(alice, f"Turnstile number {number}")["id"] for number in range(25)]

    first = results(bob, "turnstile")
    assert (first.posts, first.values(".tabs a[aria-current]", "href")) == (made[:4:-1], ["/search?q=turnstile"])
    assert [words for words, _ in first.links(".pager")] == ["More results"]
    second = visit(bob.server, first.values("a[rel=next]", "href")[0], bob)
    assert (second.posts, [words for words, _ in second.links(".pager")]) == (made[4::-1], ["First results"])


def test_people_hubs_and_hashtags_have_tabs(alice: Actor, bob: Actor) -> None:
    name = alice.account.username
    publish(alice, "#gyroscope")
    body_of(alice.web.post("/api/hubs", json={"slug": "gyroscopes", "name": "Gyroscopes"}), 201)
    body_of(alice.web.patch("/api/auth/me", json={"displayName": "Gyro <Gearloose>"}))

    tabs = [address for _, address in results(bob, "gyro").links(".tabs")]
    assert tabs == ["/search?q=gyro", *(f"/search?q=gyro&kind={kind}" for kind in ("people", "hubs", "tags"))]
    people, hubs, tags = (visit(bob.server, address, bob) for address in tabs[1:])
    assert people.links(".picks") == [(f"Gyro <Gearloose> @{name}", f"/@{name}")]
    assert hubs.links(".picks") == [("Gyroscopes", "/hub/gyroscopes")]
    assert tags.links(".rising") == [("#gyroscope", "/tag/gyroscope")]


def test_empty_search_shows_the_field_alone(alice: Actor) -> None:
    page = visit(alice.server, "/search", alice)

    assert page.values("main input[type=search]", "value") == [""]
    assert not page.has(".tabs, .nothing")
    assert "from:" in page.line("dl")


@pytest.mark.parametrize("text", ["?!", "x" * 201, "🎉"])
def test_text_that_cannot_be_searched_stays_in_the_field_with_the_reason(alice: Actor, text: str) -> None:
    page = results(alice, text)

    assert page.values("main input[type=search]", "value") == [text]
    assert page.values("main input[type=search]", "aria-describedby") == ["q-problem"]
    assert page.line("#q-problem")
    assert not page.has(".tabs")


def test_search_without_results_shows_a_notice(alice: Actor) -> None:
    for kind in ("posts", "people", "hubs", "tags"):
        assert results(alice, "zyzzyva", kind=kind).line(".nothing h2") == "Nothing found"


def test_like_leads_back_to_the_results(alice: Actor, bob: Actor) -> None:
    post_id = publish(alice, "Likeable & searched")["id"]
    page = results(bob, '"likeable" searched')
    (action,) = [each for each in page.values("form", "action") if each.startswith(f"/post/{post_id}/like")]
    (key,) = page.values(f'form[action="{action}"] input[name=idempotencyKey]', "value")[:1] or ("",)

    answer = bob.web.post(action, data={"idempotencyKey": key} if key else {})
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/search?q=%22likeable%22+searched&kind=posts#post-{post_id}"
    assert visit(bob.server, answer.headers["location"].partition("#")[0], bob).posts == [post_id]


@one_engine
def test_header_has_a_field_on_every_page_but_its_own(alice: Actor) -> None:
    for path in ("/", "/saved", f"/@{alice.account.username}", "/settings/profile"):
        page = visit(alice.server, path, alice)
        assert page.values("header form[role=search]", "action") == ["/search"], path
        assert page.values("header input", "name") == ["q"], path
    assert not visit(alice.server, "/search", alice).has("header form[role=search]")
    assert not visit(alice.server, f"/@{alice.account.username}").has("header form[role=search]")


@one_engine
def test_visitor_is_asked_to_sign_in(alice: Actor) -> None:
    answer = fetch(alice.server, "/search?q=word")

    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Fsearch%3Fq%3Dword")


@one_engine
@pytest.mark.parametrize("script", [True, False])
def test_search_by_keyboard_on_a_phone(alice: Actor, open_tab: OpenTab, script: bool) -> None:
    post_id = publish(alice, "Findable by keyboard")["id"]
    alice.server.index()
    tab = open_tab(alice.server, alice, width=320, java_script_enabled=script)
    tab.open("/")

    tab.page.get_by_role("link", name="Search").focus()
    tab.page.keyboard.press("Enter")
    tab.page.locator("#q:focus").wait_for()
    tab.page.keyboard.type("findable")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**/search?q=findable")

    assert tab.page.locator(f"#post-{post_id}").is_visible()
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 320
