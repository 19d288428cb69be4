"""An account's avatar and cover over HTTP (docs/media.md#avatars-and-covers)."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.media import actions
from pressroom.domains.media.actions import find_pictures, remove_pictures
from pressroom.domains.media.models import FILE_BYTES_BY_KEY, AccountPicture, Pictures
from pressroom.domains.media.schemas import (
    AVATAR_EXAMPLE,
    COVER_EXAMPLE,
    AvatarOut,
    CoverOut,
    SetAvatar,
    SetCover,
    avatar_shape,
    cover_shape,
)
from pressroom.domains.media.uploads import file_errors, staged_uploads
from pressroom.errors import Code, FieldError, Invalid, PressroomError, Unprocessable
from pressroom.web.access import SessionOnly
from pressroom.web.multipart_rules import Form, FormRules, FormSpec
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import FormFiles, Routes

routes: Final = Routes[Caller](TAG)


_SHAPES: Final[dict[AccountPicture, Callable[[str, Pictures, str], Any]]] = {
    AccountPicture.AVATAR: avatar_shape,
    AccountPicture.COVER: cover_shape,
}


def picture_files(picture: AccountPicture) -> FormFiles:
    """Returns the rules of the form that sends a picture: one file, in the field named for it."""
    return FormFiles(FormRules(picture.value, 1, FILE_BYTES_BY_KEY), partial(_picture_errors, field=picture.value))


def _picture_errors(form: Form, field: str) -> Iterator[FieldError]:
    """Yields an error unless the file is a picture of the declared type."""
    return file_errors(form, field, picture_only=True)


def _spec(picture: AccountPicture) -> FormSpec:
    files = picture_files(picture)
    return FormSpec(files.rules, files.rules, frozenset(), files.field_errors)


def _refusals(field: str) -> tuple[PressroomError, ...]:
    wrong = "By its bytes this is video/mp4; a picture is needed."
    full = "The account may store 5,368,709,120 bytes of media."
    return (
        Invalid([FieldError(f"{field}[0]", Code.UNSUPPORTED_MEDIA_TYPE, wrong)]),
        Unprocessable([FieldError(field, Code.TOO_LARGE, full)]),
    )


@routes.get(
    "/api/auth/me/avatar", SessionOnly(), summary="Show the avatar", gives=AvatarOut, response_example=AVATAR_EXAMPLE
)
async def show_avatar(request: Request[Caller]) -> Response:
    """The account's picture, and the state of the file that was sent last."""
    return json_response(await read_picture(request, AccountPicture.AVATAR))


@routes.put(
    "/api/auth/me/avatar",
    SessionOnly(),
    summary="Set the avatar",
    gives=AvatarOut,
    status=202,
    fails=_refusals("avatar"),
    form=_spec(AccountPicture.AVATAR),
    response_example=AVATAR_EXAMPLE,
)
async def set_avatar(request: Request[Caller], body: SetAvatar) -> Response:
    """Has everybody see a picture of at most 8 MB as the account's avatar: its middle, a square of at most 512 pixels a
    side. It is processed after the answer; until it is READY, and if it is FAILED, the one before is shown."""
    return await save_picture(request, AccountPicture.AVATAR)


@routes.delete(
    "/api/auth/me/avatar",
    SessionOnly(),
    summary="Remove the avatar",
    gives=AvatarOut,
)
async def remove_avatar(request: Request[Caller]) -> Response:
    """Removes the picture, and one that is still being processed: a drawing is shown again."""
    return await drop_picture(request, AccountPicture.AVATAR)


@routes.get(
    "/api/auth/me/cover", SessionOnly(), summary="Show the cover", gives=CoverOut, response_example=COVER_EXAMPLE
)
async def show_cover(request: Request[Caller]) -> Response:
    """The account's cover, and the state of the file that was sent last."""
    return json_response(await read_picture(request, AccountPicture.COVER))


@routes.put(
    "/api/auth/me/cover",
    SessionOnly(),
    summary="Set the cover",
    gives=CoverOut,
    status=202,
    fails=_refusals("cover"),
    form=_spec(AccountPicture.COVER),
    response_example=COVER_EXAMPLE,
)
async def set_cover(request: Request[Caller], body: SetCover) -> Response:
    """Has everybody see a picture of at most 8 MB over the account's profile: its middle, three times as wide as high,
    at most 1,500 by 500 pixels. It is processed after the answer; until it is READY, and if it is FAILED, the one
    before is shown."""
    return await save_picture(request, AccountPicture.COVER)


@routes.delete("/api/auth/me/cover", SessionOnly(), summary="Remove the cover", gives=CoverOut)
async def remove_cover(request: Request[Caller]) -> Response:
    """Removes the cover, and one that is still being processed."""
    return await drop_picture(request, AccountPicture.COVER)


async def read_picture(request: Request[Caller], picture: AccountPicture) -> Any:
    """Returns the wire shape of the account's picture of this kind."""
    return _shaped(request, picture)(await request.db.read(find_pictures, request.caller.account.id, picture))


async def save_picture(request: Request[Caller], picture: AccountPicture) -> Response:
    """Adds the picture of the form, once. Raises Unprocessable."""
    if (response := await request.once.stored()) is not None:
        return response
    shaped, limit = _shaped(request, picture), request.settings.account_storage_bytes
    async with staged_uploads(request) as staged:
        new = staged.files[0]
        return staged.answered(await request.once(actions.set_picture, shaped, request.caller, picture, new, limit))


async def drop_picture(request: Request[Caller], picture: AccountPicture) -> Response:
    """Removes the account's pictures of this kind, once."""
    return await request.once(remove_pictures, _shaped(request, picture), request.caller, picture)


def _shaped(request: Request[Caller], picture: AccountPicture) -> Callable[[Pictures], Any]:
    account_id, base_url = request.caller.account.id, request.settings.base_url
    return lambda pictures: _SHAPES[picture](account_id, pictures, base_url)
