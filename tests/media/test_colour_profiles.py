"""Texts in a picture's colour profile never leave the server."""

import io

import pytest
from PIL import Image, ImageCms

from tests.api.actors import Actor, nobody
from tests.api.conftest import one_engine
from tests.corpus.profiles import P3, PLACE, profile, xyz
from tests.media.uploads import fetch, file, media_of, opened, path_of, ready

COLOUR = (230, 40, 90)


def picture(format_: str, icc: bytes, *, frames: int = 1) -> bytes:
    """A picture of one colour with this profile; a GIF bears it as an application's block."""
    first, *others = (Image.new("RGB", (700, 500), (230 + place, 40, 90)) for place in range(frames))
    options: dict[str, object] = {"save_all": True, "append_images": others, "duration": 100} if others else {}
    buffer = io.BytesIO()
    if format_ == "GIF":
        first.save(buffer, "GIF", **options)
        block = b"".join(bytes([len(icc[at : at + 255])]) + icc[at : at + 255] for at in range(0, len(icc), 255))
        data = buffer.getvalue()
        start = 13 + 3 * 2 ** ((data[10] & 7) + 1) if data[10] & 0x80 else 13
        return data[:start] + b"\x21\xff\x0bICCRGBG1012" + block + b"\0" + data[start:]
    if format_ in {"JPEG", "WEBP"}:
        options |= {"quality": 95}
    first.save(buffer, format_, icc_profile=icc, **options)
    return buffer.getvalue()


def shown(image: Image.Image) -> tuple[int, ...]:
    """The colour in the middle, as a screen of sRGB shows it."""
    picture = image.convert("RGB")
    if icc := image.info.get("icc_profile"):
        converted = ImageCms.profileToProfile(
            picture, ImageCms.ImageCmsProfile(io.BytesIO(icc)), ImageCms.createProfile("sRGB")
        )
        assert converted is not None
        picture = converted
    pixel = picture.getpixel((picture.width // 2, picture.height // 2))
    assert isinstance(pixel, tuple)
    return tuple(int(each) for each in pixel)


CASES = {
    "JPEG": ("JPEG", 1),
    "PNG": ("PNG", 1),
    "WebP": ("WEBP", 1),
    "GIF": ("GIF", 1),
    "animated WebP": ("WEBP", 3),
    "animated GIF": ("GIF", 3),
}


@one_engine
@pytest.mark.parametrize("case", CASES)
def test_a_place_in_a_profile_is_not_served(alice: Actor, case: str) -> None:
    format_, frames = CASES[case]
    sent = picture(format_, profile(), frames=frames)
    assert PLACE[:6].encode() in sent or format_ == "PNG", "it is there; a PNG packs it"

    post = ready(alice, file(sent, f"image/{format_.lower()}"))

    path = path_of(media_of(post)["url"])
    for each in (path, f"{path}/thumbnail", f"{path}/poster"):
        answer = fetch(alice.server, each)
        assert answer.status_code == 200
        image = opened(answer.content)
        for encoding in ("utf-8", "utf-16-be", "utf-16-le"):
            assert PLACE[:6].encode(encoding) not in answer.content
        assert set(image.info) <= {"icc_profile", "loop", "background", "timestamp", "duration"}
        if format_ != "GIF":
            assert xyz(*P3["rXYZ"]) in image.info["icc_profile"], "what is wide stays wide"
            before, after = shown(opened(sent)), shown(image)
            assert all(abs(one - other) <= 8 for one, other in zip(before, after, strict=True)), (before, after)
    assert PLACE[:6] not in nobody.get(f"{alice.server.base_url}/post/{post['id']}").text


@one_engine
@pytest.mark.parametrize("format_", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize(
    "icc",
    [profile(more={"rTRC": PLACE.encode()}), profile(more={"A2B0": b"mft2" + bytes(8) + PLACE.encode()}), b"x" * 500],
    ids=["damaged", "tables", "nonsense"],
)
def test_a_profile_that_is_none_goes_altogether(alice: Actor, format_: str, icc: bytes) -> None:
    post = ready(alice, file(picture(format_, icc), f"image/{format_.lower()}"))

    assert media_of(post)["processingStatus"] == "READY"
    answer = nobody.get(media_of(post)["url"])
    assert "icc_profile" not in opened(answer.content).info
    assert PLACE[:6].encode() not in answer.content
