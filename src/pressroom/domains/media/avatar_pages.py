"""The page on which people choose their picture (docs/media.md#avatars)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.media.avatar_actions import find_avatar
from pressroom.domains.media.avatar_routes import AVATAR_RULES, avatar_errors, drop_avatar, save_avatar
from pressroom.domains.media.avatar_schemas import SetAvatar, avatar_shape
from pressroom.web.access import Page
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import FormFiles, Route, declare, declare_form

PICTURE: Final = "/settings/profile/picture"


async def show_picture_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the forms of the picture."""
    account = request.caller.account
    avatar = await request.db.read(find_avatar, account.id)
    values = {"picture": avatar_shape(account.id, avatar, request.settings.base_url)}
    return await render(request, "accounts/picture.html", values, form=form)


@declare("GET", PICTURE, Page(), summary="One's own picture")
async def show_picture(request: Request[Caller]) -> Response:
    """What others see as the account's picture, and the form of another one."""
    return await show_picture_form(request, FormState())


@declare_form(
    PICTURE,
    Page(),
    takes=SetAvatar,
    again=show_picture_form,
    files=FormFiles(AVATAR_RULES, avatar_errors),
    summary="Set the picture",
)
async def set_picture(request: Request[Caller], body: SetAvatar) -> Response:
    """Saves a picture like PUT /api/auth/me/avatar."""
    await save_avatar(request)
    return redirect(PICTURE, done="picture-saved")


@declare_form(f"{PICTURE}/remove", Page(), takes=NoFields, again=show_picture_form, summary="Remove the picture")
async def remove_picture(request: Request[Caller], body: NoFields) -> Response:
    """Removes the picture like DELETE /api/auth/me/avatar."""
    await drop_avatar(request)
    return redirect(PICTURE, done="picture-removed")


ROUTES: Final[tuple[Route[Caller], ...]] = (show_picture, set_picture, remove_picture)
