"""The page on which people edit their profile (docs/web-app.md#account), and drawn avatars."""

from typing import Final

from pressroom.domains.accounts import queries
from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.routes import save_profile
from pressroom.domains.accounts.schemas import EditProfile
from pressroom.web.access import Page, Public
from pressroom.web.avatars import draw_avatar, drawing, id_of_drawing
from pressroom.web.page_forms import FormFields, FormState
from pressroom.web.rendering import redirect, render
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


PROFILE: Final = "/settings/profile"


async def show_profile_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the form of the profile."""
    return await render(request, "accounts/profile.html", {"account": request.caller.account}, form=form)


@routes.form(
    PROFILE,
    Page(),
    fields=FormFields(empty_clears={"bio", "isPrivate", "discoverable"}),
    show=show_profile_form,
    summary="Edit the profile",
)
async def edit_profile(request: Request[Caller], body: EditProfile) -> Response:
    """Saves the names, the bio, and whether the account is private and discoverable."""
    await save_profile(request, body)
    return redirect(PROFILE, done="profile-saved")
