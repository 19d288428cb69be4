"""The pages on which people read: HTML over the packages' own actions, readable without script."""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from pressroom.clock import iso
from pressroom.domains.accounts.models import Caller, network_of
from pressroom.domains.accounts.schemas import avatar_address
from pressroom.domains.clips.actions import open_clip
from pressroom.domains.clips.schemas import clip_shape
from pressroom.domains.comments.schemas import CommentOut, comment_shape
from pressroom.domains.hubs.schemas import hub_shape
from pressroom.domains.media.schemas import media_shape
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.actions.lookup import get_post
from pressroom.domains.posts.models import PostView
from pressroom.domains.posts.schemas import PostOut, post_shape
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.reading import actions
from pressroom.domains.reading.actions import Permalink, PostPage
from pressroom.domains.reading.markup import excerpt, linked, linked_parts, shortened
from pressroom.errors import NotFound
from pressroom.hashtags_and_mentions import tag_identity
from pressroom.ids import BEYOND
from pressroom.web.access import Visitor
from pressroom.web.asgi import HeaderList
from pressroom.web.rendering import frame_of
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import declare
from pressroom.web.template_filters import shown_time
from pressroom.web.templating import page_in_slices

_ID: Final = re.compile(r"[0-9A-Z]{26}")
_PERMALINK: Final = re.compile(r"([0-9A-Z]{26})([/?#].*)?", re.DOTALL)
_PLACE: Final = re.compile(r"([0-9A-Z]{26})-([0-9A-Z]{26})")

ANYBODY: Final[HeaderList] = [(b"cache-control", b"no-cache"), (b"vary", b"cookie")]
"""Headers of a page that everybody may see, for a visitor who is not signed in: caches ask again before they use it."""

ONE_READER: Final[HeaderList] = [(b"cache-control", b"no-store")]
"""Headers of every other page: no cache stores it."""


class CommentEntry(msgspec.Struct):
    """A comment of a page.

    depth: how far it is indented. answers: the author of the comment that it answers, where the page does not show that
    comment above it; else None.
    """

    comment: CommentOut
    depth: int
    answers: str | None


class EarlierVersion(msgspec.Struct):
    """A post as it was before an edit."""

    content: str | None
    visibility: str
    written_at: str


class ProfileHead(msgspec.Struct):
    """The account that a profile page shows."""

    username: str
    display_name: str
    bio: str | None
    avatar: str
    verified: bool
    total_posts: int
    total_followers: int
    total_following: int
    created_at: str


class OEmbedOut(msgspec.Struct):
    """The oEmbed document of a permalink."""

    type: str
    version: str
    title: str
    author_name: str
    author_url: str
    provider_name: str
    provider_url: str
    cache_age: int


@declare("GET", "/post/{id}", Visitor(), summary="A post's permalink")
async def permalink(request: Request[Caller]) -> Response:
    """Returns the page of a post with its comments; a deleted post is a 410. Counts a view."""
    after = _PLACE.fullmatch(_given(request, "after"))
    start = (after[1], after[2]) if after else ("", "")
    found = await request.db.read(actions.open_permalink, request.parameters["id"], _reader(request), start)
    post = found.view.post
    if post.deleted_at is not None:
        return await _page(request, "reading/post.html", {"gone": True, "robots": "noindex"}, code=410, everybody=False)
    if not post.is_author and request.method == "GET":
        request.services.note_view(post.id, _reader(request) or network_of(request.client), request.clock.now())
    return await _post_page(request, found, first=after is None)


@declare("GET", "/@{username}", Visitor(), summary="An account and its posts")
async def profile(request: Request[Caller]) -> Response:
    """Returns the page of an account with those of its posts that the reader may see."""
    found = await request.db.read(
        actions.open_profile, request.parameters["username"], _reader(request), _before(request)
    )
    if found is None:
        return await _page(request, "reading/gone_profile.html", {"robots": "noindex"}, code=410, everybody=False)
    account, base_url = found.account, request.settings.base_url
    head = ProfileHead(
        username=account.username,
        display_name=account.display_name,
        bio=account.bio,
        avatar=avatar_address(account.id, base_url),
        verified=account.verified,
        total_posts=found.total_posts,
        total_followers=account.total_followers,
        total_following=account.total_following,
        created_at=iso(account.created_at),
    )
    values = {"account": head, "hidden": found.hidden, "robots": "noindex" if account.is_private else None}
    return await _page(request, "reading/profile.html", {**values, **_posts(request, found.page)})


@declare("GET", "/hub/{slug}", Visitor(), summary="A hub and its posts")
async def hub(request: Request[Caller]) -> Response:
    """Returns the page of a hub with those of its posts that the reader may see."""
    found, page = await request.db.read(
        actions.open_hub, request.parameters["slug"], _reader(request), _before(request)
    )
    values = {"hub": hub_shape(found, request.settings.base_url), "robots": None}
    return await _page(request, "reading/hub.html", {**values, **_posts(request, page)})


@declare("GET", "/tag/{name}", Visitor(), summary="The public posts with a hashtag")
async def tag(request: Request[Caller]) -> Response:
    """Returns the page of the PUBLIC posts with a hashtag, in any spelling."""
    name = tag_identity(request.parameters["name"])
    page = await request.db.read(actions.open_tag, name, _reader(request), _before(request))
    return await _page(request, "reading/tag.html", {"tag": name, "robots": None, **_posts(request, page)})


@declare("GET", "/clip/{id}", Visitor(), summary="A clip and its player")
async def clip(request: Request[Caller]) -> Response:
    """Returns the page of a clip; a deleted one is a 410. Raises NotFound when the reader may not see it."""
    view = await request.db.read(open_clip, request.parameters["id"], _reader(request))
    if view is None:
        return await _page(request, "reading/clip.html", {"gone": True, "robots": "noindex"}, code=410, everybody=False)
    public = view.clip.visibility == Visibility.PUBLIC
    addresses = addresses_of(request, lasting=False)
    values: dict[str, object] = {
        "gone": False,
        "clip": clip_shape(view, addresses),
        "video": media_shape(view.video, addresses, public=public),
        "placeholders": {view.video.id: view.video.placeholder},
        "robots": None if public else "noindex",
    }
    return await _page(request, "reading/clip.html", values, everybody=public)


@declare("GET", "/oembed", Visitor(), summary="A permalink as others embed it")
async def oembed(request: Request[Caller]) -> Response:
    """Returns the oEmbed document, of type link, of a PUBLIC post's permalink. Raises NotFound for others."""
    start, address = f"{request.settings.permalink_base}/post/", _given(request, "url")
    place = _PERMALINK.fullmatch(address.removeprefix(start)) if address.startswith(start) else None
    if place is None or _given(request, "format") not in ("", "json"):
        raise NotFound("Give the address of a permalink of this server as url, and format=json or none.")
    post = await request.db.read(get_post, place[1], "")
    base_url = request.settings.base_url
    response = json_response(
        OEmbedOut(
            type="link",
            version="1.0",
            title=excerpt(post.content or f"{post.display_name} bounced a post", 200),
            author_name=post.display_name,
            author_url=f"{base_url}/@{post.username}",
            provider_name="Pressroom",
            provider_url=base_url,
            cache_age=300,
        )
    )
    response.headers.append((b"access-control-allow-origin", b"*"))
    return response


def host_of(address: str) -> str:
    """Returns the host of a URL without `www.`: `example.org` of `https://www.example.org/a`."""
    return (urlsplit(address).hostname or address).removeprefix("www.")


async def _post_page(request: Request[Caller], found: Permalink, *, first: bool) -> Response:
    base_url, post, thread = request.settings.base_url, found.view.post, found.thread
    public = post.visibility == Visibility.PUBLIC
    here = f"/post/{post.id}"
    address = f"{request.settings.permalink_base}{here}"
    values: dict[str, object] = {
        "gone": False,
        "post": _shapes(request, [found.view])[0],
        "placeholders": _placeholders([found.view]),
        "versions": [EarlierVersion(each.content, each.visibility, iso(each.written_at)) for each in found.versions],
        "comments": [
            CommentEntry(comment_shape(each.comment, base_url), each.depth, thread.answers.get(each.comment.id))
            for each in thread.comments
        ],
        "next_page": f"{here}?after={'-'.join(thread.next_page)}" if thread.next_page else None,
        "first_page": None if first else here,
        "oembed": f"{base_url}/oembed?{urlencode({'url': address})}" if public else None,
        "robots": None if public else "noindex",
    }
    return await _page(request, "reading/post.html", values, everybody=public)


def _posts(request: Request[Caller], page: PostPage) -> dict[str, object]:
    """Returns the values that the template of a list of posts needs."""
    here = request.path
    return {
        "posts": _shapes(request, page.posts),
        "placeholders": _placeholders(page.posts),
        "next_page": f"?before={page.next_page}" if page.next_page else None,
        "first_page": None if _before(request) == BEYOND else here,
    }


def _shapes(request: Request[Caller], posts: Sequence[PostView]) -> list[PostOut]:
    addresses, now = addresses_of(request, lasting=False), request.clock.now()
    return [post_shape(view, addresses, now) for view in posts]


def _placeholders(posts: Sequence[PostView]) -> dict[str, str | None]:
    """Returns the placeholder of each file, by its id: a tiny picture that is shown until the file has loaded."""
    views = [each for view in posts for each in (view, view.original) if each is not None]
    return {media.id: media.placeholder for view in views for media in view.media}


async def _page(
    request: Request[Caller], template: str, values: dict[str, object], *, code: int = 200, everybody: bool = True
) -> Response:
    """Renders a template with `values` and what all need. `everybody`: signed-out visitors may see the page."""
    common: dict[str, object] = {
        **(await frame_of(request)),
        "linked": linked,
        "linked_parts": linked_parts,
        "shortened": shortened,
        "excerpt": excerpt,
        "shown_time": shown_time,
        "host_of": host_of,
    }
    response = await page_in_slices(
        request.services.slices, template, {**common, **values}, code=code, media_from=request.services.blobs.origin
    )
    response.headers += ANYBODY if everybody and request.who is None else ONE_READER
    return response


def _reader(request: Request[Caller]) -> str:
    return request.who.account.id if request.who else ""


def _before(request: Request[Caller]) -> str:
    """Returns the id before which a page of posts begins; BEYOND, for the newest, when none is given."""
    before = _given(request, "before")
    return before if _ID.fullmatch(before) else BEYOND


def _given(request: Request[Caller], name: str) -> str:
    """Returns a parameter of the query string; "" when it is missing."""
    return dict(parse_qsl(request.query, keep_blank_values=True)).get(name, "")


ROUTES: Final = (permalink, profile, hub, tag, clip, oembed)
