"""Wire shapes of the media package."""

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from pressroom.domains.media.models import Media, MediaEntryType, ProcessingStatus, Variant
from pressroom.domains.media.urls import MediaAddresses, variant_address
from pressroom.web.wire import EXAMPLE_BASE, Id, Url


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
        )


def media_shape(media: Media, addresses: MediaAddresses, *, public: bool) -> MediaEntryOut:
    """Returns the wire shape of a file for the reader of `addresses`; `public` says that its post or clip is PUBLIC."""
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
    )
