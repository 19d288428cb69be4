"""Fetching a page, its oEmbed document and its image, all within one deadline (docs/previews.md#what-a-card-shows)."""

import asyncio
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from pressroom import __version__
from pressroom.domains.previews.charset import media_type
from pressroom.domains.previews.parsing import XHTML, OEmbedDocument, PageCard, looks_like_html, read_card, read_oembed
from pressroom.domains.previews.urls import absolute, normalised
from pressroom.errors import PressroomError
from pressroom.outbound import OutboundClient, OutboundFailed, OutboundResponse, UrlRefused
from pressroom.outbound.failures import Failure

__all__ = ["CardPostponed", "CardUnavailable", "FetchedCard", "fetch_card", "normalised"]

MOST_HTML: Final = 1_048_576
MOST_OEMBED: Final = 65_536
MOST_IMAGE: Final = 5 * 1_048_576
"""Bytes. Of a page the first are enough; a longer document or image is not used."""

MOST_REDIRECTS: Final = 3
"""For the page by status and by refresh together; as many again for its oEmbed document and its image."""

OEMBED_SHARE: Final = 0.5
"""The part of the time left that an oEmbed document may take, so that the image gets the rest."""

USER_AGENT: Final = f"Pressroom/{__version__} (link preview)"

_HTML: Final = f"text/html,{XHTML};q=0.9"
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32
_BARE_DEFLATE: Final = -zlib.MAX_WBITS


_reader: Final = ThreadPoolExecutor(1, "pages")
"""One page is read at a time: what a stranger wrote can take long, and threads share one interpreter."""


class FetchedCard(msgspec.Struct):
    """What a page says of itself.

    `url` is the address that was asked for, as it was given; `final_url` the one that answered in the end. `image`:
    the bytes that came from the image's address, at most 5 MiB, of which nothing is known yet.
    """

    url: str
    final_url: str
    title: str | None
    description: str | None
    site_name: str | None
    image: bytes | None


class CardUnavailable(PressroomError):
    """There is no card. The message gives the reason and says nothing of our insides."""


async def fetch_card(client: OutboundClient, url: str, *, seconds: float = 5.0) -> FetchedCard:
    """Fetches the card of a page. `seconds`: for all of it, from the first look-up to the last byte of the image.

    A page that sends its readers on within five seconds, and has no Open Graph or Twitter card of its own, is left
    for where it leads. An oEmbed document is asked for when neither of the two gave a title. When it or the image
    fails or comes too late, the card is made without. Raises CardUnavailable.
    """
    way = _Way(client, seconds)
    try:
        where = normalised(url)
    except UrlRefused as refused:
        raise CardUnavailable(refused.message) from None
    final_url, page = await _page(way, where)
    more = await _oembed(way, page.oembed) if page.oembed is not None and not page.declared else OEmbedDocument()
    address = page.image or more.thumbnail_url
    card = FetchedCard(
        url=url,
        final_url=final_url,
        title=more.title or page.title,
        description=page.description,
        site_name=page.site_name or more.provider_name,
        image=await _image(way, address) if address is not None else None,
    )
    if card.title is card.description is card.image is None:
        raise CardUnavailable("The page says nothing of itself.")
    return card


class CardPostponed(PressroomError):
    """Too much is asked of the page's address already. Nothing is known of the page."""


class _Reached(msgspec.Struct):
    url: str
    answer: OutboundResponse
    redirects: int


class _Way:
    """A client and the moment until which all that is asked for through it must have come."""

    def __init__(self, client: OutboundClient, seconds: float) -> None:
        self._client = client
        self._seconds = seconds
        self._until = asyncio.get_running_loop().time() + seconds

    async def get(self, url: str, accept: str, most: int, *, redirects: int = 0, share: float = 1.0) -> _Reached:
        """Asks for a URL and follows its redirects; the answer has status 2xx and a body of at most `most` bytes.

        `redirects`: how many there were on the way to it; `share`: the part of the time left that it may take. Raises
        CardUnavailable.
        """
        until = self._now() + share * (self._until - self._now())
        while True:
            answer = await self._ask(url, accept, most, until)
            if answer.status not in _REDIRECTS or "location" not in answer.headers:
                break
            redirects = one_more(redirects)
            leads_to = absolute(url, answer.headers["location"])
            if leads_to is None:
                raise CardUnavailable("The page redirects to what is no http or https address.")
            url = leads_to
        if not 200 <= answer.status < 300:
            raise CardUnavailable(f"The page answers with status {answer.status}.")
        answer.body = unpacked(answer.body, answer.headers.get("content-encoding", ""), most)
        return _Reached(url, answer, redirects)

    async def _ask(self, url: str, accept: str, most: int, until: float) -> OutboundResponse:
        left = until - self._now()
        if left <= 0:
            raise CardUnavailable(f"The page is not there within {self._seconds:g} seconds.")
        headers = {"Accept": accept, "User-Agent": USER_AGENT}
        try:
            return await self._client.request("GET", url, headers, seconds=left, read=most, keep=most)
        except OutboundFailed as failed:
            if failed.kind is Failure.BUSY:
                raise CardPostponed(failed.message) from failed
            raise CardUnavailable(failed.message) from failed

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def one_more(redirects: int) -> int:
    """The number of redirects after this one. Raises CardUnavailable when they are too many."""
    if redirects >= MOST_REDIRECTS:
        raise CardUnavailable(f"The page redirects more than {MOST_REDIRECTS} times.")
    return redirects + 1


def unpacked(body: bytes, encoding: str, most: int) -> bytes:
    """The first `most` bytes of a body that was compressed although nobody asked for it. Raises CardUnavailable."""
    named = encoding.strip().lower()
    if named in ("", "identity"):
        return body
    if named not in ("gzip", "x-gzip", "deflate"):
        raise CardUnavailable(f"The page is encoded as {named[:40]}, which was not asked for.")
    # A deflate stream is meant to begin as zlib's do, but some servers leave that out.
    for bits in (_GZIP_OR_ZLIB, _BARE_DEFLATE):
        try:
            return zlib.decompressobj(bits).decompress(body, most)
        except zlib.error:
            continue
    raise CardUnavailable(f"The page is not the {named} that it says it is.")


async def _page(way: _Way, url: str) -> tuple[str, PageCard]:
    """The page in the end and its address, after redirects by status and by refresh."""
    redirects = 0
    while True:
        reached = await way.get(url, _HTML, MOST_HTML, redirects=redirects)
        content_type = reached.answer.headers.get("content-type", "")
        _check_type(content_type, reached.answer.body)
        # A page made to be slow takes a second to read, which is too long for everybody else on this loop.
        card = await asyncio.get_running_loop().run_in_executor(
            _reader, read_card, reached.answer.body, content_type, reached.url
        )
        if card.refresh is None or card.declared:
            return reached.url, card
        redirects = one_more(reached.redirects)
        url = card.refresh


def _check_type(content_type: str, body: bytes) -> None:
    named = media_type(content_type)
    if named not in ("text/html", XHTML) and (named or not looks_like_html(body)):
        raise CardUnavailable(f"The page is {named[:100] or 'of no known type'}; cards are made of HTML alone.")


async def _oembed(way: _Way, url: str) -> OEmbedDocument:
    try:
        reached = await way.get(url, "application/json", MOST_OEMBED, share=OEMBED_SHARE)
    except CardUnavailable:
        return OEmbedDocument()
    return read_oembed(reached.answer.body, reached.url)


async def _image(way: _Way, url: str) -> bytes | None:
    try:
        reached = await way.get(url, "image/webp,image/png,image/jpeg,image/gif", MOST_IMAGE + 1)
    except CardUnavailable:
        return None
    body = reached.answer.body
    return body if 0 < len(body) <= MOST_IMAGE else None
