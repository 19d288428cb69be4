"""Comments over HTTP."""

from collections.abc import Callable
from typing import Final

import msgspec

from pressroom.domains.accounts.models import Caller, reader_of
from pressroom.domains.comments import actions
from pressroom.domains.comments.models import NO_PARENT, Comment
from pressroom.domains.comments.schemas import (
    COMMENT_EXAMPLE,
    CREATE_COMMENT_EXAMPLE,
    EDIT_COMMENT_EXAMPLE,
    CommentList,
    CommentOut,
    CreateComment,
    EditComment,
    comment_shape,
)
from pressroom.domains.posts.schemas import DeletedOut
from pressroom.errors import Code, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.access import Keyed, SessionOnly
from pressroom.web.paging import read_page, split
from pressroom.web.permalinks import Permalinks
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Tag, declare, declare_with_body

TAG = Tag("Comments", "What is said under posts.")

_NO_COMMENT = NotFound("There is no such comment.")
_NO_POST = NotFound("There is no such post.")


@declare_with_body(
    "POST",
    "/api/posts/{id}/comments",
    Keyed("comments:write"),
    summary="Comment on a post",
    takes=CreateComment,
    gives=CommentOut,
    status=201,
    location="/api/posts/{id}/comments",
    fails=(
        Invalid([FieldError("content", Code.TOO_LONG, "At most 500 characters; this has 612.")]),
        _NO_POST,
        Unprocessable([FieldError("parentId", Code.NOT_ALLOWED, NO_PARENT)]),
    ),
    idempotent=True,
    tag=TAG,
    example=CREATE_COMMENT_EXAMPLE,
    response_example=COMMENT_EXAMPLE,
)
async def create_comment(request: Request[Caller], body: CreateComment) -> Response:
    """Comments on a post that the account may see; with parentId, replies to a comment on it. Replies nest as deep
    as you like."""
    return await request.once(
        actions.add_comment,
        _shown(request),
        201,
        request.caller,
        request.parameters["id"],
        body.draft(),
    )


@declare(
    "GET",
    "/api/posts/{id}/comments",
    Keyed(anyone=True),
    summary="List comments",
    gives=CommentList,
    fails=(Invalid([FieldError("limit", Code.OUT_OF_RANGE, "Must be a whole number from 1 to 100.")]), _NO_POST),
    tag=TAG,
    paged=True,
    response_example=CommentList([COMMENT_EXAMPLE], None),
)
async def list_comments(request: Request[Caller]) -> Response:
    """All comments on a post that the reader may see, replies among them, oldest first. With a key: on what its
    account published and on what anyone may see."""
    page = read_page(request.query)
    reader = reader_of(request.who)
    comments = await request.db.read(
        actions.list_in_time, request.parameters["id"], reader.id, page.after, page.limit + 1, by_key=reader.by_key
    )
    shown, cursor = split(comments, page, lambda comment: comment.id)
    return json_response(CommentList([_shown(request)(each) for each in shown], cursor))


@declare_with_body(
    "PATCH",
    "/api/comments/{id}",
    SessionOnly(),
    summary="Edit a comment",
    takes=EditComment,
    gives=CommentOut,
    fails=(
        Invalid([FieldError("content", Code.TOO_LONG, "At most 500 characters; this has 612.")]),
        _NO_COMMENT,
        Unprocessable([FieldError("body", Code.NOT_ALLOWED, "A comment can be edited for 15 minutes.")]),
    ),
    idempotent=True,
    tag=TAG,
    example=EDIT_COMMENT_EXAMPLE,
    response_example=msgspec.structs.replace(
        COMMENT_EXAMPLE, content=EDIT_COMMENT_EXAMPLE.content, edited_at="2026-11-20T16:52:40.120Z"
    ),
)
async def edit_comment(request: Request[Caller], body: EditComment) -> Response:
    """Replaces the content of one of the account's own comments, within 15 minutes, and sets editedAt. Its media
    stays. No event tells of it."""
    return await request.once(
        actions.edit_comment,
        _shown(request),
        200,
        request.caller,
        request.parameters["id"],
        body.content,
    )


@declare(
    "DELETE",
    "/api/comments/{id}",
    SessionOnly(),
    summary="Delete a comment",
    gives=DeletedOut,
    fails=(_NO_COMMENT,),
    idempotent=True,
    tag=TAG,
    response_example=DeletedOut("Comment deleted", COMMENT_EXAMPLE.id),
)
async def delete_comment(request: Request[Caller]) -> Response:
    """Deletes one of the account's own comments, or one under a post of its own. Replies stay. A second deletion is a
    404. No event tells of it."""
    return await request.once(
        actions.delete_comment,
        lambda comment: DeletedOut("Comment deleted", comment.id),
        200,
        request.caller,
        request.parameters["id"],
    )


def _shown(request: Request[Caller]) -> Callable[[Comment], CommentOut]:
    settings = request.settings
    permalinks = Permalinks(settings.permalink_base)
    return lambda comment: comment_shape(comment, settings.base_url, permalinks)


ROUTES: Final = (create_comment, list_comments, edit_comment, delete_comment)
