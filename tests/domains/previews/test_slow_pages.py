"""Pages made to be slow are read to a bounded number of steps: calls are counted, not seconds."""

import codecs
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import pytest

from pressroom.domains.previews import charset, fetching
from pressroom.domains.previews.parsing import read_card, read_oembed
from pressroom.domains.previews.urls import absolute
from pressroom.outbound import OutboundClient
from tests.domains.previews.pages import og
from tests.domains.previews.site import Site
from tests.outbound.peers import LOOPBACK, NO_TLS, run

MEGABYTE: Final = 1_048_576
MOST_CALLS: Final = 150_000

UNITS: Final = [
    b"<a>",
    b"</a>",
    b"<meta>",
    b"<meta a b c d e f g h>",
    b'<meta property="og:title" content="x">',
    b'<link type="application/json+oembed" href="x">',
    b"<!-->",
    b"<script></script>",
    b"<title>a</title>",
    b"<svg>",
    b"<",
    b"\xe9",
    b"\x81\x30",
]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as made:
        yield made


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, Python's and C's, and how often a generator goes on."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event.endswith("call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("unit", UNITS)
def test_a_page_of_a_million_small_things_takes_few_steps(unit: bytes) -> None:
    page = (unit * (MEGABYTE // len(unit)))[:MEGABYTE]
    assert calls_of(lambda: read_card(page, "text/html", "https://a.example/")) < MOST_CALLS


@pytest.mark.parametrize(
    ("start", "unit", "end"),
    [
        (b"<meta ", b"a ", b">"),
        (b'<meta property="og:title" content="', b"&#1;", b'">'),
        (b"<title>", b"&#1;", b"</title>"),
    ],
    ids=["attributes", "references in a value", "references in a title"],
)
def test_one_tag_of_a_megabyte_takes_few_steps(start: bytes, unit: bytes, end: bytes) -> None:
    page = start + unit * ((MEGABYTE - 100) // len(unit)) + end
    assert calls_of(lambda: read_card(page, "text/html", "https://a.example/")) < MOST_CALLS


def test_an_oembed_document_of_references_takes_few_steps() -> None:
    document = b'{"title":"' + b"&#1;" * 16_000 + b'"}'
    assert calls_of(lambda: read_oembed(document)) < MOST_CALLS // 4


def test_a_host_of_a_thousand_labels_is_refused_before_idna() -> None:
    assert calls_of(lambda: absolute("https://a.example/", "https://" + "\u00fc." * 900 + "x/")) < MOST_CALLS // 10


def test_pages_are_decoded_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoder holds the interpreter's lock to its end, whichever thread it runs in."""
    lengths: list[int] = []
    found = codecs.getincrementaldecoder

    class Watched:
        def __init__(self, encoding: str, errors: str) -> None:
            self._decoder = found(encoding)(errors)

        def decode(self, data: bytes) -> str:
            lengths.append(len(data))
            return self._decoder.decode(data)

    page = (b"\x1b$B!!\x1b(B" * (MEGABYTE // 8))[:MEGABYTE]
    expected = charset.decode(page, "text/html; charset=iso-2022-jp")
    monkeypatch.setattr(codecs, "getincrementaldecoder", lambda encoding: partial(Watched, encoding))

    assert charset.decode(page, "text/html; charset=iso-2022-jp") == expected
    assert sum(lengths) >= MEGABYTE
    assert max(lengths) <= charset.SLICE


def test_uploaded_media_are_not_read_on_the_event_loop(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, int] = {}

    def noting(name: str) -> None:
        work = getattr(fetching, name)

        def noted(*arguments: object) -> object:
            threads[name] = threading.get_ident()
            return work(*arguments)

        monkeypatch.setattr(fetching, name, noted)

    for name in ("unpacked", "read_card", "read_oembed"):
        noting(name)
    site.page("/a", '<title>T</title><link type="application/json+oembed" href="/o">', {"Content-Encoding": "identity"})
    site.page("/o", '{"title": "O"}', {"Content-Type": "application/json"})

    async def work() -> str | None:
        client = OutboundClient(LOOPBACK, tls=NO_TLS)
        try:
            return (await fetching.fetch_card(client, site.url("/a"))).title
        finally:
            await client.close()

    assert run(work()) == "O"
    assert set(threads) == {"unpacked", "read_card", "read_oembed"}
    assert threading.get_ident() not in threads.values()


def test_a_card_at_the_end_of_a_large_page_is_found() -> None:
    page = ("<p>Words.</p>" * 4_000 + og("title", "T")).encode()
    assert read_card(page, "text/html; charset=utf-8", "https://a.example/").title == "T"
