"""Wire shapes of the media package."""

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.domains.accounts.schemas import avatar_address, cover_address
from pressroom.domains.media.models import Media, MediaEntryType, Pictures, ProcessingStatus, Variant
from pressroom.domains.media.urls import MediaAddresses, variant_address
from pressroom.web.json_bodies import Body
from pressroom.web.wire import EXAMPLE_BASE, Id, Url


class PictureOut(msgspec.Struct, rename="camel"):
    """One of the sizes in which an image is served, all of them WebP."""

    url: Url
    width: Annotated[int, Meta(description="Pixels.")]
    height: Annotated[int, Meta(description="Pixels.")]


class MediaEntryOut(msgspec.Struct, rename="camel"):
    """A file of a post. Its address holds from the start and answers 404 until it is READY. Of a post that is not
    PUBLIC, readers other than the author get an address of their own that ends within minutes, and with their right to
    see the post: read the post again for the next."""

    id: Id
    url: Url
    type: MediaEntryType
    mime_type: Annotated[str, Meta(description="Of what `url` answers: image/webp or video/mp4.")]
    processing_status: Annotated[
        ProcessingStatus, Meta(description="READY is final. FAILED too, unless an admin has the file processed again.")
    ]
    width: Annotated[int | None, Meta(description="Pixels, as shown; null until it is READY.")]
    height: Annotated[int | None, Meta(description="Pixels, as shown; null until it is READY.")]
    duration: Annotated[float | None, Meta(description="Of a video that is READY: seconds.")]
    size_bytes: Annotated[int | None, Meta(description="Of what `url` answers; null until it is READY.")]
    thumbnail_url: Annotated[Url, Meta(description="A WebP image of at most 640 pixels a side.")]
    alt_text: Annotated[str | None, Meta(description="What it shows, for those who do not see it.")]
    variants: Annotated[
        list[PictureOut],
        Meta(
            description="For `srcset`: an image in every size, the smallest first. Empty until READY, and for a video."
        ),
    ]

    @classmethod
    def example(cls) -> Self:
        return cls(
            id="01M7WVE9T1M0V1E5R2D3F4G5H6",
            url=f"{EXAMPLE_BASE}/media/q9V0c8Jm2Tt7uLrYw1ZkXnB4sPdHe6Fa",
            type=MediaEntryType.IMAGE,
            mime_type="image/webp",
            processing_status=ProcessingStatus.PROCESSING,
            width=None,
            height=None,
            duration=None,
            size_bytes=None,
            thumbnail_url=f"{EXAMPLE_BASE}/media/q9V0c8Jm2Tt7uLrYw1ZkXnB4sPdHe6Fa/thumbnail",
            alt_text="A proof sheet on the drying rack",
            variants=[],
        )


def media_shape(media: Media, addresses: MediaAddresses, *, public: bool) -> MediaEntryOut:
    """Returns the wire shape of a file for the reader of `addresses`; `public`: its post or clip is PUBLIC."""
    address = addresses.of(media, public=public)
    return MediaEntryOut(
        id=media.id,
        url=address,
        type=media.type,
        mime_type=media.mime_type,
        processing_status=ProcessingStatus(media.status),
        width=media.width,
        height=media.height,
        duration=media.duration,
        size_bytes=media.size_bytes,
        thumbnail_url=variant_address(address, Variant.THUMBNAIL),
        alt_text=media.alt_text,
        variants=[PictureOut(variant_address(address, size.variant), size.width, size.height) for size in media.sizes],
    )


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
    """Returns the token of the shown picture, then status and reason of the latest upload."""
    last: Media | None = pictures.newer or pictures.shown
    token = pictures.shown.token if pictures.shown else None
    return (token, ProcessingStatus(last.status), last.reason) if last else (token, None, None)


AVATAR_EXAMPLE = msgspec.structs.replace(AvatarOut.example(), processing_status=ProcessingStatus.PROCESSING)
COVER_EXAMPLE = msgspec.structs.replace(CoverOut.example(), processing_status=ProcessingStatus.PROCESSING)
