"""Recognises a file's type by its first bytes, never by its name or declared type (docs/media.md#upload)."""

from enum import Enum
from typing import Final

HEAD_BYTES: Final = 4_096
"""Bytes at the beginning of a file that `sniff` looks at."""


class FileKind(Enum):
    """The kinds of files that may be uploaded (docs/media.md#upload)."""

    JPEG = "image/jpeg"
    PNG = "image/png"
    GIF = "image/gif"
    WEBP = "image/webp"
    MP4 = "video/mp4"
    MPEG = "video/mpeg"
    QUICKTIME = "video/quicktime"
    WEBM = "video/webm"

    @property
    def mime(self) -> str:
        """Returns the media type, as in Content-Type."""
        return self.value

    @property
    def is_video(self) -> bool:
        """Returns whether it is a video. An animated GIF is an image."""
        return self.value.startswith("video/")


_SIGNATURES: Final = (
    (b"\xff\xd8\xff", FileKind.JPEG),
    (b"\x89PNG\r\n\x1a\n", FileKind.PNG),
    (b"GIF87a", FileKind.GIF),
    (b"GIF89a", FileKind.GIF),
    (b"\x00\x00\x01\xba", FileKind.MPEG),  # A pack of a program stream.
    (b"\x00\x00\x01\xb3", FileKind.MPEG),  # A sequence header: video without a container.
)

# HEIC, AVIF, audio, 3GPP and camera raw files use the same container with other brands.
_MP4_BRANDS: Final = frozenset(
    b"isom iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 mp41 mp42 avc1 M4VH M4VP MSNV XAVC dash cmfc cmfv".split()
) | {b"M4V "}
_QUICKTIME_BRAND: Final = b"qt  "
_QUICKTIME_ATOMS: Final = frozenset({b"moov", b"mdat", b"wide", b"free", b"skip"})

_EBML: Final = b"\x1a\x45\xdf\xa3"
_DOC_TYPE: Final = 0x4282

_NOTHING_DECLARED: Final = frozenset({"", "application/octet-stream"})
_OTHER_NAMES: Final = {"image/jpg": "image/jpeg"}
_ONE_FAMILY: Final = frozenset({FileKind.MP4, FileKind.QUICKTIME})


def sniff(head: bytes) -> FileKind | None:
    """Returns the kind of a file that begins with `head`, or None if it may not be uploaded."""
    head = head[:HEAD_BYTES]
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return FileKind.WEBP
    if head.startswith(_EBML):
        return FileKind.WEBM if _doc_type(head) == b"webm" else None
    return _container(head)


def agrees(declared: str | None, kind: FileKind) -> bool:
    """Returns whether the declared Content-Type of a file fits its kind. None and vague types fit every kind.

    MP4 and QuickTime fit each other: phones send either name for the same file.
    """
    name = (declared or "").partition(";")[0].strip().lower()
    if name in _NOTHING_DECLARED:
        return True
    name = _OTHER_NAMES.get(name, name)
    return name == kind.mime or (kind in _ONE_FAMILY and any(name == other.mime for other in _ONE_FAMILY))


def _container(head: bytes) -> FileKind | None:
    atom = head[4:8]
    if atom == b"ftyp":
        brand = head[8:12]
        if brand == _QUICKTIME_BRAND:
            return FileKind.QUICKTIME
        return FileKind.MP4 if brand in _MP4_BRANDS else None
    # Files of old cameras have no brand. A size of 1 means that a 64-bit size follows.
    size = int.from_bytes(head[:4], "big")
    return FileKind.QUICKTIME if atom in _QUICKTIME_ATOMS and (size == 1 or size >= 8) else None


def _doc_type(head: bytes) -> bytes | None:
    """Returns the document type that an EBML header names, or None if there is none in the first 4 KiB."""
    length, place = _number(head, 4)
    end = min(len(head), place + length)
    while place < end:
        width = _width(head[place])
        element = int.from_bytes(head[place : place + width], "big")
        length, place = _number(head, place + width)
        if element == _DOC_TYPE:
            return head[place : place + length].rstrip(b"\0")
        place += length
    return None


def _number(head: bytes, place: int) -> tuple[int, int]:
    """Returns the variable-length EBML number at `place`, and the place after it; past the end, 0 and the end."""
    if place >= len(head):
        return 0, len(head)
    width = _width(head[place])
    value = int.from_bytes(head[place : place + width], "big")
    return value & ((1 << (7 * width)) - 1), place + width


def _width(first: int) -> int:
    return 9 - first.bit_length() if first else 8
