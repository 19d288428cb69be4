"""The page of blocked e-mail addresses (docs/moderation.md#blocked-addresses)."""

from typing import Final

from pressroom.domains.accounts import blocks
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.schemas import MessageOut
from pressroom.domains.moderation.routes import admin_of, read_blocks
from pressroom.domains.moderation.schemas import CreateBlock, block_shape
from pressroom.web.access import AdminPage
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


@routes.page("/admin/blocks", AdminPage(), summary="Blocked addresses")
async def show_blocks(request: Request[Caller], form: FormState) -> Response:
    """Renders the blocked addresses, with the form to block more."""
    shown, cursor = await read_blocks(request)
    values = {"blocks": shown, "next_page": cursor and f"?cursor={cursor}"}
    return await render(request, "accounts/blocks.html", values, form=form)


@routes.submit(
    "/admin/blocks", AdminPage(recent=True), again=show_blocks, summary="Block e-mail addresses or a network"
)
async def block_by_form(request: Request[Caller], body: CreateBlock) -> Response:
    """Blocks like POST /api/admin/blocks."""
    await request.once(blocks.block, block_shape, admin_of(request), body.canonical, body.reason)
    return redirect("/admin/blocks", done="address-blocked")


@routes.submit("/admin/blocks/{id}/remove", AdminPage(recent=True), again=show_blocks, summary="Take a block off")
async def unblock_by_form(request: Request[Caller], body: NoFields) -> Response:
    """Takes a block off like DELETE /api/admin/blocks/{id}."""
    await request.once(blocks.unblock, MessageOut, admin_of(request), request.parameters["id"])
    return redirect("/admin/blocks", done="address-unblocked")
