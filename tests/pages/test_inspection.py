"""Faults in a small window alone are found, though elements judged in a large one are not judged again."""

from pathlib import Path

from tests.harness.axe import Inspection, needs_axe
from tests.harness.browser import OpenTab, needs_chromium

pytestmark = [needs_chromium, needs_axe]

NARROW, WIDE = 360, 1280
PAGE = """<!doctype html><html lang="en"><title>Tides</title><style>
  .small-window { display: none }
  @media (max-width: 600px) {
    .faint { color: #ccc }
    button { width: 9px; height: 9px; overflow: hidden }
    .box { width: 40px; height: 20px; overflow: auto }
    body.another .small-window { display: block }
  }
</style><body class="BODY"><main><h1>Tides</h1>
<p class="faint">High water at noon.</p>
<p><button>Earlier</button><button>Later</button></p>
<div class="box"><p>one</p><p>two</p><p>three</p></div>
<div class="small-window"><img src="data:,"></div>
</main></body></html>"""
LAID_OUT = {"color-contrast", "scrollable-region-focusable", "target-size"}


def found_in_both(html: str, open_tab: OpenTab, folder: Path) -> tuple[set[str], set[str]]:
    """Returns the rules that a page breaks in a large window, and in a small one afterwards."""
    file = folder / "page.html"
    file.write_text(html, "utf-8")
    tab = open_tab(width=WIDE)
    tab.open(file.as_uri())
    inspection = Inspection(tab.page)
    large = {complaint.partition(":")[0] for complaint in inspection.complaints()}
    tab.show(NARROW)
    return large, {complaint.partition(":")[0] for complaint in inspection.complaints()}


def test_changed_layout_is_judged_anew(open_tab: OpenTab, tmp_path: Path) -> None:
    assert found_in_both(PAGE, open_tab, tmp_path) == (set(), LAID_OUT)


def test_changed_page_is_judged_by_every_rule(open_tab: OpenTab, tmp_path: Path) -> None:
    other = PAGE.replace("BODY", "another")

    assert found_in_both(other, open_tab, tmp_path) == (set(), {*LAID_OUT, "image-alt"})


def test_text_on_many_colours_is_judged_by_its_pixels(open_tab: OpenTab, tmp_path: Path) -> None:
    """Each of several that lie beside, within and far below each other, whatever the others are."""
    washed = "<p style='background: linear-gradient(#eee, #fff); color: {}'>High water {}</p>"
    ways = {"at noon": "#111", "at one": "#ddd", "at two": "#222", "at three": "#ccc"}
    lines = "".join(washed.format(colour, words) for words, colour in ways.items())
    within = "<div style='background: linear-gradient(#eee, #fff); color: #111'>Tide<b style='color: {}'>{}</b></div>"
    file = tmp_path / "page.html"
    body = lines + within.format("#ddd", "turns") + within.format("#111", "stays")
    body += "<div style='height: 3000px'></div>" + washed.format("#ddd", "far below") + washed.format("#111", "below")
    file.write_text(f"<!doctype html><html lang='en'><title>Tides</title><main><h1>Tides</h1>{body}</main>", "utf-8")
    tab = open_tab(width=WIDE)
    tab.open(file.as_uri())

    complaints = list(Inspection(tab.page).complaints())

    pale = ("at one", "at three", ">turns<", "far below")
    assert [sum(words in each for each in complaints) for words in pale] == [1, 1, 1, 1], complaints
    assert len(complaints) == len(pale), complaints
