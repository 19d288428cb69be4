"""What pages say of themselves, those as found in the world and those made to do harm."""

import resource
import subprocess
import sys
from unicodedata import category

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from pressroom.domains.previews.parsing import OEmbedDocument, looks_like_html, plain, read_card, read_oembed
from pressroom.domains.previews.scanning import scan
from pressroom.outbound.urls import read_url
from tests.domains.previews.charsets import CHARSETS
from tests.domains.previews.pages import NEWS, OLD, PAGES, SHOP, URL, VIDEO, Page

MEGABYTE = 1_048_576
CPU_SECONDS = 20
"""For all hostile pages together, which take about five; a reader that looks again and again takes minutes."""

HOSTILE = (
    "<div>",
    "<a><div>",
    "<b a=1><p>",
    "<table>a",
    "<svg><title>",
    "<template>",
    "<title>",
    "<script>",
    "<script><!--",
    "<!--",
    "<",
    "</",
    "<a b='",
    "<meta a=",
    "<meta property=og:title content=''>",
    "<link type=application/json+oembed>",
    "<base>",
    "&",
    "&a",
    "<![CDATA[",
    "<meta charset=x>",
    "\ufffd",
    "<i></b>",
    "<meta http-equiv=refresh content='0 0'>",
)
PREFIXED = (
    "<meta " + "a " * (MEGABYTE // 2) + ">",
    "<meta " + "=" * MEGABYTE + ">",
    "<meta " + " " * MEGABYTE + ">",
    "<title>&#" + "1" * MEGABYTE,
    "<title>a" + "\u0300\u0316" * (MEGABYTE // 4),
    "<title>a" + "\u200d" * (MEGABYTE // 3),
    "<meta http-equiv=refresh content='0" + " " * MEGABYTE + "'>",
    "<meta property=og:image content='" + "../" * MEGABYTE,
)


@pytest.mark.parametrize("page", PAGES + CHARSETS, ids=lambda page: page.name)
def test_a_page_as_found_in_the_world(page: Page) -> None:
    assert read_card(page.html, page.content_type, page.url) == page.card


UNSEEN = {"Cc", "Cs", "Co", "Zl", "Zp"}
PIECES = (
    "<",
    ">",
    "<meta ",
    "property=og:title ",
    "content='a\0b' ",
    "<title>",
    "</title>",
    "<script>",
    "<!--",
    "-->",
    "&#",
    "&amp",
    "\x00",
    "\u202e",
    "<svg>",
    "<base href=",
    "http-equiv=refresh ",
    "<template>",
    "</",
    "=",
    '"',
)


@given(
    st.one_of(
        st.binary(),
        st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map(
            lambda all_: "".join(all_).encode("utf-8", "surrogatepass")
        ),
    ),
    st.sampled_from(
        ("", "text/html", "application/xhtml+xml; charset=utf-8", "text/html; charset=utf-16", "text/html; charset=gbk")
    )
    | st.text(),
    st.sampled_from((URL, "http://127.0.0.1:81/", "https://[::1]/x?y")),
)
@example(b"\xff\xfe\x00\xd8<", "", URL)
def test_nothing_makes_it_raise(html: bytes, content_type: str, url: str) -> None:
    card = read_card(html, content_type, url)

    for text, most in ((card.title, 300), (card.description, 1_000), (card.site_name, 100)):
        assert text is None or (
            0 < len(text) <= most and text == plain(text, most) and not UNSEEN & set(map(category, text))
        )
    for address in (card.image, card.oembed, card.refresh):
        assert address is None or read_url(address).scheme in ("http", "https")


@given(st.binary() | st.text().map(str.encode), st.just(URL))
def test_no_document_makes_it_raise(document: bytes, url: str) -> None:
    read_oembed(document, url)
    looks_like_html(document)


@given(st.text())
def test_plain_text_is_plain_once_and_for_all(text: str) -> None:
    shown = plain(text, 20)

    assert shown is None or (plain(shown, 20) == shown and shown == shown.strip())


WORDS = st.text(st.sampled_from("abc &;#é<'"), max_size=8)


@given(
    st.lists(
        st.tuples(st.sampled_from(("meta", "link", "p", "b", "title", "svg", "template", "style")), WORDS, WORDS),
        max_size=12,
    )
)
def test_tags_match_those_of_a_parser(parts: list[tuple[str, str, str]]) -> None:
    """A tree of the same page, by another's parser, holds the same."""
    made = {
        "title": lambda a, b: f"<title class={a!r}>{b}</title>",
        "svg": lambda a, b: "<svg><title>no</title></svg>",
        "template": lambda a, b: "<template><meta content=no></template>",
        "style": lambda a, b: f"<style>{b}</style>",
    }
    page = "".join(
        made.get(name, lambda a, b, n=name: f"<{n} content=\"{a}\" href='{b.replace(chr(39), '')}'>")(
            a.replace("'", ""), b
        )
        for name, a, b in parts
    )

    told = [(tag.name, tag.attributes, tag.text) for tag in scan(page)]

    tree = LexborHTMLParser(page)
    expected = [
        (
            node.tag,
            {name: value or "" for name, value in node.attributes.items()},
            node.text() if node.tag == "title" else "",
        )
        for node in tree.css("meta, link, title")
        if node.parent is not None and node.parent.tag != "svg"
    ]
    assert told == expected


@pytest.mark.parametrize("page", [NEWS, SHOP, VIDEO, OLD], ids=["news", "shop", "video", "old"])
def test_whole_pages_match_those_of_a_parser(page: str) -> None:
    tree = LexborHTMLParser(page)

    told = [(tag.name, tag.attributes) for tag in scan(page)]

    assert told == [
        (node.tag, {name: value or "" for name, value in node.attributes.items()})
        for node in tree.css("meta, link, title, base")
    ]


def read_hostile_pages() -> None:
    """Runs in a process of its own, whose time and memory are bounded."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for each in [piece * (MEGABYTE // len(piece)) for piece in HOSTILE] + list(PREFIXED):
        read_card(each.encode()[:MEGABYTE], "text/html", URL)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    assert grown < 100, f"{grown} MB"


def test_hostile_pages_are_bounded_in_time_and_memory() -> None:
    work = "from tests.domains.previews.test_parsing import read_hostile_pages; read_hostile_pages()"

    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True)

    assert done.returncode == 0, done.stderr[-2_000:]


OEMBEDS = {
    b'{"type":"video","version":"1.0","title":"A press","author_name":"Ann","provider_name":"Tube",'
    b'"thumbnail_url":"https://i.example/t.jpg","html":"<iframe>"}': OEmbedDocument(
        "A press", "Ann", "Tube", "https://i.example/t.jpg"
    ),
    b'{"type":"photo","url":"https://i.example/p.jpg"}': OEmbedDocument(thumbnail_url="https://i.example/p.jpg"),
    b'{"type":"photo","url":"/p.jpg","thumbnail_url":"//i.example/t.jpg"}': OEmbedDocument(
        thumbnail_url="https://i.example/t.jpg"
    ),
    b'{"type":"link","url":"https://i.example/p","title":"L"}': OEmbedDocument("L"),
    b'{"type":"rich","title":"Tom &amp; J&#8217;s \\u202e\\u0000"}': OEmbedDocument("Tom & J\u2019s"),
    b'\xef\xbb\xbf{"title":"Marked"}': OEmbedDocument("Marked"),
    b'{"title":["a"],"author_name":7,"provider_name":"P","thumbnail_url":"javascript:x"}': OEmbedDocument(
        provider_name="P"
    ),
    b'{"title":"a","title":"b"}': OEmbedDocument("b"),
    b'{"title":1' + b"0" * 60_000 + b',"provider_name":"P"}': OEmbedDocument(provider_name="P"),
    b'{"x":' + b"[" * 30_000 + b"]" * 30_000 + b',"title":"T"}': OEmbedDocument(),
    b'{"title":"\\ud800"}': OEmbedDocument(),
    b'{"title":"\xff"}': OEmbedDocument(),
    b"[1]": OEmbedDocument(),
    b"null": OEmbedDocument(),
    b"": OEmbedDocument(),
    b"<oembed>": OEmbedDocument(),
}


@pytest.mark.parametrize(("document", "expected"), OEMBEDS.items(), ids=lambda value: str(value)[:30])
def test_an_oembed_document(document: bytes, expected: OEmbedDocument) -> None:
    assert read_oembed(document, URL) == expected


@pytest.mark.parametrize(
    "begin",
    [
        b"<!DOCTYPE html>",
        b" \r\n<html>",
        b"\xef\xbb\xbf<!-- -->",
        b"<title>x",
        b"\xff\xfe<\0h\0t\0m\0l\0>\0",
        b"<?xml version",
    ],
)
def test_beginning_of_a_page_is_recognised(begin: bytes) -> None:
    assert looks_like_html(begin)


@pytest.mark.parametrize("begin", [b"", b"hello <html>", b"\x89PNG", b'{"a":1}', b"%PDF-1.7", b"<abbr>", b"<svg>"])
def test_other_beginnings_are_not_recognised(begin: bytes) -> None:
    assert not looks_like_html(begin)
