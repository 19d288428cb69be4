"""Reactions over HTTP: likes, saves and votes."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.posts.actions import react
from pressroom.domains.posts.examples import VOTE_EXAMPLE, VOTED_EXAMPLE
from pressroom.domains.posts.poll_schemas import PollOut, Vote, poll_shape
from pressroom.domains.posts.refusals import NO_POST
from pressroom.domains.posts.schemas import LikedOut, SavedOut
from pressroom.errors import Code, Conflict, FieldError, Invalid, NotFound, Unprocessable
from pressroom.web.access import SessionOnly
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes, Tag

routes: Final = Routes[Caller]()


REACTIONS: Final = Tag("Reactions", "What signed-in readers do with posts.")


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
    return await request.once(react.like_post, lambda _: LikedOut(True), 200, request.caller, request.parameters["id"])


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
    return await request.once(
        react.unlike_post, lambda _: LikedOut(False), 200, request.caller, request.parameters["id"]
    )


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
    return await request.once(react.save_post, lambda _: SavedOut(True), 200, request.caller, request.parameters["id"])


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
    return await request.once(
        react.unsave_post, lambda _: SavedOut(False), 200, request.caller, request.parameters["id"]
    )


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
        react.vote, lambda poll: poll_shape(poll, now), 200, request.caller, request.parameters["id"], body.choices
    )
