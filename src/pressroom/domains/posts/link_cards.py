"""Waits for the card of the page that a post is about to show (docs/previews.md)."""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec

from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.web.request import Request

P = ParamSpec("P")


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
