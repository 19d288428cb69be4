"""The pages on which people choose their picture and their cover (docs/media.md#avatars-and-covers)."""

from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.media.models import AccountPicture
from pressroom.domains.media.routes import drop_picture, picture_files, read_picture, save_picture
from pressroom.domains.media.schemas import SetAvatar, SetCover
from pressroom.web.access import Page
from pressroom.web.page_forms import FormState, NoFields
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


PICTURE: Final = "/settings/profile/picture"
COVER: Final = "/settings/profile/cover"


async def show_picture_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the forms of the picture."""
    values = {"picture": await read_picture(request, AccountPicture.AVATAR), "here": PICTURE}
    return await render(request, "accounts/picture.html", values, form=form)


async def show_cover_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the forms of the cover."""
    values = {"picture": await read_picture(request, AccountPicture.COVER), "here": COVER}
    return await render(request, "accounts/cover.html", values, form=form)


@routes.form(
    PICTURE, Page(), show=show_picture_form, files=picture_files(AccountPicture.AVATAR), summary="Set the picture"
)
async def set_picture(request: Request[Caller], body: SetAvatar) -> Response:
    """Saves a picture like PUT /api/auth/me/avatar."""
    await save_picture(request, AccountPicture.AVATAR)
    return redirect(PICTURE, done="picture-saved")


@routes.submit(f"{PICTURE}/remove", Page(), again=show_picture_form, summary="Remove the picture")
async def remove_picture(request: Request[Caller], body: NoFields) -> Response:
    """Removes the picture like DELETE /api/auth/me/avatar."""
    await drop_picture(request, AccountPicture.AVATAR)
    return redirect(PICTURE, done="picture-removed")


@routes.form(COVER, Page(), show=show_cover_form, files=picture_files(AccountPicture.COVER), summary="Set the cover")
async def set_own_cover(request: Request[Caller], body: SetCover) -> Response:
    """Saves a picture like PUT /api/auth/me/cover."""
    await save_picture(request, AccountPicture.COVER)
    return redirect(COVER, done="cover-saved")


@routes.submit(f"{COVER}/remove", Page(), again=show_cover_form, summary="Remove the cover")
async def remove_own_cover(request: Request[Caller], body: NoFields) -> Response:
    """Removes the cover like DELETE /api/auth/me/cover."""
    await drop_picture(request, AccountPicture.COVER)
    return redirect(COVER, done="cover-removed")
