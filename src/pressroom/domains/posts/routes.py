"""Posts and reactions to them over HTTP."""

from collections.abc import Awaitable, Callable
from typing import Concatenate, Final, ParamSpec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller, reader_of
from pressroom.domains.limits.actions import allowance_of
from pressroom.domains.media.uploads import staged_uploads
from pressroom.domains.media.urls import addresses_of
from pressroom.domains.posts.actions import edit, lookup, publish, reach, react
from pressroom.domains.posts.examples import (
    AUDIENCE_EXAMPLE,
    BAD_POST,
    BAD_UPLOAD,
    BOUNCE_EXAMPLE,
    BOUNCE_POST_EXAMPLE,
    EDIT_POST_EXAMPLE,
    EDITED_POST_EXAMPLE,
    MEDIA_QUOTA_REACHED,
    NO_POST,
    NOT_A_MEMBER,
    POST_EXAMPLE,
    UPLOAD_POST_EXAMPLE,
    UPLOADED_POST_EXAMPLE,
    VOTE_EXAMPLE,
    VOTED_EXAMPLE,
)
from pressroom.domains.posts.forms import UPLOAD_FORM, UploadPost
from pressroom.domains.posts.models import PostView
from pressroom.domains.posts.poll_schemas import PollOut, Vote, poll_shape
from pressroom.domains.posts.schemas import (
    AllowlistOut,
    AudienceOut,
    BouncePost,
    CreatePost,
    DeletedOut,
    EditPost,
    LikedOut,
    PostBody,
    PostList,
    PostOut,
    SavedOut,
    SetAudience,
    post_shape,
)
from pressroom.errors import Code, Conflict, FieldError, Invalid, NotFound, QuotaExceeded, Unprocessable
from pressroom.web.access import Keyed, SessionOnly
from pressroom.web.paging import read_page, read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Posts", "What an account publishes.")
REACTIONS: Final = Tag("Reactions", "What signed-in readers do with posts.")
routes: Final = Routes[Caller](TAG)


P = ParamSpec("P")


@routes.get(
    "/api/saved",
    SessionOnly(),
    summary="List what you saved",
    gives=PostList,
    tag=REACTIONS,
    paged=True,
    response_example=PostList([POST_EXAMPLE], None),
)
async def list_saved(request: Request[Caller]) -> Response:
    """The posts that the account saved, newest post first. What was deleted, or is no longer for the account to see, is
    left out, so a page may have fewer than `limit`."""
    page = read_page(request.query)
    views, cursor = await request.db.read(lookup.list_saved, request.caller.account.id, page.before, page.limit)
    return json_response(PostList([_shown(request)(view) for view in views], cursor))


@routes.post(
    "/api/posts",
    Keyed("posts:write", counts_as_post=True, spends_content=True),
    summary="Publish a post",
    gives=PostOut,
    location="/api/posts/{made}",
    fails=(BAD_POST, NOT_A_MEMBER, QuotaExceeded),
    response_example=POST_EXAMPLE,
)
async def create_post(request: Request[Caller], body: CreatePost) -> Response:
    """Publishes a post in the name of the account. Hashtags and mentions are found in the text; mentioned accounts
    that may see the post are notified, 50 at the most. With a key it counts against the key's posts per minute and
    the account's content quota of the UTC day; signed in, against the account's own limits."""
    _check_signed_in_for_comments(request, body)
    new, allowance = body.new_post(), allowance_of(request.settings)
    if new.card_url is not None:
        await await_card(request, publish.precheck_post, request.caller, new, allowance)
    return await request.once(publish.publish_post, _shown(request), request.caller, new, allowance)


@routes.post(
    "/api/posts/upload",
    Keyed("media:write", spends_content=True),
    summary="Publish a post with media",
    gives=PostOut,
    location="/api/posts/{made}",
    fails=(BAD_UPLOAD, NOT_A_MEMBER, MEDIA_QUOTA_REACHED, QuotaExceeded),
    form=UPLOAD_FORM,
    example=UPLOAD_POST_EXAMPLE,
    response_example=UPLOADED_POST_EXAMPLE,
)
async def upload_post(request: Request[Caller], body: UploadPost) -> Response:
    """Publishes a post with up to 4 files of 8 MB each, signed in up to 10 of 50 MB. What a file is comes from its
    bytes. Each is processed after the answer: `url` answers 404 until `processingStatus` is READY. Otherwise it is like
    publishing a post, but for polls and link previews. An account may store a bounded sum of bytes of media; what does
    not fit is a 422."""
    _check_signed_in_for_comments(request, body)
    if (response := await request.once.stored()) is not None:
        return response
    async with staged_uploads(request, body.alt_text or []) as staged:
        new, allowance = body.new_post(staged.files), allowance_of(request.settings)
        return staged.answered(
            await request.once(publish.publish_post, _shown(request), request.caller, new, allowance)
        )


@routes.get(
    "/api/posts",
    SessionOnly(),
    summary="List your posts",
    gives=PostList,
    paged=True,
    response_example=PostList([POST_EXAMPLE], None),
)
async def list_posts(request: Request[Caller]) -> Response:
    """The account's posts and bounces of every visibility that are not deleted, newest first."""
    own = request.caller.account.id
    shown, cursor = await read_paged(request, lambda view: view.post.id, lookup.list_of_account, own, own)
    return json_response(PostList([_shown(request)(view) for view in shown], cursor))


@routes.get(
    "/api/posts/{id}",
    Keyed(anyone=True),
    summary="Show a post",
    gives=PostOut,
    fails=(NO_POST,),
    response_example=POST_EXAMPLE,
)
async def show_post(request: Request[Caller]) -> Response:
    """One post, if it stands and the reader may see it: with a key, what its account published and what anyone may
    see. Ask again until each `processingStatus` has left PROCESSING. Its permalink is /post/{id}."""
    reader = reader_of(request.who)
    view = await request.db.read(lookup.get_view, request.parameters["id"], reader.id, by_key=reader.by_key)
    return json_response(_shown(request)(view))


@routes.patch(
    "/api/posts/{id}",
    Keyed("posts:write"),
    summary="Edit a post",
    gives=PostOut,
    fails=(
        Invalid([FieldError("body", Code.REQUIRED, "Give at least one of content, visibility and comments.")]),
        NO_POST,
        Unprocessable([FieldError("visibility", Code.NOT_ALLOWED, "A bounce is always PUBLIC.")]),
    ),
    example=EDIT_POST_EXAMPLE,
    response_example=EDITED_POST_EXAMPLE,
)
async def edit_post(request: Request[Caller], body: EditPost) -> Response:
    """Replaces the content, the visibility or both of one of the account's own posts and sets editedAt. The version
    before is kept. A change of `comments` alone does neither. Hashtags and mentions follow the new text; nobody is
    notified twice of one post. Of a quote bounce the content alone can be edited, of a plain bounce nothing."""
    _check_signed_in_for_comments(request, body)
    post_id, changes = request.parameters["id"], body.edit()
    if changes.content is not None and changes.content.link is not None:
        await await_card(request, edit.precheck_edit, request.caller, post_id, changes)
    return await request.once(edit.edit_post, _shown(request), request.caller, post_id, changes)


@routes.delete(
    "/api/posts/{id}",
    Keyed("posts:delete"),
    summary="Delete a post",
    gives=DeletedOut,
    fails=(NO_POST,),
    response_example=DeletedOut("Post deleted", POST_EXAMPLE.id),
)
async def delete_post(request: Request[Caller]) -> Response:
    """Deletes one of the account's own posts: it is shown no more, its permalink answers 410, and bounces of it show
    no original. A second deletion is a 404; under the same Idempotency-Key it is a replay. Spent quota stays spent."""
    return await request.once(
        edit.delete_post, lambda post_id: DeletedOut("Post deleted", post_id), request.caller, request.parameters["id"]
    )


@routes.post(
    "/api/posts/{id}/bounce",
    Keyed("bounces:write", spends_content=True),
    summary="Bounce a post",
    body_optional=True,
    gives=PostOut,
    location="/api/posts/{made}",
    fails=(
        Invalid([FieldError("content", Code.TOO_LONG, "At most 5,000 characters; this has 5,214.")]),
        NO_POST,
        Conflict("The account has bounced this post already. Delete that bounce first, or quote the post."),
        Unprocessable(
            [FieldError("body", Code.NOT_ALLOWED, "Only PUBLIC posts can be bounced; this one is FOLLOWERS.")]
        ),
        QuotaExceeded,
    ),
    example=BOUNCE_POST_EXAMPLE,
    response_example=BOUNCE_EXAMPLE,
)
async def bounce_post(request: Request[Caller], body: BouncePost) -> Response:
    """Shares a PUBLIC post again: without content as a plain bounce, of which an account can have one of each post,
    with content as a quote. Bouncing a plain bounce bounces what it shares. Either counts against the account's
    content quota of the UTC day."""
    post_id, content, allowance = request.parameters["id"], body.commentary(), allowance_of(request.settings)
    if content is not None and content.link is not None:
        await await_card(request, publish.precheck_quote, request.caller, post_id, content, allowance)
    return await request.once(publish.bounce_post, _shown(request), request.caller, post_id, content, allowance)


@routes.get(
    "/api/posts/{id}/audience",
    SessionOnly(),
    summary="Show the allowlist",
    gives=AllowlistOut,
    fails=(NO_POST,),
    response_example=AllowlistOut(AUDIENCE_EXAMPLE.usernames),
)
async def show_audience(request: Request[Caller]) -> Response:
    """The allowlist of one of the account's own posts, by user name in the order of the alphabet. It counts
    while the post's visibility is CUSTOM."""
    _, names = await request.db.read(reach.list_audience, request.caller, request.parameters["id"])
    return json_response(AllowlistOut(names))


@routes.put(
    "/api/posts/{id}/audience",
    SessionOnly(),
    summary="Set the allowlist",
    gives=AudienceOut,
    fails=(
        Invalid([FieldError("usernames[1]", Code.DUPLICATE, "otto is named twice.")]),
        NO_POST,
        Unprocessable([FieldError("usernames[1]", Code.INVALID_CHOICE, "There is no account otto.")]),
    ),
    example=AUDIENCE_EXAMPLE,
    response_example=AudienceOut(2),
)
async def set_audience(request: Request[Caller], body: SetAudience) -> Response:
    """Makes these accounts the allowlist of one of the account's own posts, instead of those before. It counts while
    the post's visibility is CUSTOM."""
    return await request.once(reach.set_audience, AudienceOut, request.caller, request.parameters["id"], body.usernames)


@routes.post(
    "/api/posts/{id}/like",
    SessionOnly(),
    summary="Like a post",
    gives=LikedOut,
    fails=(NO_POST,),
    tag=REACTIONS,
    response_example=LikedOut(True),
)
async def like_post(request: Request[Caller]) -> Response:
    """The account likes the post. Once more changes nothing."""
    return await request.once(react.like_post, lambda _: LikedOut(True), request.caller, request.parameters["id"])


@routes.delete(
    "/api/posts/{id}/like",
    SessionOnly(),
    summary="Take a like back",
    gives=LikedOut,
    fails=(NO_POST,),
    tag=REACTIONS,
    response_example=LikedOut(False),
)
async def unlike_post(request: Request[Caller]) -> Response:
    """The account likes the post no longer. Where it did not, nothing changes."""
    return await request.once(react.unlike_post, lambda _: LikedOut(False), request.caller, request.parameters["id"])


@routes.post(
    "/api/posts/{id}/save",
    SessionOnly(),
    summary="Save a post",
    gives=SavedOut,
    fails=(NO_POST,),
    tag=REACTIONS,
    response_example=SavedOut(True),
)
async def save_post(request: Request[Caller]) -> Response:
    """Marks the post for the account alone. Once more changes nothing."""
    return await request.once(react.save_post, lambda _: SavedOut(True), request.caller, request.parameters["id"])


@routes.delete(
    "/api/posts/{id}/save",
    SessionOnly(),
    summary="Take a save back",
    gives=SavedOut,
    fails=(NO_POST,),
    tag=REACTIONS,
    response_example=SavedOut(False),
)
async def unsave_post(request: Request[Caller]) -> Response:
    """Takes the mark back. Where there is none, nothing changes."""
    return await request.once(react.unsave_post, lambda _: SavedOut(False), request.caller, request.parameters["id"])


@routes.post(
    "/api/posts/{id}/poll/votes",
    SessionOnly(),
    summary="Vote in a poll",
    gives=PollOut,
    fails=(
        Invalid([FieldError("choices", Code.TOO_MANY, "This poll takes a single choice.")]),
        NotFound("This post has no poll."),
        Conflict("The account has voted in this poll already; a vote is final."),
        Unprocessable([FieldError("body", Code.NOT_ALLOWED, "This poll is closed.")]),
    ),
    tag=REACTIONS,
    example=VOTE_EXAMPLE,
    response_example=VOTED_EXAMPLE,
)
async def vote(request: Request[Caller], body: Vote) -> Response:
    """Votes, once and for all; the answer is the poll with the vote in it."""
    now = request.clock.now()
    return await request.once(
        react.vote, lambda poll: poll_shape(poll, now), request.caller, request.parameters["id"], body.choices
    )


async def await_card(
    request: Request[Caller],
    precheck: Callable[Concatenate[Tx, P], Awaitable[str | None]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> None:
    """Waits a little for the card of the page that a post is about to show, which `precheck` returns.

    A repeated request fetches nothing, and the action's refusals come before anything is fetched.
    """
    if await request.once.stored() is None and (url := await request.db.read(precheck, *args, **kwargs)) is not None:
        await request.services.await_card(url, request.caller.account.id)


def _check_signed_in_for_comments(request: Request[Caller], body: PostBody | EditPost) -> None:
    """Raises Invalid when a key sets the commenters: those are for the account's owner."""
    if body.comments is not None and request.caller.key is not None:
        raise Invalid([FieldError("comments", Code.NOT_ALLOWED, "A key cannot set this. Set it signed in.")])


def _shown(request: Request[Caller]) -> Callable[[PostView], PostOut]:
    addresses, now = addresses_of(request), request.clock.now()
    return lambda view: post_shape(view, addresses, now)
