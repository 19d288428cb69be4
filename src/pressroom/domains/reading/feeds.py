"""Atom feeds of an account, a hub and a hashtag: the newest PUBLIC posts (docs/web-app.md#feeds-and-link-previews)."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial
from hashlib import sha256
from typing import Final
from urllib.parse import quote

import msgspec
from markupsafe import Markup, escape

from pressroom.clock import iso
from pressroom.db import Query
from pressroom.domains.accounts.models import Caller, folded
from pressroom.domains.media.schemas import MediaEntryOut
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.models import PostView
from pressroom.domains.posts.schemas import OriginalPostOut, PostOut, post_shape
from pressroom.domains.reading import actions
from pressroom.domains.reading.markup import excerpt, shortened
from pressroom.domains.reading.queries import OF_ACCOUNT, OF_HUB, OF_TAG, FeedRow, list_rows
from pressroom.domains.reading.rendering import read_for_page
from pressroom.entities import tag_identity
from pressroom.errors import NotFound
from pressroom.ids import BEYOND
from pressroom.web.access import Public
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes
from pressroom.web.templating import render_file, render_in_slices

routes: Final = Routes[Caller]()


ATOM: Final = b"application/atom+xml; charset=utf-8"
_ENTRY: Final = "feed entry"
_NOT_IN_XML: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Feed(msgspec.Struct):
    """A feed: its subject, the path of the page that shows the same, and its posts."""

    title: str
    path: str
    made_at: int
    posts: Sequence[PostView]


@routes.get("/@{username}/feed.atom", Public(), summary="The posts of an account as an Atom feed")
async def account_feed(request: Request[Caller]) -> Response:
    """The newest PUBLIC posts of an account. A private, suspended or deleted account has none: 404."""
    name = request.parameters["username"]
    tag, known = await _version(request, OF_ACCOUNT, folded(name))
    if known is not None:
        return known
    found = await read_for_page(request, actions.open_profile, name, "", BEYOND)
    if found is None or found.opened.account.is_private:
        raise NotFound("There is no such feed.")
    account = found.opened.account
    title = f"{account.display_name} (@{account.username})"
    return await _feed(request, tag, Feed(title, f"/@{account.username}", account.created_at, found.page.posts))


@routes.get("/hub/{slug}/feed.atom", Public(), summary="The posts of a hub as an Atom feed")
async def hub_feed(request: Request[Caller]) -> Response:
    """The newest PUBLIC posts in a hub."""
    slug = request.parameters["slug"]
    tag, known = await _version(request, OF_HUB, slug)
    if known is not None:
        return known
    hub, page = await read_for_page(request, actions.open_hub, slug, "", BEYOND)
    return await _feed(request, tag, Feed(hub.name, f"/hub/{hub.slug}", 0, page.posts))


@routes.get("/tag/{name}/feed.atom", Public(), summary="The posts with a hashtag as an Atom feed")
async def tag_feed(request: Request[Caller]) -> Response:
    """The newest PUBLIC posts with a hashtag, in any spelling."""
    name = tag_identity(request.parameters["name"])
    tag, known = await _version(request, OF_TAG, name)
    if known is not None:
        return known
    page = await read_for_page(request, actions.open_tag, name, "", BEYOND)
    return await _feed(request, tag, Feed(f"#{name}", f"/tag/{quote(name, safe='')}", 0, page.posts))


async def _version(request: Request[Caller], query: Query[FeedRow], name: str) -> tuple[bytes, Response | None]:
    """Returns the ETag of a feed, and the 304 for a reader that has this version. One statement."""
    rows = await read_for_page(request, list_rows, query, name)
    tag = f'W/"{sha256(msgspec.json.encode(rows)).hexdigest()[:24]}"'
    known = (request.headers.if_none_match or "").split(",")
    if rows and any(each.strip() == tag for each in known):
        return tag.encode(), Response(304, b"", ATOM, _headers(tag.encode()))
    return tag.encode(), None


def _headers(tag: bytes) -> list[tuple[bytes, bytes]]:
    # A deleted post leaves readers at once: they ask before showing a feed that they keep.
    return [(b"etag", tag), (b"cache-control", b"no-cache"), (b"x-content-type-options", b"nosniff")]


async def _feed(request: Request[Caller], tag: bytes, feed: Feed) -> Response:
    """Returns the feed, rendered in slices, as pages are (docs/architecture.md#pages)."""
    addresses, now = addresses_of(request, lasting=True), request.clock.now()
    base_url, fragments = request.settings.base_url, request.services.fragments
    posts = [post_shape(view, addresses, now) for view in feed.posts]
    updated = max((_updated(post) for post in posts), default=iso(feed.made_at))
    values = {
        "title": _in_xml(feed.title),
        "page": f"{base_url}{feed.path}",
        "own_address": f"{base_url}{feed.path}/feed.atom",
        "updated": updated,
        "entries": (fragments.get((_ENTRY, post), partial(_entry, post, base_url)) for post in posts),
    }
    body = await render_in_slices(request.services.slices, "reading/feed.xml", values)
    moment = datetime.fromisoformat(updated).astimezone(UTC)
    headers = [*_headers(tag), (b"last-modified", format_datetime(moment, usegmt=True).encode())]
    return Response(200, body.encode(), ATOM, headers)


def _updated(post: PostOut) -> str:
    return post.edited_at or post.created_at


def _entry(post: PostOut, base_url: str) -> Markup:
    """Returns the XML of an entry, without the characters that no XML document may hold."""
    plain = post.type == "SHARE"
    shown = post.original_post if plain else post
    text = shown.content if shown and shown.content else ""
    if plain:
        title = f"{post.author.display_name} bounced: {excerpt(text, 80)}" if text else "A bounce"
    else:
        title = excerpt(text, 100) or f"A post by {post.author.display_name}"
    html = _html(shown, base_url) if shown else "<p>The original post is no longer available.</p>"
    if post.type == "QUOTE" and post.original_post is not None:
        html += f"<blockquote>{_html(post.original_post, base_url)}</blockquote>"
    values = {
        "address": post.permalink,
        "title": _in_xml(title) or "A post",
        "author": _in_xml(post.author.display_name) or post.author.username,
        "author_address": f"{base_url}/@{post.author.username}",
        "published": post.created_at,
        "updated": _updated(post),
        "html": _in_xml(html),
    }
    return Markup(render_file("reading/feed_entry.xml", values))  # noqa: S704  # an autoescaped template


def _html(post: PostOut | OriginalPostOut, base_url: str) -> str:
    """Returns the beginning of the text, as lists show it, and the pictures as HTML with absolute addresses."""
    start = shortened(post.content or "")
    text = str(start.html).replace('href="/', f'href="{base_url}/').replace("\n", "<br>")
    more = f' <a href="{escape(post.permalink)}">Read on</a>' if start.more else ""
    return (f"<p>{text}{more}</p>" if text else "") + "".join(_file(each) for each in post.media or ())


def _file(file: MediaEntryOut) -> str:
    words = escape(file.alt_text or ("Video" if file.type == "video" else "Picture"))
    if file.type == "video":
        return f'<p><a href="{escape(file.url)}">{words}</a></p>'
    return f'<p><img src="{escape(file.thumbnail_url or file.url)}" alt="{words}"></p>'


def _in_xml(text: str) -> str:
    """Returns a text without the characters that no XML document may hold."""
    return _NOT_IN_XML.sub("", text)
