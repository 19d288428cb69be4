"""Blocking e-mail addresses for sign-up, over HTTP (docs/moderation.md#blocked-addresses)."""

from collections.abc import Iterator
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso
from pressroom.domains.accounts import blocks
from pressroom.domains.accounts.models import Block, Caller
from pressroom.domains.accounts.queries import blocks as blocked
from pressroom.domains.accounts.schemas import MessageOut
from pressroom.domains.audit.models import Actor, Source
from pressroom.errors import Code, Conflict, FieldError, Invalid, NotFound
from pressroom.text import is_invisible
from pressroom.web.access import AdminOnly
from pressroom.web.json_bodies import Body
from pressroom.web.paging import read_page, split
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes, Tag
from pressroom.web.wire import SHOWN, Id, Time

TAG: Final = Tag("Moderation", "What readers report, what admins decide about it, and who cannot sign up.")
routes: Final = Routes[Caller](TAG)


_NEITHER: Final = "Give an e-mail address such as name@example.org, or a domain such as example.org."


class CreateBlock(Body):
    """An e-mail address or domain to block for sign-up."""

    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=320,
            description="An e-mail address, or a domain with all below it.",
            extra_json_schema={"pattern": r"^([^\s@]+@|@)?[^\s@.!]{1,63}(\.[^\s@.!]{1,63})*$"},
        ),
    ]
    reason: Annotated[
        str, Meta(min_length=1, max_length=500, description="For the admins.", extra_json_schema={"pattern": SHOWN})
    ]

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.reason and is_invisible(self.reason):
            yield FieldError("reason", Code.TOO_SHORT, "A reason has 1 to 500 characters that show.")
        if self.pattern and blocks.pattern_of(self.pattern) is None:
            yield FieldError("pattern", Code.INVALID_FORMAT, _NEITHER)

    @property
    def canonical(self) -> str:
        """The pattern as it is stored and compared."""
        return blocks.pattern_of(self.pattern) or ""

    @classmethod
    def example(cls) -> Self:
        return cls(pattern="spam.example", reason="Forty accounts in one night.")


class BlockOut(msgspec.Struct, rename="camel"):
    """An e-mail address or domain that nobody can sign up with."""

    id: Id
    pattern: str
    reason: str
    created_at: Time

    @classmethod
    def example(cls) -> Self:
        return cls(
            "01M7WXTRMHVA0Q1D2S5P8NYV0R", "spam.example", "Forty accounts in one night.", "2026-11-20T16:50:16.017Z"
        )


class BlockList(msgspec.Struct, rename="camel"):
    """A page of blocks, newest first."""

    blocks: list[BlockOut]
    next_cursor: Annotated[str | None, Meta(description="The cursor of the next page; null on the last.")]


def block_shape(block: Block) -> BlockOut:
    """Returns a block as admins see it."""
    return BlockOut(block.id, block.pattern, block.reason, iso(block.created_at))


@routes.get(
    "/api/admin/blocks",
    AdminOnly(),
    summary="List blocked e-mail addresses",
    gives=BlockList,
    paged=True,
    response_example=BlockList([BlockOut.example()], None),
)
async def list_blocks(request: Request[Caller]) -> Response:
    """E-mail addresses and domains that nobody can sign up with, newest first."""
    shown, cursor = await read_blocks(request)
    return json_response(BlockList(shown, cursor))


@routes.post(
    "/api/admin/blocks",
    AdminOnly(recent=True),
    summary="Block e-mail addresses",
    gives=BlockOut,
    location="/api/admin/blocks",
    fails=(
        Invalid([FieldError("pattern", Code.INVALID_FORMAT, _NEITHER)]),
        Conflict("spam.example is blocked already."),
    ),
)
async def create_block(request: Request[Caller], body: CreateBlock) -> Response:
    """From now on nobody signs up with this address, or with one of this domain or below it, or changes theirs to it.
    Accounts that are there stay."""
    return await request.once(blocks.block, block_shape, 201, admin_of(request), body.canonical, body.reason)


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
        200,
        admin_of(request),
        request.parameters["id"],
    )


async def read_blocks(request: Request[Caller]) -> tuple[list[BlockOut], str | None]:
    """Returns the page of blocks that the query asks for, and the cursor of the next one. Raises Invalid."""
    page = read_page(request.query if request.is_safe else "")
    found = await request.db.read(blocked.list_blocks, page.before, page.limit + 1)
    shown, cursor = split(found, page, lambda block: block.id)
    return [block_shape(block) for block in shown], cursor


def admin_of(request: Request[Caller]) -> Source:
    """Returns who acts, for the audit log."""
    return Source(request.client, actor=Actor.ADMIN, admin_id=request.caller.account.id)
