"""Processes images in a child process: to WebP in three sizes, upright, without metadata except a colour profile.

Only the loader of the sniffed kind is called; libvips does not guess, and its other loaders are blocked.
"""

import base64
import errno
import math
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Final

import pyvips
from pyvips.voperation import concurrency_set

from pressroom.domains.media.decoding import (
    LARGE,
    LARGE_SIDE,
    MEDIUM,
    MEDIUM_SIDE,
    THUMBNAIL,
    THUMBNAIL_SIDE,
    WEBP,
    DecodingLimits,
    Processed,
    Rendition,
    Undecodable,
)
from pressroom.domains.media.kinds import FileKind
from pressroom.domains.media.profiles import reduced

QUALITY: Final = 82
SMALLER_QUALITIES: Final = (75, 60, 45)
"""Qualities of the smaller renditions: the first at which a thumbnail has at most THUMBNAIL_BYTES, else the last."""

THUMBNAIL_BYTES: Final = 120_000
EFFORT: Final = 3
ANIMATION_EFFORT: Final = 1
"""Lower than EFFORT, because every frame of an animation is encoded."""

KERNEL_REACH: Final = 3
"""Reach of the scaling kernel to each side, in pixels of the output."""

PLACEHOLDER_SIDE: Final = 16
PLACEHOLDER_CHARACTERS: Final = 400
_PROFILE: Final = "icc-profile-data"
_KEEP_NONE: Final = 0
_KEEP_PROFILE: Final = 8
_LOADERS: Final = ("Jpeg", "Png", "Nsgif", "Webp")

_LOAD: Final[dict[FileKind, Callable[..., pyvips.Image]]] = {
    FileKind.JPEG: pyvips.Image.jpegload,
    FileKind.PNG: pyvips.Image.pngload,
    FileKind.GIF: pyvips.Image.gifload,
    FileKind.WEBP: pyvips.Image.webpload,
}
_LYING: Final = range(5, 9)
"""The values of the EXIF field for images that are stored with their sides swapped."""

_PAGED: Final = frozenset({FileKind.GIF, FileKind.WEBP})


def prepare() -> None:
    """Blocks all loaders but four and disables libvips' cache. Call it once, before any child is made."""
    pyvips.block_untrusted_set(True)
    pyvips.operation_block_set("VipsForeignLoad", True)
    for loader in _LOADERS:
        pyvips.operation_block_set(f"VipsForeignLoad{loader}", False)
    pyvips.cache_set_max(0)


def process(
    source: Path, kind: FileKind, folder: Path, limits: DecodingLimits, box: tuple[int, int] | None = None
) -> Processed:
    """Writes large.webp, medium.webp and thumbnail.webp of the image `source`.

    With a `box`, the image is cut to its form. There is no medium.webp with a box, of an animation, or where large.webp
    is not larger.

    Raises Undecodable.
    """
    try:
        frames = _check_header(source, kind, limits)
        if box is not None:
            return _write_still(_cut(_displayable(_open(source, kind)), box), folder, has_medium=False)
        return _animation(source, kind, folder) if frames > 1 else _still(source, kind, folder)
    except pyvips.Error as error:
        raise _undecodable(error) from error


def _undecodable(error: pyvips.Error) -> Undecodable | MemoryError | OSError:
    text = f"{error.message} {error.detail}".lower()
    if "out of memory" in text or "unable to allocate" in text or "memory allocation" in text:
        return MemoryError()
    if "file too large" in text:
        return OSError(errno.EFBIG, "The image that was made is too large.")
    if "no space left" in text:
        return OSError(errno.ENOSPC, "There is no space for the image that was made.")
    # The message of libvips may contain paths of the server.
    detail = re.sub(r"\S*/\S*", "", re.sub(r"\s+", " ", str(error.detail))).strip(" :")[:120]
    return Undecodable(f"The image is damaged or incomplete ({detail or 'its header'}).")


def _open(source: Path, kind: FileKind, **options: object) -> pyvips.Image:
    return _LOAD[kind](str(source), fail_on="error", access="sequential", **options)


def _check_header(source: Path, kind: FileKind, limits: DecodingLimits) -> int:
    """Checks the size by the header only, and returns the number of frames. Raises Undecodable."""
    header = _open(source, kind)
    width, height = header.width, header.height
    frames = _integer(header, "n-pages", 1) if kind in _PAGED else 1
    if width * height > limits.frame_pixels:
        raise Undecodable(
            f"The image has {width * height:,} pixels ({width:,} by {height:,}); at most {limits.frame_pixels:,} are"
            " allowed."
        )
    if frames > limits.frames:
        raise Undecodable(f"The image has {frames:,} frames; at most {limits.frames:,} are allowed.")
    if width * height * frames > limits.all_pixels:
        raise Undecodable(
            f"The image has {width * height * frames:,} pixels over all {frames:,} frames; at most"
            f" {limits.all_pixels:,} are allowed."
        )
    return frames


def _still(source: Path, kind: FileKind, folder: Path) -> Processed:
    return _write_still(fitted(_displayable(_open(source, kind)), LARGE_SIDE), folder, has_medium=True)


def _cut(image: pyvips.Image, box: tuple[int, int]) -> pyvips.Image:
    """Returns the middle of the image in the form that `box` has once it is upright; never enlarged or rotated."""
    width, height = reversed(box) if _integer(image, "orientation", 1) in _LYING else box
    scale = min(Fraction(1), Fraction(image.width, width), Fraction(image.height, height))
    return image.thumbnail_image(
        max(1, int(width * scale)), height=max(1, int(height * scale)), crop="centre", no_rotate=True
    )


def _write_still(scaled: pyvips.Image, folder: Path, *, has_medium: bool) -> Processed:
    # Rotation needs the whole image in memory, so it comes after scaling.
    large = scaled.copy_memory().autorot().copy_memory()
    files = [write_webp(large, folder / LARGE)]
    if has_medium and max(large.width, large.height) > MEDIUM_SIDE:
        files.append(write_webp(fitted(large, MEDIUM_SIDE), folder / MEDIUM, SMALLER_QUALITIES[0]))
    files.append(write_thumbnail(large, folder))
    return _processed(files, large)


def _animation(source: Path, kind: FileKind, folder: Path) -> Processed:
    # Each rendition reads the file again and is freed before the next: all frames together may not fit in memory.
    # More threads would double the memory, and the encoder uses only one anyway.
    concurrency_set(1)
    files = [
        write_webp(_resized(_open(source, kind, n=-1), side), folder / name, quality, ANIMATION_EFFORT)
        for side, name, quality in ((LARGE_SIDE, LARGE, QUALITY), (THUMBNAIL_SIDE, THUMBNAIL, SMALLER_QUALITIES[0]))
    ]
    return _processed(files, _displayable(_open(source, kind)).copy_memory())


def _resized(strip: pyvips.Image, side: int) -> pyvips.Image:
    """Returns an animation, a strip of frames one below the other, with each frame scaled down to fit.

    The strip is scaled as one image, because frame by frame all frames would be in memory. Each frame is first extended
    above and below by its own edge, which is cut off afterwards, so that frames do not bleed into each other.
    """
    strip = _displayable(strip)
    width, height = strip.width, strip.get_page_height()
    if max(width, height) <= side:
        return strip
    count = strip.height // height
    scale = side / max(width, height)
    margin = math.ceil(KERNEL_REACH / scale) + 1
    tall, small_tall, small = height + 2 * margin, round((height + 2 * margin) * scale), max(1, round(height * scale))
    top = round(margin * small_tall / tall)
    even = strip.premultiply() if strip.hasalpha() else strip
    apart = [
        even.crop(0, place * height, width, height).embed(0, margin, width, tall, extend="copy")
        for place in range(count)
    ]
    shrunk = _joined(apart).resize(scale, vscale=small_tall / tall)
    frames = [shrunk.crop(0, place * small_tall + top, shrunk.width, small) for place in range(count)]
    joined = _joined(frames)
    joined = (joined.unpremultiply() if strip.hasalpha() else joined).cast("uchar").copy()
    for name in ("delay", "loop"):
        if strip.get_typeof(name):
            joined.set_type(strip.get_typeof(name), name, strip.get(name))
    joined.set_type(pyvips.GValue.gint_type, "page-height", small)
    return joined


def _joined(frames: list[pyvips.Image]) -> pyvips.Image:
    return pyvips.Image.arrayjoin(frames, across=1)


def _displayable(image: pyvips.Image) -> pyvips.Image:
    """Returns the image as 8-bit RGB: with its reduced profile if that is for RGB, else converted to sRGB."""
    profile = image.get(_PROFILE) if image.get_typeof(_PROFILE) else None
    is_rgb = image.interpretation in {"srgb", "rgb16", "rgb"}
    if isinstance(profile, bytes) and is_rgb and (kept := reduced(profile)) is not None:
        image = _eight_bit(image).copy()
        image.set_type(pyvips.GValue.blob_type, _PROFILE, kept)  # pyright: ignore[reportArgumentType]  # bytes are a blob
        return image
    if isinstance(profile, bytes) or image.interpretation == "cmyk":
        image = _converted(image)
    image = _eight_bit(image).copy()
    image.remove(_PROFILE)
    return image


def _converted(image: pyvips.Image) -> pyvips.Image:
    try:
        return image.icc_transform("srgb", embedded=True, intent="perceptual", black_point_compensation=True)
    except pyvips.Error:
        # The profile does not fit the image; ignore it.
        return image


def _eight_bit(image: pyvips.Image) -> pyvips.Image:
    return image if image.interpretation == "srgb" and image.format == "uchar" else image.colourspace("srgb")


def fitted(image: pyvips.Image, side: int) -> pyvips.Image:
    """Returns the image scaled down to fit a square of `side` pixels; never enlarged or rotated."""
    if max(image.width, image.height) <= side:
        return image
    return image.thumbnail_image(side, height=side, size="down", no_rotate=True)


def _processed(files: list[Rendition], first: pyvips.Image) -> Processed:
    main = files[0]
    return Processed(main.width, main.height, None, main.size, files, placeholder(first))


def write_webp(image: pyvips.Image, path: Path, quality: int = QUALITY, effort: int = EFFORT) -> Rendition:
    """Writes `image` with its colour profile and no other metadata."""
    image.webpsave(str(path), Q=quality, effort=effort, smart_subsample=True, keep=_KEEP_PROFILE)
    return Rendition(path.name, WEBP, image.width, image.get_page_height(), path.stat().st_size)


def write_thumbnail(image: pyvips.Image, folder: Path) -> Rendition:
    """Writes thumbnail.webp of a still image, in a quality at which it has few bytes."""
    small = fitted(image, THUMBNAIL_SIDE).copy_memory()
    *better, last = SMALLER_QUALITIES
    for quality in better:
        made = write_webp(small, folder / THUMBNAIL, quality)
        if made.size <= THUMBNAIL_BYTES:
            return made
    return write_webp(small, folder / THUMBNAIL, last)


def placeholder(image: pyvips.Image) -> str:
    """Returns a data URI of a 16-pixel picture to show, blurred, until the image has loaded."""
    tiny = _displayable(image)
    tiny = tiny.thumbnail_image(PLACEHOLDER_SIDE, height=PLACEHOLDER_SIDE, no_rotate=True, output_profile="srgb")
    uri = ""
    for quality in (50, 20, 1):
        uri = "data:image/webp;base64," + base64.b64encode(_tiny_webp(tiny, quality)).decode()
        if len(uri) <= PLACEHOLDER_CHARACTERS:
            return uri
    flat = tiny.flatten() if tiny.hasalpha() else tiny
    return "data:image/webp;base64," + base64.b64encode(_tiny_webp(flat, 1)).decode()


def _tiny_webp(tiny: pyvips.Image, quality: int) -> bytes:
    return tiny.webpsave_buffer(Q=quality, alpha_q=quality, effort=4, keep=_KEEP_NONE)


def _integer(image: pyvips.Image, name: str, otherwise: int) -> int:
    value = image.get(name) if image.get_typeof(name) else otherwise
    return value if isinstance(value, int) else otherwise
