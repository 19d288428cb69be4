"""The page on which development mode shows the mail that it sent (docs/mail.md#settings)."""

from typing import Any, Final

from pressroom.errors import NotFound
from pressroom.web.access import Visitor
from pressroom.web.client_address import is_local
from pressroom.web.origin import names_own_host
from pressroom.web.rendering import render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Any]()


@routes.get("/dev/mail", Visitor(), summary="The mail that development mode sent")
async def show_mail(request: Request[Any]) -> Response:
    """The latest mails of this process, with their links; a 404 outside development mode, to other machines, and under
    foreign names."""
    kept = request.services.mail.kept
    is_here = is_local(request.peer, request.headers.forwarded_for)
    if kept is None or not is_here or not names_own_host(request.headers, request.settings.base_url):
        raise NotFound("There is nothing at this address. The API reference is at /docs.")
    return await render(request, "mail/sent.html", {"mails": list(kept)}, secret=True)
