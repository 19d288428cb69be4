"""Feeds of an account, a hub and a hashtag, as Atom and JSON Feed: the newest PUBLIC posts
(docs/web-app.md#feeds-and-link-previews). Older posts are on further pages, linked as RFC 5005 says."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple
from urllib.parse import quote

import msgspec
from markupsafe import Markup, escape

from pressroom.clock import iso
from pressroom.db import Query
from pressroom.domains.accounts.models import Caller, folded
from pressroom.domains.media.schemas import MediaEntryOut
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.schemas import OriginalPostOut, PostOut, post_shape
from pressroom.domains.reading import actions
from pressroom.domains.reading.entity_links import excerpt, shortened
from pressroom.domains.reading.queries import OF_ACCOUNT, OF_HUB, OF_TAG, FeedRow, list_rows
from pressroom.domains.reading.rendering import before, read_for_page
from pressroom.entities import tag_identity
from pressroom.errors import NotFound
from pressroom.ids import BEYOND
from pressroom.web.access import Public
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes
from pressroom.web.templating import render_file, render_in_slices

routes: Final = Routes[Caller]()


_NOT_IN_XML: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Form(NamedTuple):
    """A form of a feed.

    Attributes:
        name: The last part of its address.
        content_type: Its media type.
        template: The template of the whole.
        entry: Writes an entry from its values.
    """

    name: str
    content_type: bytes
    template: str
    entry: Callable[["Entry"], Markup]


class Entry(msgspec.Struct):
    """The parts of an entry, all text. `html` is its content."""

    address: str
    title: str
    author: str
    author_address: str
    published: str
    updated: str
    html: str


class Feed(msgspec.Struct):
    """A page of a feed: its subject, the path of the HTML page that shows the same, and its posts."""

    title: str
    path: str
    made_at: int
    page: actions.PostPage


@routes.get("/@{username}/feed.atom", Public(), summary="The posts of an account as an Atom feed")
async def account_feed(request: Request[Caller]) -> Response:
    """The newest PUBLIC posts of an account. A private, suspended or deleted account has none: 404."""
    return await _account_feed(request, ATOM)


@routes.get("/@{username}/feed.json", Public(), summary="The posts of an account as a JSON Feed")
async def account_json_feed(request: Request[Caller]) -> Response:
    """The same as JSON Feed 1.1."""
    return await _account_feed(request, JSON_FEED)


@routes.get("/hub/{slug}/feed.atom", Public(), summary="The posts of a hub as an Atom feed")
async def hub_feed(request: Request[Caller]) -> Response:
    """The newest PUBLIC posts in a hub."""
    return await _hub_feed(request, ATOM)


@routes.get("/hub/{slug}/feed.json", Public(), summary="The posts of a hub as a JSON Feed")
async def hub_json_feed(request: Request[Caller]) -> Response:
    """The same as JSON Feed 1.1."""
    return await _hub_feed(request, JSON_FEED)


@routes.get("/tag/{name}/feed.atom", Public(), summary="The posts with a hashtag as an Atom feed")
async def tag_feed(request: Request[Caller]) -> Response:
    """The newest PUBLIC posts with a hashtag, in any spelling."""
    return await _tag_feed(request, ATOM)


@routes.get("/tag/{name}/feed.json", Public(), summary="The posts with a hashtag as a JSON Feed")
async def tag_json_feed(request: Request[Caller]) -> Response:
    """The same as JSON Feed 1.1."""
    return await _tag_feed(request, JSON_FEED)


async def _account_feed(request: Request[Caller], form: Form) -> Response:
    name = request.parameters["username"]
    tag, known = await _version(request, OF_ACCOUNT, folded(name), form)
    if known is not None:
        return known
    found = await read_for_page(request, actions.open_profile, name, "", before(request))
    if found is None or found.opened.account.is_private:
        raise NotFound("There is no such feed.")
    account = found.opened.account
    title = f"{account.display_name} (@{account.username})"
    return await _feed(request, tag, Feed(title, f"/@{account.username}", account.created_at, found.page), form)


async def _hub_feed(request: Request[Caller], form: Form) -> Response:
    slug = request.parameters["slug"]
    tag, known = await _version(request, OF_HUB, slug, form)
    if known is not None:
        return known
    hub, page = await read_for_page(request, actions.open_hub, slug, "", before(request))
    return await _feed(request, tag, Feed(hub.name, f"/hub/{hub.slug}", 0, page), form)


async def _tag_feed(request: Request[Caller], form: Form) -> Response:
    name = tag_identity(request.parameters["name"])
    tag, known = await _version(request, OF_TAG, name, form)
    if known is not None:
        return known
    page = await read_for_page(request, actions.open_tag, name, "", before(request))
    return await _feed(request, tag, Feed(f"#{name}", f"/tag/{quote(name, safe='')}", 0, page), form)


async def _version(
    request: Request[Caller], query: Query[FeedRow], name: str, form: Form
) -> tuple[bytes, Response | None]:
    """Returns the ETag of a feed, and the 304 for a reader that has this version. One statement."""
    rows = await read_for_page(request, list_rows, query, name, before(request))
    tag = f'W/"{sha256(msgspec.json.encode(rows)).hexdigest()[:24]}"'
    known = (request.headers.if_none_match or "").split(",")
    if rows and any(each.strip() == tag for each in known):
        return tag.encode(), Response(304, b"", form.content_type, _headers(tag.encode()))
    return tag.encode(), None


def _headers(tag: bytes) -> list[tuple[bytes, bytes]]:
    # A deleted post leaves readers at once: they ask before showing a feed that they keep.
    return [(b"etag", tag), (b"cache-control", b"no-cache"), (b"x-content-type-options", b"nosniff")]


async def _feed(request: Request[Caller], tag: bytes, feed: Feed, form: Form) -> Response:
    """Returns a page of the feed, rendered in slices, as HTML pages are (docs/architecture.md#pages)."""
    addresses, now = addresses_of(request, lasting=True), request.clock.now()
    base_url, fragments = request.settings.base_url, request.services.fragments
    posts = [post_shape(view, addresses, now) for view in feed.page.posts]
    updated = max((_updated(post) for post in posts), default=iso(feed.made_at))
    first, place = f"{base_url}{feed.path}/{form.name}", before(request)
    values = {
        "title": _in_xml(feed.title),
        "page": f"{base_url}{feed.path}",
        "first": first,
        "own_address": first if place == BEYOND else f"{first}?before={place}",
        "next": feed.page.next_page and f"{first}?before={feed.page.next_page}",
        "updated": updated,
        "entries": (fragments.get((form.name, post), partial(_written, form, post, base_url)) for post in posts),
    }
    body = await render_in_slices(request.services.slices, form.template, values)
    moment = datetime.fromisoformat(updated).astimezone(UTC)
    headers = [*_headers(tag), (b"last-modified", format_datetime(moment, usegmt=True).encode())]
    return Response(200, body.encode(), form.content_type, headers)


def _updated(post: PostOut) -> str:
    return post.edited_at or post.created_at


def _written(form: Form, post: PostOut, base_url: str) -> Markup:
    return form.entry(_entry(post, base_url))


def _entry(post: PostOut, base_url: str) -> Entry:
    """Returns the parts of an entry, without the characters that no XML document may hold."""
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
    return Entry(
        address=post.permalink,
        title=_in_xml(title) or "A post",
        author=_in_xml(post.author.display_name) or post.author.username,
        author_address=f"{base_url}/@{post.author.username}",
        published=post.created_at,
        updated=_updated(post),
        html=_in_xml(html),
    )


def _atom_entry(entry: Entry) -> Markup:
    return Markup(render_file("reading/feed_entry.xml", msgspec.structs.asdict(entry)))  # noqa: S704  # an autoescaped template


def _json_item(entry: Entry) -> Markup:
    item = {
        "id": entry.address,
        "url": entry.address,
        "title": entry.title,
        "content_html": entry.html,
        "date_published": entry.published,
        "date_modified": entry.updated,
        "authors": [{"name": entry.author, "url": entry.author_address}],
    }
    return Markup(msgspec.json.encode(item).decode())  # noqa: S704  # JSON within a JSON document


ATOM: Final = Form("feed.atom", b"application/atom+xml; charset=utf-8", "reading/feed.xml", _atom_entry)
JSON_FEED: Final = Form("feed.json", b"application/feed+json; charset=utf-8", "reading/feed.json", _json_item)


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
