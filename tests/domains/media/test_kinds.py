"""The type of a file, by its first bytes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pressroom.domains.media.kinds import HEAD_BYTES, FileKind, agrees, sniff
from tests.corpus.make import BAD_IMAGES, BAD_VIDEOS, IMAGES, UNKNOWN, VIDEOS

ENDINGS = {
    "jpg": FileKind.JPEG,
    "png": FileKind.PNG,
    "gif": FileKind.GIF,
    "webp": FileKind.WEBP,
    "mp4": FileKind.MP4,
    "mov": FileKind.QUICKTIME,
    "webm": FileKind.WEBM,
    "mpg": FileKind.MPEG,
}


@pytest.mark.parametrize("name", [*IMAGES, *BAD_IMAGES, *VIDEOS, *BAD_VIDEOS])
def test_every_kind_is_known_by_its_head(corpus: Callable[[str], Path], name: str) -> None:
    assert sniff(corpus(name).read_bytes()[:HEAD_BYTES]) is ENDINGS[name.rpartition(".")[2]]


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_files_are_of_no_kind(corpus: Callable[[str], Path], name: str) -> None:
    assert sniff(corpus(name).read_bytes()[:HEAD_BYTES]) is None


@pytest.mark.parametrize(
    "brand", [b"heic", b"heix", b"mif1", b"msf1", b"avif", b"avis", b"M4A ", b"M4B ", b"crx ", b"3gp4", b"\0\0\0\0"]
)
def test_other_brands_of_the_container_are_refused(brand: bytes) -> None:
    assert sniff(b"\0\0\0\x18ftyp" + brand + b"\0\0\0\0mp42isom") is None


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\0\0\0\x14ftypM4V \0\0\0\0M4V ", FileKind.MP4),
        (b"\0\0\0\x08wide\0\0\x01\0mdat", FileKind.QUICKTIME),
        (b"\0\0\x01\0moov", FileKind.QUICKTIME),
        (b"\0\0\0\x01mdat\0\0\0\0\0\0\x01\0", FileKind.QUICKTIME),
        (b"\0\0\0\x02moov", None),
        (b"\0\0\x01\xb3\x14\0\xf0", FileKind.MPEG),
        (b"\x47\x40\0\x10", None),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"BM\0\0", None),
        (b"%PDF-1.7", None),
        (b"", None),
        (b"\xff\xd8", None),
        (b"\x1a\x45\xdf\xa3", None),
        (b"\x1a\x45\xdf\xa3\x87\x42\x82\x84webm", FileKind.WEBM),
        (b"\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x07\x42\x82\x84webm", FileKind.WEBM),
        (b"\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska", None),
        (b"\x1a\x45\xdf\xa3\x80\x42\x82\x84webm", None),
        (b"\x1a\x45\xdf\xa3\xff" + b"\0" * 4096, None),
    ],
)
def test_heads_at_the_edge(head: bytes, kind: FileKind | None) -> None:
    assert sniff(head) is kind


@pytest.mark.parametrize(
    ("declared", "kind", "expected"),
    [
        (None, FileKind.PNG, True),
        ("", FileKind.PNG, True),
        ("application/octet-stream", FileKind.PNG, True),
        ("image/png", FileKind.PNG, True),
        ("IMAGE/PNG; charset=binary", FileKind.PNG, True),
        ("image/jpg", FileKind.JPEG, True),
        ("image/jpeg", FileKind.PNG, False),
        ("video/mp4", FileKind.QUICKTIME, True),
        ("video/quicktime", FileKind.MP4, True),
        ("video/mp4", FileKind.WEBM, False),
        ("video/mp4", FileKind.GIF, False),
        ("text/html", FileKind.GIF, False),
        ("image/png, image/gif", FileKind.GIF, False),
        (";", FileKind.GIF, True),
    ],
)
def test_a_declared_type_is_compared(declared: str | None, kind: FileKind, expected: bool) -> None:
    assert agrees(declared, kind) is expected


def test_kind_has_its_name() -> None:
    assert [kind.mime for kind in FileKind if kind.is_video] == [
        "video/mp4",
        "video/mpeg",
        "video/quicktime",
        "video/webm",
    ]
