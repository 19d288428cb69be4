"""Wire shapes of an account's avatar and cover (docs/media.md#avatars-and-covers)."""

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.domains.accounts.schemas import avatar_address, cover_address
from pressroom.domains.media.models import Media, ProcessingStatus
from pressroom.domains.media.picture_actions import Pictures
from pressroom.web.json_bodies import Body
from pressroom.web.wire import EXAMPLE_BASE, Url

LastStatus = Annotated[
    ProcessingStatus | None,
    Meta(description="Of the file that was sent last: it is shown from READY on. null: none was chosen."),
]
LastReason = Annotated[str | None, Meta(description="Why that file is FAILED.")]


class SetAvatar(Body):
    """A picture to show, in place of the one before."""

    @classmethod
    def example(cls) -> Self:
        return cls()


class SetCover(Body):
    """A cover to show, in place of the one before."""

    @classmethod
    def example(cls) -> Self:
        return cls()


class AvatarOut(msgspec.Struct, rename="camel"):
    """The account's picture, and the state of the file that was sent last."""

    avatar: Annotated[Url, Meta(description="What is shown now; a drawing where no picture was chosen.")]
    is_drawn: Annotated[bool, Meta(description="Whether it is a drawing.")]
    processing_status: LastStatus
    reason: LastReason

    @classmethod
    def example(cls) -> Self:
        return cls(
            avatar=avatar_address("01KJPX7NCXC3C1PSD84ZVECKAK", None, EXAMPLE_BASE),
            is_drawn=True,
            processing_status=None,
            reason=None,
        )


class CoverOut(msgspec.Struct, rename="camel"):
    """The account's cover, and the state of the file that was sent last."""

    cover_image: Annotated[Url | None, Meta(description="What is shown now; null where no cover was chosen.")]
    processing_status: LastStatus
    reason: LastReason

    @classmethod
    def example(cls) -> Self:
        return cls(cover_image=None, processing_status=None, reason=None)


def avatar_shape(account_id: str, pictures: Pictures, base_url: str) -> AvatarOut:
    """Returns an avatar as its owner sees it."""
    token, status, reason = _of(pictures)
    return AvatarOut(avatar_address(account_id, token, base_url), token is None, status, reason)


def cover_shape(account_id: str, pictures: Pictures, base_url: str) -> CoverOut:
    """Returns a cover as its owner sees it."""
    token, status, reason = _of(pictures)
    return CoverOut(cover_address(token, base_url), status, reason)


def _of(pictures: Pictures) -> tuple[str | None, ProcessingStatus | None, str | None]:
    """Returns the token of what is shown, then the status of what was sent last and why that is FAILED."""
    last: Media | None = pictures.newer or pictures.shown
    token = pictures.shown.token if pictures.shown else None
    return (token, ProcessingStatus(last.status), last.reason) if last else (token, None, None)


AVATAR_EXAMPLE = msgspec.structs.replace(AvatarOut.example(), processing_status=ProcessingStatus.PROCESSING)
COVER_EXAMPLE = msgspec.structs.replace(CoverOut.example(), processing_status=ProcessingStatus.PROCESSING)
