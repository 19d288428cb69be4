"""Every page in every state: fit to be read by all, on small windows and large ones, light and dark, and not heavy."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Request

from pressroom.server.routes import PAGE_ROUTES, SITE_ROUTES
from pressroom.web.router import Router
from tests.harness.axe import Inspection, needs_axe
from tests.harness.browser import OpenTab, Tab, needs_chromium
from tests.harness.local import LocalServer
from tests.pages import scenes as material
from tests.pages.scenes import Scenes
from tests.pages.shown import ELSEWHERE, SHOWN, Shown

FIRST_BYTES, FIRST_REQUESTS = 45_000, 8
"""The most that a first visit costs, as sent, without the files that people uploaded."""

NEXT_BYTES = 15_000
"""The most that a further page costs."""

NARROW, WIDE = 360, 1280
LEAST_WIDTH = 320
UPLOADED = ("/media/", "/cards/")
MOST_SHIFT = 0.05

OVERFLOW = """() => {
  const wide = document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth
  if (wide <= 0) return []
  const reaches = [...document.querySelectorAll('body *')].filter(each => {
    const box = each.getBoundingClientRect()
    return box.right > innerWidth + 0.5 || box.left < -0.5
  })
  return [`${wide} px too wide: ` + reaches.slice(-3).map(each => each.outerHTML.slice(0, 120)).join(' | ')]
}"""

SMALL = """() => [...document.querySelectorAll('button, input, select, textarea, summary, nav a, a.button')]
  .filter(each => each.type !== 'hidden' && !each.closest('.skip') && each.checkVisibility({visibilityProperty: true}))
  .map(each => [each, each.matches('[type=checkbox], [type=radio]') && each.labels[0] || each])
  .map(([each, target]) => [each, target.getBoundingClientRect()])
  .filter(([each, box]) => box.width && (box.width < 23.5 || box.height < 23.5))
  .map(([each, box]) => `${box.width.toFixed()} by ${box.height.toFixed()} px: ${each.outerHTML.slice(0, 120)}`)"""

HEADINGS = """() => [...document.querySelectorAll('h1')].map(each => each.textContent.trim())"""

SHIFT = """() => new Promise(done => {
  let sum = 0
  new PerformanceObserver(list => {
    for (const each of list.getEntries()) if (!each.hadRecentInput) sum += each.value
  }).observe({type: 'layout-shift', buffered: true})
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)))
})"""

pytestmark = [needs_chromium, needs_axe]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenes]:
    """One server with everybody and everything on it, for the module."""
    server = LocalServer(tmp_path_factory.mktemp("scenes"), **material.SETTINGS).start()
    yield Scenes(server)
    server.stop()


@pytest.mark.parametrize("shown", SHOWN, ids=str)
def test_a_page(scenes: Scenes, open_tab: OpenTab, shown: Shown) -> None:
    tab = open_tab(scenes.server, shown.person(scenes), width=WIDE)

    if shown.submitted:
        tab.open(shown.address(scenes))
        faults = [*submitted(tab.page, shown), *looks(tab.page)]
    else:
        faults = [*first_visit(tab, shown, scenes), *looks(tab.page), *next_visit(tab, shown, scenes)]

    for status in {404, shown.status}:
        tab.forgive_status(status)
    assert faults == []


def first_visit(tab: Tab, shown: Shown, scenes: Scenes) -> Iterator[str]:
    """The faults of the page as it first comes: its status, its cost, its motion."""
    answer = tab.page.goto(shown.address(scenes), wait_until="load")
    assert answer is not None
    if answer.status != shown.status:
        yield f"status {answer.status}"
    number, size = len(ours(tab.requests)), sum(map(sent, ours(tab.requests)))
    if number > FIRST_REQUESTS or size > FIRST_BYTES:
        yield f"a first visit takes {number} requests and {size:,} bytes"
    if (shift := tab.page.evaluate(SHIFT)) >= MOST_SHIFT:
        yield f"what is read moves by {shift:.3f} while the page loads"


def next_visit(tab: Tab, shown: Shown, scenes: Scenes) -> Iterator[str]:
    """The faults in the page's cost for a browser that has its files already."""
    tab.open("about:blank")
    tab.requests.clear()
    tab.open(shown.address(scenes))
    if (size := sum(map(sent, ours(tab.requests)))) > NEXT_BYTES:
        yield f"a next visit takes {size:,} bytes"


def submitted(page: Page, shown: Shown) -> Iterator[str]:
    """The faults of the page when its form is sent without its fields."""
    form = page.locator("main form:not([action*='logout'])").first
    with page.expect_navigation() as navigation:
        form.evaluate("form => { form.noValidate = true; form.requestSubmit() }")
    answer = navigation.value
    if answer.status != shown.status:
        yield f"status {answer.status}"
    # A browser moves the focus when it draws the page, which may be after the page has loaded.
    page.locator("#errors:focus").wait_for(state="attached")


def looks(page: Page) -> Iterator[str]:
    """The faults of the page's look, in every window and colour."""
    if len(headings := page.evaluate(HEADINGS)) != 1:
        yield f"not one h1 but {headings}"
    inspection = Inspection(page)
    for width in (WIDE, NARROW):
        page.set_viewport_size({"width": width, "height": 800})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            for complaint in inspection.complaints(colours_alone=scheme == "dark"):
                yield f"{width} {scheme} {complaint}"
    page.set_viewport_size({"width": LEAST_WIDTH, "height": 800})
    for direction in ("ltr", "rtl"):
        page.evaluate("way => document.documentElement.dir = way", direction)
        yield from (f"{LEAST_WIDTH} {direction} {fault}" for fault in page.evaluate(OVERFLOW) + page.evaluate(SMALL))


def ours(requests: list[Request]) -> list[Request]:
    """Those for what we made, not for what people uploaded, and not what came with the page itself."""
    return [each for each in requests if each.url.startswith("http") and not any(at in each.url for at in UPLOADED)]


def sent(request: Request) -> int:
    """How many bytes an answer took, headers included; none when the browser had it already."""
    if request.failure:  # A video is broken off when its page is left.
        return 0
    sizes = request.sizes()
    return sizes["responseHeadersSize"] + sizes["responseBodySize"]


def test_every_page_is_looked_at(scenes: Scenes) -> None:
    """A route that answers with a page has a line in shown.py, or a reason there not to."""
    routes = [route for route in (*PAGE_ROUTES, *SITE_ROUTES) if route.method == "GET"]
    router = Router(routes)
    looked_at: set[str] = set()
    for shown in SHOWN:
        address = shown.address(scenes).partition("?")[0]
        if found := router.find(address, address.encode()):
            looked_at.add(found[0]["GET"].path)

    pages = {route.path for route in PAGE_ROUTES if route.method == "GET"} | {"/", "/docs"}
    assert pages - looked_at == ELSEWHERE.keys()
