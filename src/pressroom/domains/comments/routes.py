"""Comments over HTTP."""

from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from pressroom.domains.accounts.models import Caller, reader_of
from pressroom.domains.comments import actions
from pressroom.domains.comments.models import NO_PARENT, Comment
from pressroom.domains.comments.schemas import CommentList, CommentOut, CreateComment, EditComment, comment_shape
from pressroom.domains.posts.schemas import DeletedOut
from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.access import Keyed, SessionOnly
from pressroom.web.paging import read_paged
from pressroom.web.permalinks import Permalinks
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG = Tag("Comments", "What is said under posts.")
routes: Final = Routes[Caller](TAG)


_NO_COMMENT = NotFound("There is no such comment.")
_NO_POST = NotFound("There is no such post.")


@routes.post(
    "/api/posts/{id}/comments",
    Keyed("comments:write"),
    summary="Comment on a post",
    gives=CommentOut,
    location="/api/posts/{id}/comments",
    fails=(
        Invalid([FieldError("content", Code.TOO_LONG, "At most 500 characters; this has 612.")]),
        _NO_POST,
        Unprocessable([FieldError("parentId", Code.NOT_ALLOWED, NO_PARENT)]),
    ),
)
async def create_comment(request: Request[Caller], body: CreateComment) -> Response:
    """Comments on a post that the account may see; with parentId, replies to a comment on it. Replies nest as deep
    as you like."""
    return await request.once(
        actions.add_comment, _shown(request), request.caller, request.parameters["id"], body.draft()
    )


@routes.get(
    "/api/posts/{id}/comments",
    Keyed(anyone=True),
    summary="List comments",
    gives=CommentList,
    fails=(_NO_POST,),
    paged=True,
    response_example=CommentList([CommentOut.example()], None),
)
async def list_comments(request: Request[Caller]) -> Response:
    """All comments on a post that the reader may see, replies among them, oldest first. With a key: on what its
    account published and on what anyone may see."""
    reader = reader_of(request.who)
    in_time = partial(actions.list_in_time, by_key=reader.by_key)
    shown, cursor = await read_paged(
        request, lambda comment: comment.id, in_time, request.parameters["id"], reader.id, oldest_first=True
    )
    return json_response(CommentList([_shown(request)(each) for each in shown], cursor))


@routes.patch(
    "/api/comments/{id}",
    SessionOnly(),
    summary="Edit a comment",
    gives=CommentOut,
    fails=(
        Invalid([FieldError("content", Code.TOO_LONG, "At most 500 characters; this has 612.")]),
        _NO_COMMENT,
        Unprocessable([FieldError("body", Code.NOT_ALLOWED, "A comment can be edited for 15 minutes.")]),
    ),
    response_example=msgspec.structs.replace(
        CommentOut.example(), content=EditComment.example().content, edited_at="2026-11-20T16:52:40.120Z"
    ),
)
async def edit_comment(request: Request[Caller], body: EditComment) -> Response:
    """Replaces the content of one of the account's own comments, within 15 minutes, and sets editedAt. Its media
    stays. No event tells of it."""
    return await request.once(
        actions.edit_comment, _shown(request), request.caller, request.parameters["id"], body.content
    )


@routes.delete(
    "/api/comments/{id}",
    SessionOnly(),
    summary="Delete a comment",
    gives=DeletedOut,
    fails=(_NO_COMMENT,),
    response_example=DeletedOut("Comment deleted", CommentOut.example().id),
)
async def delete_comment(request: Request[Caller]) -> Response:
    """Deletes one of the account's own comments, or one under a post of its own. Replies stay. A second deletion is a
    404. No event tells of it."""
    return await request.once(
        actions.delete_comment,
        lambda comment: DeletedOut("Comment deleted", comment.id),
        request.caller,
        request.parameters["id"],
    )


def _shown(request: Request[Caller]) -> Callable[[Comment], CommentOut]:
    settings = request.settings
    permalinks = Permalinks(settings.permalink_base)
    return lambda comment: comment_shape(comment, settings.base_url, permalinks)
