"""The pages on which people read: HTML over the packages' own actions, readable without script."""

import re
from typing import Final
from urllib.parse import quote

import msgspec

from pressroom.domains.accounts.models import Caller, network_of
from pressroom.domains.clips.actions import open_clip
from pressroom.domains.clips.schemas import clip_shape
from pressroom.domains.media.schemas import media_shape
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.actions.lookup import get_post
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.reading import actions
from pressroom.domains.reading.markup import excerpt
from pressroom.domains.reading.rendering import (
    before,
    clips_page,
    given,
    hub_page,
    post_page,
    posts_values,
    profile_page,
    read_for_page,
    read_permalink,
    reader_id,
    reading_page,
)
from pressroom.entities import tag_identity
from pressroom.errors import NotFound
from pressroom.web.access import Page, Visitor
from pressroom.web.permalinks import Permalinks
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


_PERMALINK: Final = re.compile(r"([0-9A-Z]{26})([/?#].*)?", re.DOTALL)


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


@routes.get("/saved", Page(), summary="What you saved")
async def saved(request: Request[Caller]) -> Response:
    """Returns the page of the posts that the reader saved, without those that they may no longer see."""
    page = await request.db.read(actions.open_saved, reader_id(request), before(request))
    return await reading_page(request, "reading/saved.html", {"robots": "noindex", **posts_values(request, page)})


@routes.get("/post/{id}", Visitor(), summary="A post's permalink")
async def permalink(request: Request[Caller]) -> Response:
    """Returns the page of a post with its comments; a deleted post is a 410. Counts a view."""
    found = await read_permalink(request)
    post = found.view.post
    if post.deleted_at is not None:
        values: dict[str, object] = {"gone": True, "robots": "noindex"}
        return await reading_page(request, "reading/post.html", values, code=410, everybody=False)
    if not post.is_author and request.method == "GET":
        request.services.note_view(post.id, reader_id(request) or network_of(request.client), request.clock.now())
    return await post_page(request, found)


@routes.get("/@{username}", Visitor(), summary="An account and its posts")
async def profile(request: Request[Caller]) -> Response:
    """Returns the page of an account with those of its posts that the reader may see."""
    return await profile_page(request)


@routes.get("/@{username}/clips", Visitor(), summary="An account's clips")
async def profile_clips(request: Request[Caller]) -> Response:
    """Returns the page of those clips of an account that the reader may see."""
    return await clips_page(request)


@routes.get("/hub/{slug}", Visitor(), summary="A hub and its posts")
async def hub(request: Request[Caller]) -> Response:
    """Returns the page of a hub with those of its posts that the reader may see."""
    return await hub_page(request)


@routes.get("/tag/{name}", Visitor(), summary="The public posts with a hashtag")
async def tag(request: Request[Caller]) -> Response:
    """Returns the page of the PUBLIC posts with a hashtag, in any spelling."""
    name = tag_identity(request.parameters["name"])
    page = await read_for_page(request, actions.open_tag, name, reader_id(request), before(request))
    values: dict[str, object] = {"tag": name, "robots": None, "feed": f"/tag/{quote(name, safe='')}/feed.atom"}
    return await reading_page(request, "reading/tag.html", {**values, **posts_values(request, page)})


@routes.get("/clip/{id}", Visitor(), summary="A clip and its player")
async def clip(request: Request[Caller]) -> Response:
    """Returns the page of a clip; a deleted one is a 410. Raises NotFound when the reader may not see it."""
    view = await read_for_page(request, open_clip, request.parameters["id"], reader_id(request))
    if view is None:
        values: dict[str, object] = {"gone": True, "robots": "noindex"}
        return await reading_page(request, "reading/clip.html", values, code=410, everybody=False)
    public = view.clip.visibility == Visibility.PUBLIC
    addresses = addresses_of(request, lasting=False)
    values = {
        "gone": False,
        "clip": clip_shape(view, addresses),
        "video": media_shape(view.video, addresses, public=public),
        "placeholders": {view.video.id: view.video.placeholder},
        "robots": None if public else "noindex",
    }
    return await reading_page(request, "reading/clip.html", values, everybody=public)


@routes.get("/oembed", Visitor(), summary="A permalink as others embed it")
async def oembed(request: Request[Caller]) -> Response:
    """Returns the oEmbed document, of type link, of a PUBLIC post's permalink. Raises NotFound for others."""
    start, address = Permalinks(request.settings.permalink_base).of_post(""), given(request, "url")
    place = _PERMALINK.fullmatch(address.removeprefix(start)) if address.startswith(start) else None
    if place is None or given(request, "format") not in ("", "json"):
        raise NotFound("Give the address of a permalink of this server as url, and format=json or none.")
    post = await read_for_page(request, get_post, place[1], "")
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
