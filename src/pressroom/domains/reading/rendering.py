"""Renders the pages on which people read, as their reader may see them (docs/web-app.md#reading)."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Concatenate, Final, ParamSpec, TypeVar, cast
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from pressroom.clock import iso
from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.schemas import avatar_address, cover_address
from pressroom.domains.clips.models import ClipView
from pressroom.domains.clips.schemas import ClipOut, clip_shape
from pressroom.domains.comments.models import EDITABLE, ThreadEntry
from pressroom.domains.comments.schemas import comment_shape
from pressroom.domains.hubs.schemas import hub_shape
from pressroom.domains.media.models import ProcessingStatus
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.models import PostView
from pressroom.domains.posts.schemas import PostOut, post_shape
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.reading import actions
from pressroom.domains.reading.actions import OpenedAccount, Permalink, PostPage, Thread
from pressroom.domains.reading.entity_links import excerpt, linked, linked_parts, shortened
from pressroom.domains.reading.fragments import CommentEntry, PageFragments
from pressroom.ids import BEYOND
from pressroom.web.asgi import HeaderList
from pressroom.web.page_forms import FormState, new_idempotency_key
from pressroom.web.paging import is_id, place_of
from pressroom.web.permalinks import Permalinks
from pressroom.web.query import parse_query
from pressroom.web.rendering import done_of, frame_of
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.template_filters import shown_time
from pressroom.web.templating import APP_POLICY, POLICY, page_in_slices

R = TypeVar("R")
P = ParamSpec("P")

_PLACE: Final = re.compile(r"[0-9A-Z]{26}-[0-9A-Z]{26}")

ANYBODY: Final[HeaderList] = [(b"cache-control", b"no-cache"), (b"vary", b"cookie")]
"""Headers of a page that everybody may see, for a visitor who is not signed in: caches ask again before they use it."""

ONE_READER: Final[HeaderList] = [(b"cache-control", b"no-store")]
"""Headers of every other page: no cache stores it."""


class EarlierVersion(msgspec.Struct):
    """A post as it was before an edit."""

    content: str | None
    visibility: str
    written_at: str


class ProfileHead(msgspec.Struct):
    """The account that a profile page shows."""

    id: str
    username: str
    display_name: str
    bio: str | None
    avatar: str
    cover_image: str | None
    verified: bool
    total_posts: int
    total_followers: int
    total_following: int
    created_at: str


async def read_permalink(request: Request[Caller]) -> Permalink:
    """Reads the post of the path with the page of its comments that the query names.

    Raises Invalid when it is no place among them, and NotFound.
    """
    thread, _, comment = (place_of(request.query, "after", _PLACE) or "").partition("-")
    start = (thread, comment)
    return await read_for_page(request, actions.open_permalink, request.parameters["id"], reader_id(request), start)


async def post_page(request: Request[Caller], found: Permalink, form: FormState | None = None) -> Response:
    """Returns the page of a post that stands. `form` is the form of a comment, or another one that was refused."""
    base_url, post, thread = request.settings.base_url, found.view.post, found.thread
    public = post.visibility == Visibility.PUBLIC
    here, shown = f"/post/{post.id}", _shapes(request, [found.view])
    address = Permalinks(request.settings.permalink_base).of_post(post.id)
    after = place_of(request.query, "after", _PLACE)
    reply = form.value("parentId") if form and form.was_refused else given(request, "reply")
    values: dict[str, object] = {
        "gone": False,
        "post": shown[0],
        "awaits_files": awaits_files(shown),
        "placeholders": placeholders_of([found.view]),
        "own_bounces": own_bounces_of([found.view]),
        "versions": [EarlierVersion(each.content, each.visibility, iso(each.written_at)) for each in found.versions],
        "comments": [
            _entry(request, each, thread.answers.get(each.comment.id), of_author=post.is_author)
            for each in thread.comments
        ],
        "may_comment": post.may_be_commented(),
        "unshown": _unshown(post.comments, thread) if not after else 0,
        "here": f"{here}?after={after}" if after else here,
        "reply": reply if is_id(reply) else "",
        "next_page": f"{here}?after={'-'.join(thread.next_page)}" if thread.next_page else None,
        "first_page": here if after else None,
        "oembed": f"{base_url}/oembed?{urlencode({'url': address})}" if public else None,
        "robots": None if public else "noindex",
        "form": form or FormState(),
    }
    return await reading_page(request, "reading/post.html", values, everybody=public)


async def quote_page(request: Request[Caller], view: PostView, form: FormState) -> Response:
    """Returns the page on which a post is quoted."""
    shown = _shapes(request, [view])
    values: dict[str, object] = {
        "post": shown[0],
        "awaits_files": awaits_files(shown),
        "placeholders": placeholders_of([view]),
        "robots": "noindex",
        "form": form,
    }
    return await reading_page(request, "reading/quote.html", values)


async def profile_page(request: Request[Caller], form: FormState | None = None, *, media: bool = False) -> Response:
    """Returns the page of the account that the path names; with `media`, that of its posts with files.

    `form` is one that was refused. Raises NotFound.
    """
    name, reader = request.parameters["username"], reader_id(request)
    found = await read_for_page(request, actions.open_profile, name, reader, before(request), media=media)
    if found is None:
        return await gone_profile(request)
    values = profile_values(request, found.opened, found.total_posts, "media" if media else "posts", form)
    here = f"/@{found.opened.account.username}{'/media' if media else ''}"
    return await reading_page(request, "reading/profile.html", {**values, **posts_values(request, found.page, here)})


async def clips_page(request: Request[Caller]) -> Response:
    """Returns the page of the clips of the account that the path names. Raises NotFound."""
    start = before(request)
    found = await read_for_page(request, actions.open_clips, request.parameters["username"], reader_id(request), start)
    if found is None:
        return await gone_profile(request)
    values = profile_values(request, found.opened, found.total_posts, "clips")
    here = f"/@{found.opened.account.username}/clips"
    clips = clip_shapes(request, found.clips)
    values |= {"clips": clips, "awaits_files": awaits_files(clips=clips), **pager_values(here, start, found.next_page)}
    return await reading_page(request, "reading/profile.html", values)


async def people_page(request: Request[Caller], *, followers: bool) -> Response:
    """Returns the page of an account's followers, or of those that it follows. Raises NotFound."""
    start, name = before(request), request.parameters["username"]
    found = await request.db.read(actions.open_people, name, request.caller.account.id, start, followers=followers)
    if found is None:
        return await gone_profile(request)
    tab, base_url = "followers" if followers else "following", request.settings.base_url
    values = profile_values(request, found.opened, found.total_posts, tab)
    here = f"/@{found.opened.account.username}/{tab}"
    values |= {
        "people": [(each, avatar_address(each.id, each.avatar_token, base_url)) for each in found.people],
        **pager_values(here, start, found.next_page),
    }
    return await reading_page(request, "reading/profile.html", values, everybody=False)


def profile_values(
    request: Request[Caller], opened: OpenedAccount, total_posts: int, tab: str, form: FormState | None = None
) -> dict[str, object]:
    """Returns the values of a profile's head and tabs; `tab` is the one that is open."""
    account, base_url = opened.account, request.settings.base_url
    head = ProfileHead(
        id=account.id,
        username=account.username,
        display_name=account.display_name,
        bio=account.bio,
        avatar=avatar_address(account.id, account.avatar_token, base_url),
        cover_image=cover_address(account.cover_token, base_url),
        verified=account.verified,
        total_posts=total_posts,
        total_followers=account.total_followers,
        total_following=account.total_following,
        created_at=iso(account.created_at),
    )
    return {
        "account": head,
        "tab": tab,
        "hidden": opened.hidden,
        "relation": opened.relation,
        "shows_lists": opened.shows_lists(reader_id(request)),
        "robots": "noindex" if account.is_private else None,
        "feed": None if account.is_private else f"/@{account.username}/feed",
        "form": form or FormState(),
    }


def pager_values(here: str, start: str, next_page: str | None) -> dict[str, object]:
    """Returns the addresses of the next and the first page of a list at `here`, which begins below `start`."""
    return {
        "next_page": f"{here}?before={next_page}" if next_page else None,
        "first_page": None if start == BEYOND else here,
    }


async def gone_profile(request: Request[Caller]) -> Response:
    """Returns the page of a deleted account while its name is reserved."""
    values: dict[str, object] = {"robots": "noindex"}
    return await reading_page(request, "reading/gone_profile.html", values, code=410, everybody=False)


async def hub_page(request: Request[Caller], form: FormState | None = None) -> Response:
    """Returns the page of the hub that the path names. `form` is one that was refused. Raises NotFound."""
    slug, reader = request.parameters["slug"], reader_id(request)
    found, page = await read_for_page(request, actions.open_hub, slug, reader, before(request))
    values: dict[str, object] = {
        "hub": hub_shape(found, request.settings.base_url),
        "robots": None,
        "feed": f"/hub/{found.slug}/feed",
        "form": form or FormState(),
    }
    return await reading_page(
        request, "reading/hub.html", {**values, **posts_values(request, page, f"/hub/{found.slug}")}
    )


def posts_values(request: Request[Caller], page: PostPage, here: str = "") -> dict[str, object]:
    """Returns the values that the template of a list of posts needs. `here`: the page's path, if not the request's."""
    own = quote(request.path, safe="/@")
    here = here or own
    first = before(request) == BEYOND
    posts = _shapes(request, page.posts)
    return {
        "posts": posts,
        "awaits_files": awaits_files(posts),
        "placeholders": placeholders_of(page.posts),
        "own_bounces": own_bounces_of(page.posts),
        "here": here if first else f"{here}?before={before(request)}",
        "next_page": f"{'' if here == own else here}?before={page.next_page}" if page.next_page else None,
        "first_page": None if first else here,
    }


async def reading_page(
    request: Request[Caller], template: str, values: dict[str, object], *, code: int = 200, everybody: bool = True
) -> Response:
    """Returns a page for reading. `everybody`: signed-out visitors may see it. They get script only while a file on it
    is being processed (docs/web-app.md#files-in-processing); only others see a notice of their last change."""
    signed_out = request.who is None
    placeholders = cast("dict[str, str | None]", values.get("placeholders", {}))
    common = {**(await frame_of(request)), **card_values(request, placeholders)}
    common["done"] = done_of(request.query) if not signed_out else None
    has_script = not signed_out or bool(values.get("awaits_files"))
    response = await page_in_slices(
        request.services.slices,
        template,
        {"awaits_files": False, **common, **values},
        code=code,
        media_from=request.services.blobs.origin,
        policy=APP_POLICY if has_script and code == 200 else POLICY,
    )
    if everybody and signed_out:
        response.headers += ANYBODY
        response.cached = request.services.sent_pages.of(response.body)
    else:
        response.headers += ONE_READER
    return response


def card_values(request: Request[Caller], placeholders: Mapping[str, str | None]) -> dict[str, object]:
    """Returns the values that the macros of posts need on every page. `placeholders`: of each file, by its id."""
    now = request.clock.now()
    kept = request.services.fragments if request.who is None else None
    return {
        "fragments": PageFragments(kept, placeholders, now),
        "linked": linked,
        "linked_parts": linked_parts,
        "shortened": shortened,
        "excerpt": excerpt,
        "shown_time": shown_time,
        "host_of": host_of,
        "new_key": new_idempotency_key,
        "now": now,
    }


def host_of(address: str) -> str:
    """Returns the host of a URL without `www.`: `example.org` of `https://www.example.org/a`."""
    return (urlsplit(address).hostname or address).removeprefix("www.")


def reader_id(request: Request[Caller]) -> str:
    """Returns the reader's id; "" for somebody signed out."""
    return request.who.account.id if request.who else ""


async def read_for_page(
    request: Request[Caller], action: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
) -> R:
    """Reads the content of a page: for people who are not signed in, from a replica (docs/operations.md#a-replica)."""
    source = request.db if request.who else request.services.for_visitors
    return await source.read(action, *args, **kwargs)


def before(request: Request[Caller]) -> str:
    """Returns the id before which a page of posts begins; BEYOND for the newest. Raises Invalid."""
    return place_of(request.query) or BEYOND


def given(request: Request[Caller], name: str) -> str:
    """Returns a parameter of the query string; "" when it is missing."""
    return parse_query(request.query).get(name, "")


def _entry(request: Request[Caller], entry: ThreadEntry, answers: str | None, *, of_author: bool) -> CommentEntry:
    comment, stands = entry.comment, entry.comment.deleted_at is None
    own = comment.account_id == reader_id(request)
    return CommentEntry(
        comment_shape(comment, request.settings.base_url, Permalinks(request.settings.permalink_base)),
        entry.depth,
        answers,
        is_deleted=not stands,
        may_edit=own and stands and request.clock.now() < comment.created_at + EDITABLE,
        may_delete=(own or of_author) and stands,
    )


def _unshown(counted: int, thread: Thread) -> int:
    """Returns how many of the counted comments a thread leaves out that stands on one page; 0 for a longer one.

    They are those of suspended accounts (docs/moderation.md#counts).
    """
    if thread.next_page:
        return 0
    return max(0, counted - sum(each.comment.deleted_at is None for each in thread.comments))


def _shapes(request: Request[Caller], posts: Sequence[PostView]) -> list[PostOut]:
    addresses, now = addresses_of(request, lasting=False), request.clock.now()
    return [post_shape(view, addresses, now) for view in posts]


def clip_shapes(request: Request[Caller], clips: Sequence[ClipView]) -> list[ClipOut]:
    """Returns clips as the templates show them."""
    addresses = addresses_of(request, lasting=False)
    return [clip_shape(view, addresses) for view in clips]


def awaits_files(posts: Sequence[PostOut] = (), clips: Sequence[ClipOut] = ()) -> bool:
    """Returns whether a file on the page is in processing: the page then loads the script that shows it when READY."""
    shown = [each for post in posts for each in (post, post.original_post) if each is not None]
    files = [file.processing_status for post in shown for file in post.media or ()]
    return ProcessingStatus.PROCESSING in [*files, *(clip.processing_status for clip in clips)]


def placeholders_of(posts: Sequence[PostView]) -> dict[str, str | None]:
    """Returns the placeholder of each file, by its id: a tiny picture that is shown until the file has loaded."""
    return {media.id: media.placeholder for view in _with_originals(posts) for media in view.media}


def own_bounces_of(posts: Sequence[PostView]) -> set[str]:
    """Returns the ids of the posts, originals among them, that the reader has plainly bounced."""
    return {view.post.id for view in _with_originals(posts) if view.post.bounced}


def _with_originals(posts: Sequence[PostView]) -> list[PostView]:
    return [each for view in posts for each in (view, view.original) if each is not None]
