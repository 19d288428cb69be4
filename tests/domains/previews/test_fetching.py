"""Cards fetched over real sockets, from sites that are well and from sites that are not."""

import asyncio
import gzip
import ipaddress
import itertools
import zlib
from collections.abc import Iterator
from typing import Any

import pytest

from pressroom import __version__
from pressroom.domains.previews.fetching import CardUnavailable, FetchedCard, fetch_card, unpacked
from pressroom.outbound import OutboundClient, Policy
from tests.domains.previews.pages import og
from tests.domains.previews.site import Site
from tests.outbound.peers import NO_TLS, run

LOOPBACK = Policy(allow_http=True, allow=(ipaddress.ip_network("127.0.0.0/8"),))
MEGABYTE = 1_048_576
IMAGE = b"\x89PNG\r\n\x1a\n" + bytes(100)
WITH_IMAGE = og("title", "T") + og("image", "/i.png")
PNG = {"Content-Type": "image/png"}
LONG, SHORT = 20.0, 0.5
"""Seconds: more than anything here takes, and enough for a page that answers at once."""


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as made:
        yield made


def fetched(url: str, seconds: float = LONG, policy: Policy = LOOPBACK) -> FetchedCard:
    async def fetch() -> FetchedCard:
        client = OutboundClient(policy, tls=NO_TLS)
        try:
            return await fetch_card(client, url, seconds=seconds)
        finally:
            await client.close()

    return run(fetch())


def refused(url: str, **how: Any) -> str:
    with pytest.raises(CardUnavailable) as caught:
        fetched(url, **how)
    return caught.value.message


def chain(site: Site, redirects: int) -> str:
    """The address of a page that is so many redirects away."""
    for number in range(redirects):
        site.redirect(f"/{number}", f"/{number + 1}", (301, 302, 307, 308)[number])
    site.page(f"/{redirects}", og("title", "Arrived"))
    return site.url("/0")


def test_a_page_with_an_image(site: Site) -> None:
    site.page("/a", og("title", "A") + og("description", "D") + og("site_name", "S") + og("image", "i.png"))
    site.page("/i.png", IMAGE, PNG)
    url = site.url("/a") + "#part"

    assert fetched(url) == FetchedCard(url, site.url("/a"), "A", "D", "S", IMAGE)
    assert f"user-agent: pressroom/{__version__} (link preview)\r\n" in site.head("/a")
    assert "accept: text/html" in site.head("/a")
    assert "accept-encoding: identity" in site.head("/a")
    assert "accept: image/" in site.head("/i.png")
    assert site.requests == {"/a": 1, "/i.png": 1}


def test_three_redirects_are_followed(site: Site) -> None:
    url = chain(site, 3)

    card = fetched(url)

    assert (card.url, card.final_url, card.title) == (url, site.url("/3"), "Arrived")


def test_four_redirects_are_not(site: Site) -> None:
    assert refused(chain(site, 4)) == "The page redirects more than 3 times."
    assert "/4" not in site.requests


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_relative_redirect(site: Site, status: int) -> None:
    site.redirect("/a/b", "../c?d=1", status)
    site.page("/c", og("title", "C"))

    assert fetched(site.url("/a/b")).final_url == site.url("/c?d=1")


def test_a_loop(site: Site) -> None:
    site.redirect("/a", "/b")
    site.redirect("/b", "/a")

    assert "3 times" in refused(site.url("/a"))
    assert sum(site.requests.values()) == 4


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/", "metadata"),
        ("http://[::ffff:169.254.169.254]/", "169.254.169.254"),
        ("http://10.0.0.1/", "private"),
        ("file:///etc/passwd", "no http or https"),
        ("javascript:alert(1)", "no http or https"),
        ("http://user@127.0.0.1/", "no http or https"),
        ("", "no http or https"),
    ],
)
def test_a_redirect_to_where_nobody_may_go(site: Site, location: str, reason: str) -> None:
    site.page("/a", status=302, headers={"Location": location or " "})
    site.page("/r", f'<meta http-equiv="refresh" content="0;url={location}">')

    assert reason in refused(site.url("/a"))
    assert refused(site.url("/r"))
    assert sum(site.requests.values()) == 2


def test_plain_http_is_the_doors_to_judge(site: Site) -> None:
    assert "https://" in refused(site.url("/a"), policy=Policy(allow_http=False, allow=LOOPBACK.allow))
    assert not site.requests


@pytest.mark.parametrize("url", ["", "nowhere", "ftp://127.0.0.1/", "http://a b/", "http://127.0.0.1:0/"])
def test_invalid_address_is_refused(url: str) -> None:
    assert refused(url)


def test_an_image_and_a_document_where_nobody_may_go(site: Site) -> None:
    link = '<link type="application/json+oembed" href="http://169.254.169.254/o">'
    site.page("/a", "<title>T</title>" + og("image", "http://169.254.169.254/i.png") + link)

    assert fetched(site.url("/a")).title == "T"
    assert site.requests == {"/a": 1}


def test_refreshes_and_redirects_count_together(site: Site) -> None:
    site.redirect("/0", "/1")
    site.page("/1", '<title>Wait</title><meta http-equiv="refresh" content="0;url=/2">')
    site.redirect("/2", "/3")
    site.page("/3", og("title", "Arrived"))

    assert fetched(site.url("/0")).final_url == site.url("/3")
    site.redirect("/3", "/4")
    assert "3 times" in refused(site.url("/0"))


def test_refreshes_in_a_circle(site: Site) -> None:
    site.page("/a", '<title>A</title><meta http-equiv="refresh" content="0;url=/b">')
    site.page("/b", '<title>B</title><meta http-equiv="refresh" content="0;url=/a">')

    assert "3 times" in refused(site.url("/a"))


def test_a_page_with_a_card_of_its_own_is_not_left(site: Site) -> None:
    site.page("/a", og("title", "Shared") + '<meta http-equiv="refresh" content="0;url=/app">')

    assert fetched(site.url("/a")).title == "Shared"
    assert site.requests == {"/a": 1}


@pytest.mark.parametrize("status", [204, 302, 304, 400, 401, 403, 404, 410, 429, 500, 503])
def test_a_page_that_is_not_there(site: Site, status: int) -> None:
    site.page("/a", b"" if status in (204, 304) else og("title", "Error"), status=status)

    message = refused(site.url("/a"))

    assert message == (
        "The page says nothing of itself." if status == 204 else f"The page answers with status {status}."
    )


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/json",
        "image/png",
        "application/octet-stream",
        "text/htmlx",
        "TEXT/XML; charset=utf-8",
    ],
)
def test_other_content_type_is_not_html(site: Site, kind: str) -> None:
    site.page("/a", og("title", "T"), {"Content-Type": kind})

    assert "cards are made of HTML alone" in refused(site.url("/a"))


@pytest.mark.parametrize(
    "kind", ["TEXT/HTML", "text/html;charset=utf-8", " text/html ; x=y", "application/xhtml+xml", ""]
)
def test_html_content_type_is_html(site: Site, kind: str) -> None:
    site.page("/a", "<!doctype html>" + og("title", "T"), {"Content-Type": kind})

    assert fetched(site.url("/a")).title == "T"


def test_response_without_content_type_is_not_html(site: Site) -> None:
    site.page("/a", IMAGE, {"Content-Type": ""})

    assert "of no known type" in refused(site.url("/a"))


def test_page_without_metadata_has_no_card(site: Site) -> None:
    site.page("/a", "<h1>Hello</h1>" + og("site_name", "S") + og("image", "/gone.png"))

    assert refused(site.url("/a")) == "The page says nothing of itself."
    assert site.requests == {"/a": 1, "/gone.png": 1}


def test_an_image_alone_is_a_card(site: Site) -> None:
    site.page("/a", og("image", "/i.png"))
    site.page("/i.png", IMAGE, PNG)

    assert fetched(site.url("/a")).image == IMAGE


def test_a_page_of_a_gigabyte_is_read_to_its_first_megabyte(site: Site) -> None:
    head = og("title", "Big").encode()
    late = b" " * (MEGABYTE - len(head)) + og("description", "too late").encode()
    pieces = itertools.chain([head, late], itertools.repeat(bytes(65_536), 16_384))
    site.stream("/a", pieces, {"Content-Length": str(1 << 30)})

    card = fetched(site.url("/a"))

    assert (card.title, card.description) == ("Big", None)
    assert site.sent["/a"] < 32 * MEGABYTE


def test_a_gzip_bomb(site: Site) -> None:
    bomb = gzip.compress(og("title", "Boom").encode() + bytes(200 * MEGABYTE), 1)
    site.page("/a", bomb[:MEGABYTE], {"Content-Encoding": "gzip"})

    assert fetched(site.url("/a")).title == "Boom"
    assert len(unpacked(bomb, "gzip", MEGABYTE)) == MEGABYTE


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"<title>T</title>")),
        ("X-GZIP", gzip.compress(b"<title>T</title>")),
        ("deflate", zlib.compress(b"<title>T</title>")),
        ("deflate", zlib.compress(b"<title>T</title>")[2:-4]),
        ("gzip", gzip.compress(b"<title>T</title>" + bytes(1000))[:-9]),
        ("identity", b"<title>T</title>"),
    ],
    ids=["gzip", "in capitals", "zlib", "deflate", "cut off", "not at all"],
)
def test_a_page_compressed_although_nobody_asked(site: Site, encoding: str, body: bytes) -> None:
    site.page("/a", body, {"Content-Encoding": encoding})

    assert fetched(site.url("/a")).title == "T"


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "nonsense"])
def test_an_encoding_that_is_not_taken(site: Site, encoding: str) -> None:
    site.page("/a", og("title", "T"), {"Content-Encoding": encoding})

    assert encoding in refused(site.url("/a"))


def test_wrongly_declared_compression_is_refused(site: Site) -> None:
    site.page("/a", og("title", "T"), {"Content-Encoding": "gzip"})

    assert refused(site.url("/a")) == "The page is not the gzip that it says it is."


def test_a_site_that_hangs(site: Site) -> None:
    site.page("/a", og("title", "T"))
    site.hang("/a")

    assert "within" in refused(site.url("/a"), seconds=SHORT)
    site.release("/a")
    assert fetched(site.url("/a")).title == "T"


def test_a_page_that_drips(site: Site) -> None:
    site.drip("/a", og("title", "T").encode() + bytes(10_000))

    assert "within" in refused(site.url("/a"), seconds=SHORT)


def test_redirects_share_one_deadline(site: Site) -> None:
    chain(site, 2)
    site.hang("/2")

    assert "within" in refused(site.url("/0"), seconds=SHORT)
    assert site.requests == {"/0": 1, "/1": 1, "/2": 1}


def test_an_image_that_hangs_is_left_out(site: Site) -> None:
    site.page("/a", WITH_IMAGE)
    site.hang("/i.png")

    card = fetched(site.url("/a"), seconds=2)

    assert (card.title, card.image) == ("T", None)
    assert site.requests["/i.png"] == 1


@pytest.mark.parametrize(
    ("size", "taken"), [(5 * MEGABYTE, True), (5 * MEGABYTE + 1, False), (8 * MEGABYTE, False), (0, False)]
)
def test_the_size_of_an_image(site: Site, size: int, taken: bool) -> None:
    site.page("/a", WITH_IMAGE)
    site.page("/i.png", bytes(size), PNG)

    image = fetched(site.url("/a")).image

    assert (image is not None) == taken
    assert image is None or len(image) == size


def test_a_compressed_image_is_measured_unpacked(site: Site) -> None:
    site.page("/a", WITH_IMAGE)
    site.page("/i.png", gzip.compress(bytes(5 * MEGABYTE + 1)), {**PNG, "Content-Encoding": "gzip"})

    assert fetched(site.url("/a")).image is None


@pytest.mark.parametrize("status", [302, 404, 500])
def test_an_image_that_is_not_there(site: Site, status: int) -> None:
    site.page("/a", WITH_IMAGE)
    site.page("/i.png", IMAGE, PNG, status)

    assert fetched(site.url("/a")).image is None


def test_an_image_that_moved(site: Site) -> None:
    site.page("/a", WITH_IMAGE)
    site.redirect("/i.png", "/j.png")
    site.page("/j.png", IMAGE, PNG)

    assert fetched(site.url("/a")).image == IMAGE


OEMBED = '<title>Page</title><link rel="alternate" type="application/json+oembed" href="/o?u=1">'
DOCUMENT = '{"type": "video", "title": "Video", "provider_name": "Tube", "thumbnail_url": "/i.png"}'
JSON = {"Content-Type": "application/json"}


def test_a_page_with_an_oembed_document(site: Site) -> None:
    site.page("/a", OEMBED)
    site.page("/o", DOCUMENT, JSON)
    site.page("/i.png", IMAGE, PNG)

    card = fetched(site.url("/a"))

    assert (card.title, card.site_name, card.image) == ("Video", "Tube", IMAGE)


def test_no_document_is_asked_for_when_the_page_has_a_card(site: Site) -> None:
    site.page("/a", OEMBED + '<meta name="twitter:title" content="Card">')
    site.page("/o", DOCUMENT, JSON)

    assert fetched(site.url("/a")).title == "Card"
    assert site.requests == {"/a": 1}


@pytest.mark.parametrize(
    "document", ["[]", "<html>", '{"title": 1}', "[" * 50_000, '{"title": "' + "x" * 70_000 + '"}']
)
def test_a_document_that_is_none(site: Site, document: str) -> None:
    site.page("/a", OEMBED)
    site.page("/o", document, JSON)

    assert fetched(site.url("/a")).title == "Page"


def test_a_document_that_hangs_leaves_time_for_the_image(site: Site) -> None:
    site.page("/a", OEMBED + og("image", "/i.png"))
    site.page("/i.png", IMAGE, PNG)
    site.hang("/o")

    card = fetched(site.url("/a"), seconds=4)

    assert (card.title, card.image) == ("Page", IMAGE)
    assert site.requests["/o"] == 1


def test_a_fetch_can_be_cancelled(site: Site) -> None:
    site.hang("/a")

    async def give_up() -> None:
        client = OutboundClient(LOOPBACK, tls=NO_TLS)
        task = asyncio.create_task(fetch_card(client, site.url("/a"), seconds=LONG))
        await asyncio.to_thread(site.wait, lambda s: s.requests["/a"] == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.close()

    run(give_up())
