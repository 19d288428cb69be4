"""What our module of script adds to the pages of the app, and that they do without it."""

from collections.abc import Callable, Iterator

import jinja2
import pytest

import pressroom.server.app
from pressroom.server.routes import ROUTES
from pressroom.web import templating
from tests.api.actors import Actor
from tests.api.conftest import MakeActor
from tests.conftest import database_settings
from tests.harness import example_pages
from tests.harness.browser import Tab, needs_chromium
from tests.harness.example_pages import Seen
from tests.harness.local import LocalServer

pytestmark = needs_chromium
PATH = "/example/page"
OpenTab = Callable[..., Tab]

FIRST_PAINT = """() => [
  performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
  performance.getEntriesByType('resource').find(({name}) => name.endsWith('/ui.js')).responseEnd,
]"""
"""When the page was first painted, and when its script had arrived."""


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """A server that has the example's pages as well."""
    loader = templating._environment.loader
    assert loader is not None
    with pytest.MonkeyPatch.context() as patch:
        examples = jinja2.DictLoader(dict(example_pages.TEMPLATES))
        patch.setattr(templating._environment, "loader", jinja2.ChoiceLoader([loader, examples]))
        patch.setattr(pressroom.server.app, "ROUTES", (*ROUTES, *example_pages.routes))
        server = LocalServer(tmp_path_factory.mktemp("server"), **database_settings(request, "sqlite")).start()
        yield server
        server.stop()


@pytest.fixture
def alice(actor: MakeActor) -> Actor:
    Seen.version = "1"
    Seen.polls.clear()
    Seen.sent.clear()
    return actor()


def test_text_is_copied(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    tab = open_tab(server, alice, permissions=["clipboard-read", "clipboard-write"])
    tab.page.clock.install()  # the words stay for two seconds
    tab.open(PATH)
    tab.page.get_by_role("button", name="Copy the text").click()

    tab.wait("document.querySelector('[data-copy]').textContent === 'Copied'")
    assert tab.page.evaluate("navigator.clipboard.readText()") == "to be copied"
    assert tab.page.locator("#said").text_content() == "Copied"


def test_a_password_can_be_shown(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    tab = open_tab(server, alice)
    tab.open(PATH)
    field, button = tab.page.locator("#f-password"), tab.page.locator("[data-show-password]")
    field.fill("s3cret")

    for kind, words, pressed in (("text", "Hide", "true"), ("password", "Show", "false")):
        button.click()
        assert field.get_attribute("type") == kind
        assert (button.text_content(), button.get_attribute("aria-pressed")) == (words, pressed)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "10 left"), ("e\u0301" * 4, "6 left"), ("\U0001f600" * 10, "0 left"), ("x" * 12, "2 too many")],
)
def test_characters_are_counted_as_the_server_counts(
    server: LocalServer, alice: Actor, open_tab: OpenTab, text: str, said: str
) -> None:
    tab = open_tab(server, alice)
    tab.open(PATH)
    tab.page.locator("#f-label").fill(text)

    assert tab.page.locator("#f-label-count").text_content() == said


def test_times_are_those_of_the_reader(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    tab = open_tab(server, alice, timezone_id="Asia/Tokyo", locale="en-GB")
    tab.open(PATH)
    when = tab.page.locator("#when time")

    assert "17:00" in (when.text_content() or "") or "5:00" in (when.text_content() or "")
    assert when.get_attribute("title") == "15 January 2027, 08:00 UTC"
    assert when.get_attribute("datetime") == "2027-01-15T08:00:00.000Z"


def test_a_local_time_is_sent_with_its_zone(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    tab = open_tab(server, alice, timezone_id="Europe/Berlin")
    tab.open(PATH)
    tab.page.locator("#f-label").fill("One")
    tab.page.get_by_label("A", exact=True).check()
    tab.page.locator("#f-since").fill("2026-07-01T10:30")
    assert tab.page.locator("[data-zone-note]").text_content() == "In your time zone (UTC+02:00)."
    tab.page.get_by_role("button", name="Send").click()

    tab.page.wait_for_url("**/example/page?done=signed-out")
    assert [body.since for body in Seen.sent] == ["2026-07-01T10:30+02:00"]


def test_form_is_sent_once_and_shows_progress(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    tab = open_tab(server, alice)
    tab.open(PATH)
    tab.page.locator("#f-label").fill("One")
    tab.page.get_by_label("A", exact=True).check()
    tab.page.evaluate("""() => {
      const button = document.querySelector('main form button[type=submit]')
      button.click(); button.click(); button.click()
      sessionStorage.said = button.textContent + button.getAttribute('aria-disabled')
    }""")

    tab.page.wait_for_url("**/example/page?done=signed-out")
    assert tab.page.evaluate("sessionStorage.said") == "Sending…true"
    assert len(Seen.sent) == 1
    assert tab.page.locator("#done").text_content() == "You are signed out."


@pytest.mark.parametrize("script", [True, False])
def test_errors_take_the_focus_and_lead_to_their_fields(
    server: LocalServer, alice: Actor, open_tab: OpenTab, script: bool
) -> None:
    tab = open_tab(server, alice, java_script_enabled=script)
    tab.open(PATH)
    tab.page.locator("#f-label").fill("a label that is too long")
    tab.page.locator("#f-password").fill("s3cret")
    tab.page.get_by_role("button", name="Send").click()
    summary = tab.page.locator("#errors")
    summary.wait_for()
    tab.forgive_status(400)

    assert summary.locator("a").all_text_contents() == [
        "Label: At most 10 characters; this has 24.",
        "Scopes: This field is required.",
    ]
    tab.page.locator("#errors:focus").wait_for()
    assert tab.page.locator("#f-label").input_value() == "a label that is too long"
    assert tab.page.locator("#f-password").input_value() == ""
    summary.locator("a").first.click()
    tab.page.locator("#f-label:focus").wait_for()


def test_a_live_part_changes_without_disturbing_its_reader(
    server: LocalServer, alice: Actor, open_tab: OpenTab
) -> None:
    tab = open_tab(server, alice)
    tab.page.clock.install()
    tab.open(PATH)
    tab.page.locator("#more summary").click()
    tab.page.locator("#in").fill("half a wo")

    with tab.page.expect_response("**/example/part") as answered:
        tab.page.clock.run_for(2_100)
    assert answered.value.status == 204
    Seen.version = "2"
    with tab.page.expect_response("**/example/part") as answered:
        tab.page.clock.run_for(2_100)
    assert answered.value.status == 200
    tab.wait("document.getElementById('state').textContent === '2'")
    with tab.page.expect_response("**/example/part") as answered:
        tab.page.clock.run_for(2_100)
    assert answered.value.status == 204

    assert Seen.polls == ['"1"', '"1"', '"2"']
    assert tab.page.locator("#more[open]").count() == 1
    assert tab.page.locator("#in:focus").input_value() == "half a wo"


def test_a_live_part_stops_after_ten_minutes_and_goes_on(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    tab = open_tab(server, alice)
    tab.page.clock.install()
    tab.open(PATH)
    stopped = tab.page.locator("[data-live-stopped]")
    with tab.page.expect_response("**/example/part"):
        tab.page.clock.run_for(2_100)
    assert stopped.is_hidden()

    tab.page.clock.fast_forward(11 * 60_000)
    tab.page.clock.run_for(2_100)
    stopped.wait_for(state="visible")
    polls = len(Seen.polls)
    tab.page.clock.run_for(10_000)
    assert len(Seen.polls) == polls
    stopped.get_by_role("button", name="Go on").click()
    with tab.page.expect_response("**/example/part"):
        tab.page.clock.run_for(2_100)
    assert stopped.is_hidden()


def test_a_live_part_rests_while_nobody_looks(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    tab = open_tab(server, alice)
    tab.page.clock.install()
    tab.open(PATH)
    tab.page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })")
    tab.page.clock.run_for(10_000)
    assert Seen.polls == []

    tab.page.evaluate("Object.defineProperty(document, 'hidden', { get: () => false, configurable: true })")
    with tab.page.expect_response("**/example/part"):
        tab.page.clock.run_for(2_100)


def test_a_live_part_whose_reader_was_signed_out_leads_to_the_sign_in(
    server: LocalServer, alice: Actor, open_tab: OpenTab
) -> None:
    tab = open_tab(server, alice)
    tab.page.clock.install()
    tab.open(PATH)
    tab.context.clear_cookies()
    tab.page.clock.run_for(2_100)

    tab.page.wait_for_url("**/login?next=*")
    tab.forgive_status(404)


def test_page_is_first_painted_after_its_script_has_run(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    tab = open_tab(server, alice, timezone_id="Asia/Tokyo")
    with tab.holding("**/ui.js"):
        tab.page.goto(PATH, wait_until="commit")
        tab.page.locator("main time").first.wait_for(state="attached")
    tab.page.wait_for_load_state("load")

    tab.wait("performance.getEntriesByName('first-contentful-paint').length")
    painted, arrived = tab.page.evaluate(FIRST_PAINT)
    assert painted > arrived


def test_present_section_of_the_settings_is_in_sight(server: LocalServer, alice: Actor, open_tab: OpenTab) -> None:
    tab = open_tab(server, alice, width=360)
    tab.open("/settings/log")

    box = tab.page.locator(".side [aria-current]").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
