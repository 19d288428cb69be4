"""Pages on paper, and in the colours that somebody's system forces on them."""

import pytest

from tests.api.actors import Actor, body_of
from tests.api.conftest import one_engine
from tests.harness.browser import OpenTab, Tab, needs_chromium
from tests.services.process import wait_until
from tests.webhooks.clocked import post
from tests.webhooks.conftest import MakeEndpoint, endpoint, receiver
from tests.webhooks.endpoints import DELIVERING

__all__ = ["endpoint", "receiver"]

SETTINGS = DELIVERING
pytestmark = [needs_chromium, one_engine]

COLOUR = "element => getComputedStyle(element).backgroundColor"
WHITE = "rgb(255, 255, 255)"


@pytest.fixture
def tab(alice: Actor, endpoint: MakeEndpoint, open_tab: OpenTab) -> Tab:
    """Somebody's tab, with dark colours; the latest delivery to their endpoint is open in it."""
    hook = endpoint("post.created")
    post(alice)
    alice.server.deliver()
    tab = open_tab(alice.server, alice, color_scheme="dark")
    latest = hook.deliveries()[0]["id"]
    tab.open(f"/settings/keys/{hook.key_id}/webhooks/{hook.id}/deliveries/{latest}")
    return tab


def test_paper_is_white_and_nothing_is_cut_off(tab: Tab) -> None:
    assert tab.page.locator("body").evaluate(COLOUR) != WHITE
    tab.page.set_viewport_size({"width": 794, "height": 1123})
    tab.page.emulate_media(media="print")

    assert tab.page.locator("body").evaluate(COLOUR) == WHITE
    ink = tab.page.locator("h1").evaluate("element => getComputedStyle(element).color")
    assert max(map(int, ink.removeprefix("rgb(").removesuffix(")").split(", "))) < 100, "dark on white"
    assert tab.page.locator("body").evaluate("element => element.scrollWidth <= innerWidth")
    for block in tab.page.locator("pre").all():
        assert block.evaluate("element => element.scrollWidth <= element.clientWidth")
    assert tab.page.locator("header nav:visible, button:visible").count() == 0


def test_forced_colours_keep_states_distinct(tab: Tab, alice: Actor) -> None:
    path = f"/settings/keys/{alice.record.id}"
    body_of(alice.api.get("/api/auth/me"))
    assert wait_until(lambda: 'class="bars"' in alice.web.get(path).text), "usage is written within a second"
    tab.open(path)
    keys = "elements => elements.map(each => getComputedStyle(each, '::before').backgroundColor)"
    usual = tab.page.locator(".bars .key").evaluate_all(keys)
    assert len(set(usual)) == 4

    tab.page.emulate_media(forced_colors="active", color_scheme="dark")
    assert tab.page.locator(".bars .key").evaluate_all(keys) == usual, (
        "what each part of a bar is, is said by its colour"
    )
    edges = "elements => elements.map(each => getComputedStyle(each).borderTopStyle)"
    assert set(tab.page.locator(".badge, .page button").evaluate_all(edges)) == {"solid"}
