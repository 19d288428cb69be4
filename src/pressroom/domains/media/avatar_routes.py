"""An account's avatar over HTTP (docs/media.md#avatars)."""

from collections.abc import Callable, Iterator
from typing import Final

from pressroom.domains.accounts.models import Caller
from pressroom.domains.accounts.routes import TAG
from pressroom.domains.media import actions
from pressroom.domains.media.avatar_actions import Avatar, find_avatar
from pressroom.domains.media.avatar_actions import remove_avatar as remove
from pressroom.domains.media.avatar_schemas import (
    AVATAR_EXAMPLE,
    DRAWN_EXAMPLE,
    SET_AVATAR_EXAMPLE,
    AvatarOut,
    SetAvatar,
    avatar_shape,
)
from pressroom.domains.media.file_checks import file_errors
from pressroom.domains.media.models import FILE_BYTES_BY_KEY
from pressroom.domains.media.staging import staged_uploads
from pressroom.errors import Code, FieldError, Invalid, Unprocessable
from pressroom.web.access import SessionOnly
from pressroom.web.multipart_rules import Form, FormRules
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import FormSpec, Route, declare, declare_with_body

AVATAR_RULES: Final = FormRules("avatar", 1, FILE_BYTES_BY_KEY)


def avatar_errors(form: Form) -> Iterator[FieldError]:
    """Yields an error unless the file is a picture of the declared type."""
    return file_errors(form, "avatar", picture_only=True)


@declare(
    "GET",
    "/api/auth/me/avatar",
    SessionOnly(),
    summary="Show the avatar",
    gives=AvatarOut,
    tag=TAG,
    response_example=AVATAR_EXAMPLE,
)
async def show_avatar(request: Request[Caller]) -> Response:
    """What is shown as the account's picture, and what became of the file that was sent last."""
    return json_response(_shaped(request)(await request.db.read(find_avatar, request.caller.account.id)))


@declare_with_body(
    "PUT",
    "/api/auth/me/avatar",
    SessionOnly(),
    summary="Set the avatar",
    takes=SetAvatar,
    gives=AvatarOut,
    status=202,
    fails=(
        Invalid(
            [
                FieldError(
                    "avatar[0]", Code.UNSUPPORTED_MEDIA_TYPE, "By its bytes this is video/mp4; a picture is needed."
                )
            ]
        ),
        Unprocessable([FieldError("avatar", Code.TOO_LARGE, "The account may store 5,368,709,120 bytes of media.")]),
    ),
    idempotent=True,
    tag=TAG,
    form=FormSpec(AVATAR_RULES, AVATAR_RULES, frozenset(), avatar_errors),
    example=SET_AVATAR_EXAMPLE,
    response_example=AVATAR_EXAMPLE,
)
async def set_avatar(request: Request[Caller], body: SetAvatar) -> Response:
    """Has everybody see a picture of at most 8 MB as the account's avatar: its middle, a square of at most 512 pixels a
    side. It is processed after the answer; until it is READY, and if it is FAILED, the one before is shown."""
    return await save_avatar(request)


@declare(
    "DELETE",
    "/api/auth/me/avatar",
    SessionOnly(),
    summary="Remove the avatar",
    gives=AvatarOut,
    idempotent=True,
    tag=TAG,
    response_example=DRAWN_EXAMPLE,
)
async def remove_avatar(request: Request[Caller]) -> Response:
    """Removes the picture, and one that is still being processed: a drawing is shown again."""
    return await drop_avatar(request)


async def save_avatar(request: Request[Caller]) -> Response:
    """Adds the picture of the form, once. Raises Unprocessable."""
    if (response := await request.once.stored()) is not None:
        return response
    async with staged_uploads(request.services.blobs, request.files, [], request.clock.now()) as staged:
        limit = request.settings.account_storage_bytes
        return staged.answered(
            await request.once(actions.set_avatar, _shaped(request), 202, request.caller, staged.files[0], limit)
        )


async def drop_avatar(request: Request[Caller]) -> Response:
    """Removes the account's pictures, once."""
    return await request.once(remove, _shaped(request), 200, request.caller)


def _shaped(request: Request[Caller]) -> Callable[[Avatar], AvatarOut]:
    account_id, base_url = request.caller.account.id, request.settings.base_url
    return lambda avatar: avatar_shape(account_id, avatar, base_url)


ROUTES: Final[tuple[Route[Caller], ...]] = (show_avatar, set_avatar, remove_avatar)
