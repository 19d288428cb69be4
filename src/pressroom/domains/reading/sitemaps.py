"""Sitemaps for search engines: PUBLIC posts of accounts that may be found, and the profiles of these accounts
(docs/web-app.md#sitemaps)."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from markupsafe import escape

from pressroom.clock import iso
from pressroom.db import Tx
from pressroom.db.params import batches
from pressroom.domains.accounts.models import Caller
from pressroom.domains.reading.queries import PublicPost, find_last_number, list_findable, list_indexed, list_public
from pressroom.domains.reading.rendering import read_for_page
from pressroom.errors import NotFound
from pressroom.web.access import Public
from pressroom.web.permalinks import Permalinks
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()

POSTS: Final = 1_000
"""Posts of the search index that one sitemap looks at."""

MOST: Final = 50_000
"""Sitemaps that an index may name, by the protocol: the newest."""

_NUMBER: Final = re.compile("0|[1-9][0-9]{0,8}")
_XML: Final = b"application/xml; charset=utf-8"
_HEADERS: Final = [(b"cache-control", b"no-cache"), (b"x-content-type-options", b"nosniff")]
_NAMESPACE: Final = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


@routes.get("/sitemap.xml", Public(), summary="The sitemaps of the site")
async def sitemap_index(request: Request[Caller]) -> Response:
    """Names the sitemaps, oldest posts first. robots.txt names this one."""
    last = await read_for_page(request, find_last_number)
    pages = range((last or 0) // POSTS + 1)[-MOST:]
    base_url = escape(request.settings.base_url)
    entries = (f"<sitemap><loc>{base_url}/sitemap/{page}</loc></sitemap>\n" for page in pages)
    return await _document(request, "sitemapindex", entries)


@routes.get("/sitemap/{page}", Public(), summary="A sitemap")
async def sitemap(request: Request[Caller]) -> Response:
    """PUBLIC posts of accounts that may be found, with their last change, and their authors' profiles: those among
    a thousand posts of the search index."""
    given = request.parameters["page"]
    last = await read_for_page(request, find_last_number)
    if not _NUMBER.fullmatch(given) or int(given) > (last or 0) // POSTS:
        raise NotFound("There is no such sitemap.")
    first = int(given) * POSTS
    post_ids = await read_for_page(request, list_indexed, first, first + POSTS)
    # In several reads, so that none is long.
    found = [post for batch in batches(post_ids) for post in await read_for_page(request, _list_found, batch)]
    return await _document(request, "urlset", _addresses(request, found))


async def _list_found(tx: Tx, post_ids: list[str]) -> list[tuple[PublicPost, str]]:
    """Returns those of at most BATCH posts that search engines may find, with the user names of their authors."""
    posts = await list_public(tx, post_ids)
    names = await list_findable(tx, list({post.account_id for post in posts}))
    return [(post, names[post.account_id]) for post in posts if post.account_id in names]


def _addresses(request: Request[Caller], found: list[tuple[PublicPost, str]]) -> Iterator[str]:
    base_url, permalinks = request.settings.base_url, Permalinks(request.settings.permalink_base)
    # By the protocol a sitemap is not empty.
    yield _entry(f"{base_url}/about")
    for username in dict.fromkeys(username for _, username in found):
        yield _entry(f"{base_url}/@{username}")
    for post, _ in found:
        yield _entry(permalinks.of_post(post.id), f"<lastmod>{iso(post.changed_at)}</lastmod>")


def _entry(address: str, more: str = "") -> str:
    return f"<url><loc>{escape(address)}</loc>{more}</url>\n"


async def _document(request: Request[Caller], kind: str, entries: Iterator[str]) -> Response:
    """Returns a document of entries, written in slices, as pages are (docs/architecture.md#pages)."""
    begin = f'<?xml version="1.0" encoding="utf-8"?>\n<{kind} {_NAMESPACE}>\n'
    body = await request.services.slices.join(chain([begin], entries, [f"</{kind}>\n"]))
    return Response(200, body.encode(), _XML, list(_HEADERS))
