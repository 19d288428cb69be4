"""The drawings that stand for accounts without a picture (docs/media.md#avatars-and-covers)."""

from typing import Final

from pressroom.domains.accounts import queries
from pressroom.domains.accounts.models import Caller
from pressroom.web.access import Public
from pressroom.web.avatars import draw_avatar, drawing, id_of_drawing
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


FOR_AN_HOUR: Final = (b"cache-control", b"public, max-age=3600")


@routes.get("/avatars/{name}", Public(), summary="An account's drawn picture")
async def drawn_avatar(request: Request[Caller]) -> Response:
    """The initials of an account that has no picture of its own; a figure for one that is suspended, deleted or not
    there."""
    account_id = id_of_drawing(request.parameters["name"])
    name = await request.db.one(queries.FIND_SHOWN_NAME, account_id=account_id)
    return drawing(draw_avatar(account_id, name), FOR_AN_HOUR)
