"""Blocking e-mail addresses for sign-up, over HTTP (docs/moderation.md#blocked-addresses)."""

from typing import Final

from pressroom.domains.accounts import blocks
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.queries import list_blocks as read_stored_blocks
from pressroom.domains.accounts.schemas import MessageOut
from pressroom.domains.audit.models import Actor, Source
from pressroom.domains.moderation.schemas import NO_PATTERN, BlockList, BlockOut, CreateBlock, block_shape
from pressroom.errors import Code, Conflict, FieldError, Invalid, NotFound
from pressroom.web.access import AdminOnly
from pressroom.web.paging import read_page, read_paged
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag

TAG: Final = Tag("Moderation", "What readers report, what admins decide about it, and who cannot sign up.")
routes: Final = Routes[Caller](TAG)


@routes.get(
    "/api/admin/blocks",
    AdminOnly(),
    summary="List blocked addresses",
    gives=BlockList,
    paged=True,
    response_example=BlockList([BlockOut.example()], None),
)
async def list_blocks(request: Request[Caller]) -> Response:
    """E-mail addresses, domains and networks that nobody can sign up with, newest first."""
    shown, cursor = await read_blocks(request)
    return json_response(BlockList(shown, cursor))


@routes.post(
    "/api/admin/blocks",
    AdminOnly(recent=True),
    summary="Block e-mail addresses or a network",
    gives=BlockOut,
    location="/api/admin/blocks",
    fails=(
        Invalid([FieldError("pattern", Code.INVALID_FORMAT, NO_PATTERN)]),
        Conflict("spam.example is blocked already."),
    ),
)
async def create_block(request: Request[Caller], body: CreateBlock) -> Response:
    """From now on nobody signs up with this e-mail address, or with one of this domain or below it, or changes theirs
    to it; of a network, nobody signs up from there. Accounts that are there stay."""
    return await request.once(blocks.block, block_shape, admin_of(request), body.canonical, body.reason)


@routes.delete(
    "/api/admin/blocks/{id}",
    AdminOnly(recent=True),
    summary="Take a block off",
    gives=MessageOut,
    fails=(NotFound("There is no such block."),),
    response_example=MessageOut("spam.example is not blocked any more"),
)
async def delete_block(request: Request[Caller]) -> Response:
    """From now on people can sign up with it again."""
    return await request.once(
        blocks.unblock,
        lambda pattern: MessageOut(f"{pattern} is not blocked any more"),
        admin_of(request),
        request.parameters["id"],
    )


async def read_blocks(request: Request[Caller]) -> tuple[list[BlockOut], str | None]:
    """Returns the page of blocks that the query asks for, and the cursor of the next one. Raises Invalid."""
    page = read_page(request.query if request.is_safe else "")
    shown, cursor = await read_paged(request, lambda block: block.id, read_stored_blocks, page=page)
    return [block_shape(block) for block in shown], cursor


def admin_of(request: Request[Caller]) -> Source:
    """Returns who acts, for the audit log."""
    return Source(request.client, actor=Actor.ADMIN, admin_id=request.caller.account.id)
