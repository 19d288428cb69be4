"""What a file is, by its first bytes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pressroom.domains.media.kinds import HEAD_BYTES, Kind, agrees, sniff
from tests.corpus.make import BAD_IMAGES, BAD_VIDEOS, IMAGES, UNKNOWN, VIDEOS

ENDINGS = {
    "jpg": Kind.JPEG,
    "png": Kind.PNG,
    "gif": Kind.GIF,
    "webp": Kind.WEBP,
    "mp4": Kind.MP4,
    "mov": Kind.QUICKTIME,
    "webm": Kind.WEBM,
    "mpg": Kind.MPEG,
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
        (b"\0\0\0\x14ftypM4V \0\0\0\0M4V ", Kind.MP4),
        (b"\0\0\0\x08wide\0\0\x01\0mdat", Kind.QUICKTIME),
        (b"\0\0\x01\0moov", Kind.QUICKTIME),
        (b"\0\0\0\x01mdat\0\0\0\0\0\0\x01\0", Kind.QUICKTIME),
        (b"\0\0\0\x02moov", None),
        (b"\0\0\x01\xb3\x14\0\xf0", Kind.MPEG),
        (b"\x47\x40\0\x10", None),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"BM\0\0", None),
        (b"%PDF-1.7", None),
        (b"", None),
        (b"\xff\xd8", None),
        (b"\x1a\x45\xdf\xa3", None),
        (b"\x1a\x45\xdf\xa3\x87\x42\x82\x84webm", Kind.WEBM),
        (b"\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x07\x42\x82\x84webm", Kind.WEBM),
        (b"\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska", None),
        (b"\x1a\x45\xdf\xa3\x80\x42\x82\x84webm", None),
        (b"\x1a\x45\xdf\xa3\xff" + b"\0" * 4096, None),
    ],
)
def test_heads_at_the_edge(head: bytes, kind: Kind | None) -> None:
    assert sniff(head) is kind


@pytest.mark.parametrize(
    ("declared", "kind", "expected"),
    [
        (None, Kind.PNG, True),
        ("", Kind.PNG, True),
        ("application/octet-stream", Kind.PNG, True),
        ("image/png", Kind.PNG, True),
        ("IMAGE/PNG; charset=binary", Kind.PNG, True),
        ("image/jpg", Kind.JPEG, True),
        ("image/jpeg", Kind.PNG, False),
        ("video/mp4", Kind.QUICKTIME, True),
        ("video/quicktime", Kind.MP4, True),
        ("video/mp4", Kind.WEBM, False),
        ("video/mp4", Kind.GIF, False),
        ("text/html", Kind.GIF, False),
        ("image/png, image/gif", Kind.GIF, False),
        (";", Kind.GIF, True),
    ],
)
def test_a_declared_type_is_compared(declared: str | None, kind: Kind, expected: bool) -> None:
    assert agrees(declared, kind) is expected


def test_a_kind_tells_its_name() -> None:
    assert [kind.mime for kind in Kind if kind.is_video] == ["video/mp4", "video/mpeg", "video/quicktime", "video/webm"]
