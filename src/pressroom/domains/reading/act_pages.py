"""The forms of signed-in readers on the pages for reading (docs/web-app.md#actions-of-readers)."""

from collections.abc import Awaitable, Callable
from typing import Concatenate, Final, ParamSpec, TypeVar

import msgspec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.comments.actions import add_comment
from pressroom.domains.comments.pages import Place, place_of
from pressroom.domains.comments.schemas import CreateComment
from pressroom.domains.follows.actions import follow, unfollow
from pressroom.domains.hubs.actions import join_by_slug, leave_by_slug
from pressroom.domains.limits.allowance import allowance_of
from pressroom.domains.posts.actions import bounce, lookup, react
from pressroom.domains.posts.models import PostType, PostView
from pressroom.domains.posts.poll_schemas import Vote
from pressroom.domains.posts.schemas import BouncePost
from pressroom.domains.posts.visibility import Visibility
from pressroom.domains.reading.rendering import (
    given,
    hub_page,
    post_page,
    profile_page,
    quote_page,
    read_permalink,
)
from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.access import Page
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.rendering import own_path, redirect
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


P = ParamSpec("P")
R = TypeVar("R")

ON_ONE_PAGE: Final = 50
"""So many comments surely stand on the first page of a thread."""


class Made(msgspec.Struct):
    """The stored answer of an act, so that a form that is sent twice acts once."""

    id: str


async def show_post(request: Request[Caller], form: FormState) -> Response:
    """Renders the page of the post with the form's errors. Raises NotFound."""
    found = await read_permalink(request)
    if found.view.post.deleted_at is not None:
        raise NotFound("There is no such post.")
    return await post_page(request, found, form)


@routes.submit("/post/{id}/like", Page(), again=show_post, summary="Like a post")
async def like(request: Request[Caller], body: NoFields) -> Response:
    """Likes the post and leads back."""
    return await _act(request, react.like_post)


@routes.submit("/post/{id}/unlike", Page(), again=show_post, summary="Take a like back")
async def unlike(request: Request[Caller], body: NoFields) -> Response:
    """Takes the like back and leads back."""
    return await _act(request, react.unlike_post)


@routes.submit("/post/{id}/save", Page(), again=show_post, summary="Save a post")
async def save(request: Request[Caller], body: NoFields) -> Response:
    """Saves the post and leads back."""
    return await _act(request, react.save_post)


@routes.submit("/post/{id}/unsave", Page(), again=show_post, summary="Take a save back")
async def unsave(request: Request[Caller], body: NoFields) -> Response:
    """Takes the mark back and leads back."""
    return await _act(request, react.unsave_post)


@routes.submit("/post/{id}/bounce", Page(), again=show_post, summary="Bounce a post")
async def bounce_post(request: Request[Caller], body: NoFields) -> Response:
    """Bounces the post plainly and leads back."""
    return await _act(request, bounce.bounce_post, None, allowance_of(request.settings))


@routes.submit("/post/{id}/unbounce", Page(), again=show_post, summary="Take a bounce back")
async def unbounce(request: Request[Caller], body: NoFields) -> Response:
    """Deletes the reader's plain bounce and leads back."""
    return await _act(request, bounce.unbounce_post)


@routes.submit(
    "/post/{id}/vote", Page(), fields=FormFields(lists={"choices"}), again=show_post, summary="Vote in a poll"
)
async def vote(request: Request[Caller], body: Vote) -> Response:
    """Votes and leads back to the poll."""
    return await _act(request, react.vote, body.choices)


@routes.submit("/post/{id}/comment", Page(), again=show_post, summary="Comment on a post")
async def comment(request: Request[Caller], body: CreateComment) -> Response:
    """Comments, or replies, and leads to the comment."""
    post_id = request.parameters["id"]
    answer = await request.once(add_comment, place_of, 201, request.caller, post_id, body.draft())
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
    if content.link is not None and await request.once.stored() is None:
        url = await request.db.read(bounce.precheck_quote, request.caller, post_id, content, allowance)
        if url is not None:
            await request.services.await_card(url, request.caller.account.id)
    answer = await request.once(bounce.bounce_post, _made, 201, request.caller, post_id, content, allowance)
    return redirect(f"/post/{msgspec.json.decode(answer.body, type=Made).id}")


@routes.submit("/@{username}/follow", Page(), again=profile_page, summary="Follow an account")
async def follow_account(request: Request[Caller], body: NoFields) -> Response:
    """Follows the account, or asks to, and leads back."""
    return await _act_on(request, f"/@{request.parameters['username']}", follow, request.parameters["username"])


@routes.submit("/@{username}/unfollow", Page(), again=profile_page, summary="Unfollow an account")
async def unfollow_account(request: Request[Caller], body: NoFields) -> Response:
    """Follows the account no longer, or takes the request back, and leads back."""
    return await _act_on(request, f"/@{request.parameters['username']}", unfollow, request.parameters["username"])


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
    """Carries an act out on the post of the path, and leads back to where it was done."""
    post_id = request.parameters["id"]
    await request.once(action, lambda _: Made(post_id), 200, request.caller, post_id, *args, **kwargs)
    return redirect(own_path(given(request, "next"), f"/post/{post_id}"))


async def _act_on(
    request: Request[Caller], place: str, action: Callable[[Tx, Caller, str], Awaitable[object]], name: str
) -> Response:
    """Carries an act out on what is called `name`, and leads back: to `place`, unless the form names another."""
    await request.once(action, lambda _: Made(name), 200, request.caller, name)
    return redirect(own_path(given(request, "next"), place))


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
