"""Fetches a page, its oEmbed document and its image, all within one deadline (docs/previews.md#contents-of-a-card)."""

import asyncio
import functools
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

import msgspec

from pressroom import __version__
from pressroom.domains.previews.charset import media_type
from pressroom.domains.previews.parsing import XHTML, OEmbedDocument, PageCard, looks_like_html, read_card, read_oembed
from pressroom.domains.previews.urls import absolute, normalised
from pressroom.errors import PressroomError
from pressroom.outbound import OutboundClient, OutboundFailed, OutboundResponse, UrlRefused
from pressroom.outbound.response import Failure

__all__ = ["CardPostponed", "CardUnavailable", "FetchedCard", "fetch_card", "normalised"]

P = ParamSpec("P")
T = TypeVar("T")

MOST_HTML: Final = 1_048_576
MOST_OEMBED: Final = 65_536
MOST_IMAGE: Final = 5 * 1_048_576
"""Bytes. Of a page the first are enough; a longer oEmbed document or image is not used."""

MOST_REDIRECTS: Final = 3
"""Redirects of the page, by status and by refresh; as many again of its oEmbed document and of its image."""

OEMBED_SHARE: Final = 0.5
"""The part of the time left that an oEmbed document may take, so that the image gets the rest."""

USER_AGENT: Final = f"Pressroom/{__version__} (link preview)"

_HTML: Final = f"text/html,{XHTML};q=0.9"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32
_BARE_DEFLATE: Final = -zlib.MAX_WBITS


_reader: Final = ThreadPoolExecutor(1, "pages")
"""Parses one page at a time: a stranger's page can take long, and threads share one interpreter."""


class FetchedCard(msgspec.Struct):
    """A card as it was fetched.

    url: the address that was requested, as it was given. final_url: the address of the page in the end. image: the
    bytes at the image's address, at most 5 MiB, which may be anything.
    """

    url: str
    final_url: str
    title: str | None
    description: str | None
    site_name: str | None
    image: bytes | None


class CardUnavailable(PressroomError):
    """There is no card. The message gives the reason and reveals nothing internal."""


async def fetch_card(client: OutboundClient, url: str, *, seconds: float = 5.0) -> FetchedCard:
    """Fetches the card of a page within `seconds`, from the first look-up to the last byte of the image.

    A page that refreshes to another within five seconds, and has no Open Graph or Twitter card of its own, counts as a
    redirect. An oEmbed document is requested when neither of the two gave a title. When it or the image fails or comes
    too late, the card is made without. Raises CardUnavailable; CardPostponed for faults that are not the page's.
    """
    # Before the deadline begins: loading the HTTP library can take a second.
    await client.prepare()
    requests = _Requests(client, seconds)
    try:
        where = normalised(url)
    except UrlRefused as refused:
        raise CardUnavailable(refused.message) from None
    final_url, page = await _page(requests, where)
    more = await _oembed(requests, page.oembed) if page.oembed is not None and not page.declared else OEmbedDocument()
    address = page.image or more.thumbnail_url
    card = FetchedCard(
        url=url,
        final_url=final_url,
        title=more.title or page.title,
        description=page.description,
        site_name=page.site_name or more.provider_name,
        image=await _image(requests, address) if address is not None else None,
    )
    if card.title is card.description is card.image is None:
        raise CardUnavailable("The page says nothing of itself.")
    return card


class CardPostponed(PressroomError):
    """Too many requests are under way to the page's address, or this server lacked something to send one.

    Nothing is known of the page (docs/previews.md#fetching).
    """


class _Reached(msgspec.Struct):
    url: str
    response: OutboundResponse
    redirects: int


class _Requests:
    """An outbound client, and the deadline of all requests that are made with it."""

    def __init__(self, client: OutboundClient, seconds: float) -> None:
        self._client = client
        self._seconds = seconds
        self._until = asyncio.get_running_loop().time() + seconds

    async def get(self, url: str, accept: str, most: int, *, redirects: int = 0, share: float = 1.0) -> _Reached:
        """Requests a URL and follows its redirects. Returns a response of status 2xx with at most `most` bytes of body.

        redirects: how many there were before. share: the part of the time left that it may take. Raises
        CardUnavailable, CardPostponed.
        """
        until = self._now() + share * (self._until - self._now())
        while True:
            response = await self._ask(url, accept, most, until)
            if response.status not in _REDIRECTS or "location" not in response.headers:
                break
            # Counted over pages and refreshes together, or two pages that lead to each other would never end.
            redirects = one_more(redirects)
            leads_to = absolute(url, response.headers["location"])
            if leads_to is None:
                raise CardUnavailable("The page redirects to what is no http or https address.")
            url = leads_to
        if not 200 <= response.status < 300:
            raise CardUnavailable(f"The page answers with status {response.status}.")
        if encoding := response.headers.get("content-encoding"):
            response.body = await _apart(unpacked, response.body, encoding, most)
        return _Reached(url, response, redirects)

    async def _ask(self, url: str, accept: str, most: int, until: float) -> OutboundResponse:
        left = until - self._now()
        if left <= 0:
            raise CardUnavailable(f"The page is not there within {self._seconds:g} seconds.")
        headers = {"Accept": accept, "User-Agent": USER_AGENT}
        try:
            return await self._client.request("GET", url, headers, seconds=left, read=most, keep=most)
        except OutboundFailed as failed:
            if failed.kind in (Failure.BUSY, Failure.OURS):
                raise CardPostponed(failed.message) from failed
            raise CardUnavailable(failed.message) from failed

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def one_more(redirects: int) -> int:
    """Returns the number of redirects after this one. Raises CardUnavailable when they are too many."""
    if redirects >= MOST_REDIRECTS:
        raise CardUnavailable(f"The page redirects more than {MOST_REDIRECTS} times.")
    return redirects + 1


def unpacked(body: bytes, encoding: str, most: int) -> bytes:
    """Returns the first `most` bytes of a body, which may be compressed unasked. Raises CardUnavailable."""
    named = encoding.strip().lower()
    if named in ("", "identity"):
        return body
    if named not in ("gzip", "x-gzip", "deflate"):
        raise CardUnavailable(f"The page is encoded as {named[:40]}, which was not asked for.")
    # A deflate stream should have zlib's header, but some servers leave it out.
    for bits in (_GZIP_OR_ZLIB, _BARE_DEFLATE):
        try:
            # At most so many bytes: a kilobyte can unpack to a megabyte.
            return zlib.decompressobj(bits).decompress(body, most)
        except zlib.error:
            continue
    raise CardUnavailable(f"The page is not the {named} that it says it is.")


async def _apart(work: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Runs `work` on a stranger's data in a thread: data made to be slow would hold the event loop for too long."""
    return await asyncio.get_running_loop().run_in_executor(_reader, functools.partial(work, *arguments, **named))


async def _page(requests: _Requests, url: str) -> tuple[str, PageCard]:
    """Returns the page in the end and its address, after redirects by status and by refresh."""
    redirects = 0
    while True:
        reached = await requests.get(url, _HTML, MOST_HTML, redirects=redirects)
        content_type = reached.response.headers.get("content-type", "")
        _check_type(content_type, reached.response.body)
        card = await _apart(read_card, reached.response.body, content_type, reached.url)
        if card.refresh is None or card.declared:
            return reached.url, card
        redirects = one_more(reached.redirects)
        url = card.refresh


def _check_type(content_type: str, body: bytes) -> None:
    named = media_type(content_type)
    if named not in ("text/html", XHTML) and (named or not looks_like_html(body)):
        raise CardUnavailable(f"The page is {named[:100] or 'of no known type'}; cards are made of HTML alone.")


async def _oembed(requests: _Requests, url: str) -> OEmbedDocument:
    try:
        reached = await requests.get(url, "application/json", MOST_OEMBED, share=OEMBED_SHARE)
    except CardUnavailable:
        return OEmbedDocument()
    return await _apart(read_oembed, reached.response.body, reached.url)


async def _image(requests: _Requests, url: str) -> bytes | None:
    try:
        reached = await requests.get(url, "image/webp,image/png,image/jpeg,image/gif", MOST_IMAGE + 1)
    except CardUnavailable:
        return None
    body = reached.response.body
    # A picture that was cut off decodes to one with a grey half.
    return body if reached.response.complete and 0 < len(body) <= MOST_IMAGE else None
