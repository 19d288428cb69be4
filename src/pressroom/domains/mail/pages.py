"""The page on which development mode shows the mail that it sent (docs/mail.md#settings)."""

from typing import Any, Final

from pressroom.web.access import Visitor
from pressroom.web.rendering import check_developer, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Any]()


@routes.get("/dev/mail", Visitor(), summary="The mail that development mode sent")
async def show_mail(request: Request[Any]) -> Response:
    """The latest mails of this process, with their links; a 404 outside development mode, to other machines, and under
    foreign names."""
    kept = request.services.mail.kept
    check_developer(request, is_on=kept is not None)
    return await render(request, "mail/sent.html", {"mails": list(kept or ())}, secret=True)
