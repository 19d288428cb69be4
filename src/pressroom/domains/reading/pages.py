"""The pages on which people read, and the forms of signed-in readers on them (docs/web-app.md#actions-of-readers).

HTML over the actions of other packages, readable without script.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Concatenate, Final, ParamSpec, TypeVar
from urllib.parse import quote as percent_encoded

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.actions import get_account_by_username
from pressroom.domains.accounts.models import Caller, network_of
from pressroom.domains.clips.actions import open_clip
from pressroom.domains.clips.schemas import clip_shape
from pressroom.domains.comments.actions import add_comment
from pressroom.domains.comments.pages import Place, place_of
from pressroom.domains.comments.schemas import CreateComment
from pressroom.domains.follows.actions import follow, unfollow
from pressroom.domains.hubs.actions import join_by_slug, leave_by_slug
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.media.schemas import media_shape
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.actions import lookup, publish, react
from pressroom.domains.posts.actions.lookup import get_post
from pressroom.domains.posts.models import PostType, PostView
from pressroom.domains.posts.poll_schemas import Vote
from pressroom.domains.posts.routes import await_card
from pressroom.domains.posts.schemas import BouncePost
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.privacy import actions as privacy
from pressroom.domains.reading import actions
from pressroom.domains.reading.entity_links import excerpt
from pressroom.domains.reading.rendering import (
    awaits_files,
    before,
    clips_page,
    given,
    hub_page,
    people_page,
    post_page,
    posts_values,
    profile_page,
    quote_page,
    read_for_page,
    read_permalink,
    reader_id,
    reading_page,
)
from pressroom.entities import tag_identity
from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.access import Page, Visitor
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.permalinks import Permalinks
from pressroom.web.rendering import own_path, redirect, render
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


@routes.get("/@{username}/media", Visitor(), summary="An account's posts with pictures and videos")
async def profile_media(request: Request[Caller]) -> Response:
    """Returns the page of those posts of an account with files that the reader may see."""
    return await profile_page(request, media=True)


@routes.get("/@{username}/followers", Page(), summary="Who follows an account")
async def profile_followers(request: Request[Caller]) -> Response:
    """Returns a page of an account's followers, where it shows them."""
    return await people_page(request, followers=True)


@routes.get("/@{username}/following", Page(), summary="Whom an account follows")
async def profile_following(request: Request[Caller]) -> Response:
    """Returns a page of the accounts that an account follows, where it shows them."""
    return await people_page(request, followers=False)


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
    values: dict[str, object] = {
        "tag": name,
        "robots": None,
        "feed": f"/tag/{percent_encoded(name, safe='')}/feed",
    }
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
    shown = clip_shape(view, addresses)
    values = {
        "gone": False,
        "clip": shown,
        "awaits_files": awaits_files(clips=[shown]),
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


P = ParamSpec("P")
R = TypeVar("R")

ON_ONE_PAGE: Final = 50
"""So many comments surely stand on the first page of a thread."""


NOTICES: Final = {
    "save": "post-saved",
    "bounce": "post-bounced",
    "mute": "account-muted",
    "block": "account-blocked",
}
"""The notice after an act whose effect is elsewhere, by the end of its path."""


class Made(msgspec.Struct):
    """The stored answer of an act, so that a form that is sent twice acts once."""

    id: str


async def show_permalink(request: Request[Caller], form: FormState) -> Response:
    """Renders the page of the post with the form's errors. Raises NotFound."""
    found = await read_permalink(request)
    if found.view.post.deleted_at is not None:
        raise NotFound("There is no such post.")
    return await post_page(request, found, form)


@routes.submit("/post/{id}/like", Page(), again=show_permalink, summary="Like a post")
async def like(request: Request[Caller], body: NoFields) -> Response:
    """Likes the post and leads back."""
    return await _act(request, react.like_post)


@routes.submit("/post/{id}/unlike", Page(), again=show_permalink, summary="Take a like back")
async def unlike(request: Request[Caller], body: NoFields) -> Response:
    """Takes the like back and leads back."""
    return await _act(request, react.unlike_post)


@routes.submit("/post/{id}/save", Page(), again=show_permalink, summary="Save a post")
async def save(request: Request[Caller], body: NoFields) -> Response:
    """Saves the post and leads back."""
    return await _act(request, react.save_post)


@routes.submit("/post/{id}/unsave", Page(), again=show_permalink, summary="Take a save back")
async def unsave(request: Request[Caller], body: NoFields) -> Response:
    """Takes the mark back and leads back."""
    return await _act(request, react.unsave_post)


@routes.submit("/post/{id}/bounce", Page(), again=show_permalink, summary="Bounce a post")
async def bounce_post(request: Request[Caller], body: NoFields) -> Response:
    """Bounces the post plainly and leads back."""
    return await _act(request, publish.bounce_post, None, allowance_of(request.settings))


@routes.submit("/post/{id}/unbounce", Page(), again=show_permalink, summary="Take a bounce back")
async def unbounce(request: Request[Caller], body: NoFields) -> Response:
    """Deletes the reader's plain bounce and leads back."""
    return await _act(request, publish.unbounce_post)


@routes.submit(
    "/post/{id}/vote", Page(), fields=FormFields(lists={"choices"}), again=show_permalink, summary="Vote in a poll"
)
async def vote(request: Request[Caller], body: Vote) -> Response:
    """Votes and leads back to the poll."""
    return await _act(request, react.vote, body.choices)


@routes.submit("/post/{id}/comment", Page(), again=show_permalink, summary="Comment on a post")
async def comment(request: Request[Caller], body: CreateComment) -> Response:
    """Comments, or replies, and leads to the comment."""
    post_id = request.parameters["id"]
    answer = await request.once(add_comment, place_of, request.caller, post_id, body.draft())
    made = msgspec.json.decode(answer.body, type=Place)
    post = await request.db.read(lookup.get_post, post_id, request.caller.account.id)
    further = bool(given(request, "after")) or post.comments > ON_ONE_PAGE
    return redirect(made.path if further else f"/post/{post_id}#comment-{made.id}")


async def show_quote(request: Request[Caller], form: FormState) -> Response:
    """Returns the page of a quote that is being written. Raises NotFound, and Unprocessable for a post that its
    visibility keeps in."""
    view = await request.db.read(_quoted, request.parameters["id"], request.caller.account.id)
    return await quote_page(request, view, form)


@routes.form("/post/{id}/quote", Page(), show=show_quote, summary="Quote a post")
async def quote(request: Request[Caller], body: BouncePost) -> Response:
    """Publishes the quote and leads to it."""
    content = body.commentary()
    if content is None:
        raise Invalid([FieldError("content", Code.REQUIRED, "Say something about it, or bounce it without a word.")])
    post_id, allowance = request.parameters["id"], allowance_of(request.settings)
    if content.link is not None:
        await await_card(request, publish.precheck_quote, request.caller, post_id, content, allowance)
    answer = await request.once(publish.bounce_post, _made, request.caller, post_id, content, allowance)
    return redirect(f"/post/{msgspec.json.decode(answer.body, type=Made).id}")


@routes.submit("/@{username}/follow", Page(), again=profile_page, summary="Follow an account")
async def follow_account(request: Request[Caller], body: NoFields) -> Response:
    """Follows the account, or asks to, and leads back."""
    return await _act_on(request, f"/@{request.parameters['username']}", follow, request.parameters["username"])


@routes.submit("/@{username}/unfollow", Page(), again=profile_page, summary="Unfollow an account")
async def unfollow_account(request: Request[Caller], body: NoFields) -> Response:
    """Follows the account no longer, or takes the request back, and leads back."""
    return await _act_on(request, f"/@{request.parameters['username']}", unfollow, request.parameters["username"])


async def ask_to_block(request: Request[Caller], form: FormState) -> Response:
    """Returns the page that asks whether to block the account. Raises NotFound."""
    other = await request.db.read(get_account_by_username, request.parameters["username"])
    values = {"username": other.username, "next": own_path(given(request, "next"), f"/@{other.username}")}
    return await render(request, "reading/block.html", values, form=form)


@routes.form("/@{username}/block", Page(), show=ask_to_block, summary="Block an account")
async def block_account(request: Request[Caller], body: NoFields) -> Response:
    """Blocks the account and leads back."""
    return await _act_on(request, f"/@{request.parameters['username']}", privacy.block, request.parameters["username"])


@routes.submit("/@{username}/unblock", Page(), again=profile_page, summary="Unblock an account")
async def unblock_account(request: Request[Caller], body: NoFields) -> Response:
    """Takes the block back and leads back."""
    return await _act_on(
        request, f"/@{request.parameters['username']}", privacy.unblock, request.parameters["username"]
    )


@routes.submit("/@{username}/mute", Page(), again=profile_page, summary="Mute an account")
async def mute_account(request: Request[Caller], body: NoFields) -> Response:
    """Mutes the account and leads back."""
    return await _act_on(request, f"/@{request.parameters['username']}", privacy.mute, request.parameters["username"])


@routes.submit("/@{username}/unmute", Page(), again=profile_page, summary="Unmute an account")
async def unmute_account(request: Request[Caller], body: NoFields) -> Response:
    """Takes the mute back and leads back."""
    return await _act_on(request, f"/@{request.parameters['username']}", privacy.unmute, request.parameters["username"])


@routes.submit("/hub/{slug}/join", Page(), again=hub_page, summary="Join a hub")
async def join(request: Request[Caller], body: NoFields) -> Response:
    """Joins the hub and leads back."""
    return await _act_on(request, f"/hub/{request.parameters['slug']}", join_by_slug, request.parameters["slug"])


@routes.submit("/hub/{slug}/leave", Page(), again=hub_page, summary="Leave a hub")
async def leave(request: Request[Caller], body: NoFields) -> Response:
    """Leaves the hub and leads back."""
    return await _act_on(request, f"/hub/{request.parameters['slug']}", leave_by_slug, request.parameters["slug"])


async def _act(
    request: Request[Caller],
    action: Callable[Concatenate[Tx, Caller, str, P], Awaitable[R]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Response:
    """Runs an action on the post of the path, and redirects to the page that the form was on."""
    post_id = request.parameters["id"]
    return await _act_on(request, f"/post/{post_id}", action, post_id, *args, **kwargs)


async def _act_on(
    request: Request[Caller],
    page: str,
    action: Callable[Concatenate[Tx, Caller, str, P], Awaitable[R]],
    name: str,
    *args: P.args,
    **kwargs: P.kwargs,
) -> Response:
    """Runs an action on the post, account or hub called `name`, and redirects to `page`, or to the form's `next`."""
    await request.once(action, lambda _: Made(name), request.caller, name, *args, **kwargs)
    return redirect(own_path(given(request, "next"), page), done=NOTICES.get(request.path.rpartition("/")[2]))


async def _quoted(tx: Tx, post_id: str, reader: str) -> PostView:
    view = await lookup.get_view(tx, post_id, reader)
    if view.post.type == PostType.SHARE:
        if view.original is None:
            raise NotFound("There is no such post.")
        view = view.original
    if view.post.visibility != Visibility.PUBLIC:
        message = f"Only PUBLIC posts can be quoted; this one is {view.post.visibility}."
        raise Unprocessable([FieldError("body", Code.NOT_ALLOWED, message)])
    return view


def _made(view: PostView) -> Made:
    return Made(view.post.id)
