"""The installed app without a connection: a page of ours, and nothing of anybody's kept."""

from urllib.parse import urlsplit

from tests.api.actors import Actor, publish
from tests.harness.browser import OpenTab, needs_chromium

KEPT = """async () => {
  const found = []
  for (const name of await caches.keys())
    for (const {url} of await (await caches.open(name)).keys()) found.push(url)
  return found
}"""


@needs_chromium
def test_page_without_connection_is_ours_and_nothing_else_is_kept(alice: Actor, open_tab: OpenTab) -> None:
    publish(alice, "Nobody's browser keeps this.")
    tab = open_tab(alice.server, alice, service_workers="allow")
    tab.open("/compose")
    tab.page.evaluate("() => navigator.serviceWorker.ready")
    tab.open("/")
    assert "Nobody's browser keeps this." in tab.page.content()

    tab.context.set_offline(True)
    tab.open("/notifications")
    assert tab.page.get_by_role("heading", name="You are offline").is_visible()
    assert tab.page.locator(".primary").evaluate("link => getComputedStyle(link).borderRadius") != "0px"
    kept = [urlsplit(address).path for address in tab.page.evaluate(KEPT)]
    assert [path.rpartition("/")[2] for path in kept] == ["offline", "pressroom.css", "icon.svg"]

    tab.context.set_offline(False)
    tab.page.get_by_role("link", name="Try again").click()
    tab.page.get_by_role("heading", name="Notifications", exact=True).wait_for()
    tab.reports = [report for report in tab.reports if "ERR_INTERNET_DISCONNECTED" not in report]
