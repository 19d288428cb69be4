"""The media room's wire shapes."""

from typing import Annotated

import msgspec
from msgspec import Meta

from pressroom.domains.media.models import Media, MediaEntryType, ProcessingStatus, Variant
from pressroom.web.wire import EXAMPLE_BASE, Address, Id


class MediaEntryOut(msgspec.Struct, rename="camel"):
    """A file of a post. Its address holds from the start and answers 404 until it is READY."""

    id: Id
    url: Address
    type: MediaEntryType
    mime_type: Annotated[str, Meta(description="Of what `url` answers: image/webp or video/mp4.")]
    processing_status: Annotated[ProcessingStatus, Meta(description="READY and FAILED are final.")]
    width: Annotated[int | None, Meta(description="Pixels, as shown; null until it is READY.")]
    height: Annotated[int | None, Meta(description="Pixels, as shown; null until it is READY.")]
    duration: Annotated[float | None, Meta(description="Of a video that is READY: seconds.")]
    size_bytes: Annotated[int | None, Meta(description="Of what `url` answers; null until it is READY.")]
    thumbnail_url: Annotated[Address, Meta(description="A WebP image of at most 640 pixels a side.")]
    alt_text: Annotated[str | None, Meta(description="What it shows, for those who do not see it.")]


def media_address(token: str, base_url: str, variant: Variant = Variant.MAIN) -> str:
    """Where a file is to be fetched: its own token's address, or that of a signed one."""
    return f"{base_url}/media/{token}" + ("" if variant is Variant.MAIN else f"/{variant}")


def media_shape(media: Media, base_url: str) -> MediaEntryOut:
    """The file as clients see it."""
    return MediaEntryOut(
        media.id,
        media_address(media.token, base_url),
        media.type,
        media.mime_type,
        ProcessingStatus(media.status),
        media.width,
        media.height,
        media.duration,
        media.size_bytes,
        media_address(media.token, base_url, Variant.THUMBNAIL),
        media.alt_text,
    )


MEDIA_EXAMPLE = MediaEntryOut(
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
)
