"""The pages on which people read: HTML over the rooms' own actions, readable without script."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from pressroom.clock import iso
from pressroom.domains.accounts.models import Caller, network_of
from pressroom.domains.accounts.schemas import avatar_address
from pressroom.domains.clips.actions import get_clip
from pressroom.domains.clips.schemas import clip_shape
from pressroom.domains.comments.schemas import CommentOut, comment_shape
from pressroom.domains.hubs.schemas import hub_shape
from pressroom.domains.media.addresses import addresses_of
from pressroom.domains.media.schemas import media_shape
from pressroom.domains.posts.actions.reading import get_post
from pressroom.domains.posts.models import View
from pressroom.domains.posts.schemas import PostOut, post_shape
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.reading import actions
from pressroom.domains.reading.actions import Permalink, Shelf
from pressroom.domains.reading.markup import excerpt, linked, linked_parts, shortened
from pressroom.domains.reading.views import ViewCounter
from pressroom.errors import NotFound
from pressroom.ids import BEYOND
from pressroom.text import tag_identity
from pressroom.web.access import Visitor
from pressroom.web.asgi import HeaderList
from pressroom.web.routing import Answer, Call, Route, declare, json
from pressroom.web.templating import page_in_slices

_ID: Final = re.compile(r"[0-9A-Z]{26}")
_PERMALINK: Final = re.compile(r"([0-9A-Z]{26})([/?#].*)?", re.DOTALL)
_PLACE: Final = re.compile(r"([0-9A-Z]{26})-([0-9A-Z]{26})")

ANYBODY: Final[HeaderList] = [(b"cache-control", b"no-cache"), (b"vary", b"cookie")]
"""Of a page that everybody may see, as it is shown to somebody signed out."""

ONE_READER: Final[HeaderList] = [(b"cache-control", b"no-store")]


class CommentEntry(msgspec.Struct):
    """A comment on a page: how deep it stands, and whom it answers where its place does not show it."""

    comment: CommentOut
    depth: int
    answers: str | None


class EarlierVersion(msgspec.Struct):
    """What a post said before an edit."""

    content: str | None
    visibility: str
    written_at: str


class ProfileHead(msgspec.Struct):
    """What a profile page says of its account."""

    username: str
    display_name: str
    bio: str | None
    avatar: str
    verified: bool
    total_posts: int
    total_followers: int
    total_following: int
    created_at: str


class OEmbed(msgspec.Struct):
    """A permalink as others embed it."""

    type: str
    version: str
    title: str
    author_name: str
    author_url: str
    provider_name: str
    provider_url: str
    cache_age: int


def reading_routes(views: ViewCounter) -> list[Route[Caller]]:
    """The pages. Openings of permalinks are noted in `views`."""

    @declare("GET", "/post/{id}", Visitor(), summary="A post's permalink")
    async def permalink(call: Call[Caller]) -> Answer:
        after = _PLACE.fullmatch(_given(call, "after"))
        start = (after[1], after[2]) if after else ("", "")
        found = await call.db.read(actions.open_permalink, call.parameters["id"], _reader(call), start)
        post = found.view.post
        if post.deleted_at is not None:
            return await _page(
                call, "reading/post.html", {"gone": True, "robots": "noindex"}, code=410, everybody=False
            )
        if not post.is_author and call.method == "GET":
            views.note(post.id, _reader(call) or network_of(call.client), call.clock.now())
        return await _post_page(call, found, first=after is None)

    return [permalink, profile, hub, tag, clip, oembed]


@declare("GET", "/@{username}", Visitor(), summary="An account and its posts")
async def profile(call: Call[Caller]) -> Answer:
    """What the reader may see of an account."""
    found = await call.db.read(actions.open_profile, call.parameters["username"], _reader(call), _before(call))
    account, base_url = found.account, call.settings.base_url
    head = ProfileHead(
        account.username,
        account.display_name,
        account.bio,
        avatar_address(account.id, base_url),
        account.verified,
        found.total_posts,
        account.total_followers,
        account.total_following,
        iso(account.created_at),
    )
    values = {"account": head, "hidden": found.hidden, "robots": "noindex" if account.is_private else None}
    return await _page(call, "reading/profile.html", {**values, **_posts(call, found.shelf)})


@declare("GET", "/hub/{slug}", Visitor(), summary="A hub and its posts")
async def hub(call: Call[Caller]) -> Answer:
    """What the reader may see in a hub."""
    found, shelf = await call.db.read(actions.open_hub, call.parameters["slug"], _reader(call), _before(call))
    values = {"hub": hub_shape(found, call.settings.base_url), "robots": None}
    return await _page(call, "reading/hub.html", {**values, **_posts(call, shelf)})


@declare("GET", "/tag/{name}", Visitor(), summary="The public posts with a hashtag")
async def tag(call: Call[Caller]) -> Answer:
    """The PUBLIC posts with a hashtag, however it is written."""
    name = tag_identity(call.parameters["name"])
    shelf = await call.db.read(actions.open_tag, name, _reader(call), _before(call))
    return await _page(call, "reading/tag.html", {"tag": name, "robots": None, **_posts(call, shelf)})


@declare("GET", "/clip/{id}", Visitor(), summary="A clip and its player")
async def clip(call: Call[Caller]) -> Answer:
    """A clip, for those who may see it."""
    view = await call.db.read(get_clip, call.parameters["id"], _reader(call))
    public = view.clip.visibility == Visibility.PUBLIC
    addresses = addresses_of(call, lasting=False)
    values: dict[str, object] = {
        "clip": clip_shape(view, addresses),
        "video": media_shape(view.video, addresses, public=public),
        "placeholders": {view.video.id: view.video.placeholder},
        "robots": None if public else "noindex",
    }
    return await _page(call, "reading/clip.html", values, everybody=public)


@declare("GET", "/oembed", Visitor(), summary="A permalink as others embed it")
async def oembed(call: Call[Caller]) -> Answer:
    """The oEmbed document, of type link, of a PUBLIC post's permalink."""
    start, address = f"{call.settings.permalink_base}/post/", _given(call, "url")
    place = _PERMALINK.fullmatch(address.removeprefix(start)) if address.startswith(start) else None
    if place is None or _given(call, "format") not in ("", "json"):
        raise NotFound("Give the address of a permalink of this server as url, and format=json or none.")
    post = await call.db.read(get_post, place[1], "")
    base_url = call.settings.base_url
    answer = json(
        OEmbed(
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
    answer.headers.append((b"access-control-allow-origin", b"*"))
    return answer


def shown_time(at: str) -> str:
    """`2026-11-20T16:08:12.345Z` → `20 November 2026, 16:08 UTC`."""
    moment = datetime.fromisoformat(at)
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def host_of(address: str) -> str:
    """`https://www.example.org/a` → `example.org`."""
    return (urlsplit(address).hostname or address).removeprefix("www.")


async def _post_page(call: Call[Caller], found: Permalink, *, first: bool) -> Answer:
    base_url, post, thread = call.settings.base_url, found.view.post, found.thread
    public = post.visibility == Visibility.PUBLIC
    here = f"/post/{post.id}"
    address = f"{call.settings.permalink_base}{here}"
    values: dict[str, object] = {
        "gone": False,
        "post": _shapes(call, [found.view])[0],
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
    return await _page(call, "reading/post.html", values, everybody=public)


def _posts(call: Call[Caller], shelf: Shelf) -> dict[str, object]:
    """What a page of posts is rendered from."""
    here = call.path
    return {
        "posts": _shapes(call, shelf.posts),
        "placeholders": _placeholders(shelf.posts),
        "next_page": f"?before={shelf.next_page}" if shelf.next_page else None,
        "first_page": None if _before(call) == BEYOND else here,
    }


def _shapes(call: Call[Caller], posts: Sequence[View]) -> list[PostOut]:
    addresses, now = addresses_of(call, lasting=False), call.clock.now()
    return [post_shape(view, addresses, now) for view in posts]


def _placeholders(posts: Sequence[View]) -> dict[str, str | None]:
    """The few bytes of picture that stand in for each file until it is there."""
    views = [each for view in posts for each in (view, view.original) if each is not None]
    return {media.id: media.placeholder for view in views for media in view.media}


async def _page(
    call: Call[Caller], template: str, values: dict[str, object], *, code: int = 200, everybody: bool = True
) -> Answer:
    """A page of `values` and what all pages are made of. `everybody`: signed-out visitors may see it too."""
    common: dict[str, object] = {
        "base_url": call.settings.base_url,
        "permalink_base": call.settings.permalink_base,
        "linked": linked,
        "linked_parts": linked_parts,
        "shortened": shortened,
        "excerpt": excerpt,
        "shown_time": shown_time,
        "host_of": host_of,
        "viewer": call.who.account.username if call.who else None,
    }
    answer = await page_in_slices(
        call.means.slices, template, {**common, **values}, code=code, media_from=call.means.blobs.origin
    )
    answer.headers += ANYBODY if everybody and call.who is None else ONE_READER
    return answer


def _reader(call: Call[Caller]) -> str:
    return call.who.account.id if call.who else ""


def _before(call: Call[Caller]) -> str:
    """Where a page of posts begins; one that was never handed out means the beginning."""
    before = _given(call, "before")
    return before if _ID.fullmatch(before) else BEYOND


def _given(call: Call[Caller], name: str) -> str:
    """A parameter of the query string, or nothing."""
    return dict(parse_qsl(call.query, keep_blank_values=True)).get(name, "")
