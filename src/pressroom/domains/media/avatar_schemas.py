"""Wire shapes of an account's avatar (docs/media.md#avatars)."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pressroom.domains.accounts.schemas import avatar_address
from pressroom.domains.media.avatar_actions import Avatar
from pressroom.domains.media.models import ProcessingStatus
from pressroom.web.json_bodies import Body
from pressroom.web.wire import EXAMPLE_BASE, Url


class SetAvatar(Body):
    """A picture to show, in place of the one before."""


class AvatarOut(msgspec.Struct, rename="camel"):
    """What is shown as the account's picture, and what became of the file that was sent last."""

    avatar: Annotated[Url, Meta(description="What is shown now; a drawing where no picture was chosen.")]
    is_drawn: Annotated[bool, Meta(description="Whether it is a drawing.")]
    processing_status: Annotated[
        ProcessingStatus | None,
        Meta(description="Of the file that was sent last: it is shown from READY on. null: none was chosen."),
    ]
    reason: Annotated[str | None, Meta(description="Why that file is FAILED.")]


def avatar_shape(account_id: str, avatar: Avatar, base_url: str) -> AvatarOut:
    """Returns an avatar as its owner sees it."""
    last = avatar.newer or avatar.shown
    return AvatarOut(
        avatar=avatar_address(account_id, avatar.shown.token if avatar.shown else None, base_url),
        is_drawn=avatar.shown is None,
        processing_status=ProcessingStatus(last.status) if last else None,
        reason=last.reason if last else None,
    )


SET_AVATAR_EXAMPLE = SetAvatar()
DRAWN_EXAMPLE = AvatarOut(
    avatar=avatar_address("01KJPX7NCXC3C1PSD84ZVECKAK", None, EXAMPLE_BASE),
    is_drawn=True,
    processing_status=None,
    reason=None,
)
AVATAR_EXAMPLE = msgspec.structs.replace(DRAWN_EXAMPLE, processing_status=ProcessingStatus.PROCESSING)
