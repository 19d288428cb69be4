"""Images of the corpus, looked at with another decoder than the one that made them."""

import base64
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageSequence

from pressroom.domains.media.profiles import reduced
from pressroom.domains.media.sandbox import ChildDied, DecodingLimits, Processed, Undecodable
from tests.corpus.make import BAD_IMAGES, IMAGES
from tests.corpus.pictures import DELAYS, LOOP, frames, quarters
from tests.domains.media.colours import BLUE, GREEN, RED, WHITE, corners, near
from tests.domains.media.conftest import Studio

Develop = Callable[[str], Processed]

ANIMATED = ("animated", "large.gif")


@pytest.mark.parametrize("name", IMAGES)
def test_pictures_open_elsewhere_and_hold_no_metadata(develop: Develop, tmp_path: Path, name: str) -> None:
    made = develop(name)
    sides = {"large.webp": 2048, "medium.webp": 1280, "thumbnail.webp": 640}
    if max(made.width, made.height) <= sides["medium.webp"] or name.startswith(ANIMATED):
        del sides["medium.webp"]
    assert [file.name for file in made.files] == list(sides)
    for file, side in zip(made.files, sides.values(), strict=True):
        path = tmp_path / file.name
        with Image.open(path) as image:
            image.load()
            assert (image.format, image.size) == ("WEBP", (file.width, file.height))
            assert not image.getexif()
            assert "xmp" not in image.info
            assert "exif" not in image.info
        assert max(file.width, file.height) <= side
        assert file.size == path.stat().st_size
        assert b"secret" not in path.read_bytes()
        assert b"Spy" not in path.read_bytes()
    assert (made.width, made.height, made.duration) == (made.files[0].width, made.files[0].height, None)
    assert made.size_bytes == made.files[0].size
    assert sorted(path.name for path in tmp_path.iterdir()) == list(sides)


@pytest.mark.parametrize("name", IMAGES)
def test_a_placeholder_is_a_tiny_picture(develop: Develop, name: str) -> None:
    uri = develop(name).placeholder
    assert len(uri) <= 400
    with Image.open(io.BytesIO(base64.b64decode(uri.removeprefix("data:image/webp;base64,")))) as image:
        assert max(image.size) <= 16


@pytest.mark.parametrize("orientation", range(1, 9))
def test_images_are_brought_upright(develop: Develop, tmp_path: Path, orientation: int) -> None:
    made = develop(f"orientation-{orientation}.jpg")
    assert (made.width, made.height) == (120, 80)
    for file in made.files:
        found = corners(tmp_path / file.name)
        assert all(near(one, other) for one, other in zip(found, (RED, GREEN, BLUE, WHITE), strict=True)), found


@pytest.mark.parametrize("name", ["plain.png", "plain.webp", "plain.gif", "progressive.jpg", "jpeg-zip.jpg"])
def test_colours_stay(develop: Develop, tmp_path: Path, name: str) -> None:
    develop(name)
    found = corners(tmp_path / "large.webp")
    assert all(near(one, other) for one, other in zip(found, (RED, GREEN, BLUE, WHITE), strict=True)), found


def test_cmyk_becomes_rgb(develop: Develop, tmp_path: Path) -> None:
    develop("cmyk.jpg")
    with Image.open(tmp_path / "large.webp") as image:
        assert image.mode == "RGB"
        assert "icc_profile" not in image.info
    red, green, blue, white = corners(tmp_path / "large.webp")
    assert near(white, WHITE, 10)
    # The colours of print are duller than those of light, but they keep their order.
    for found, strongest in ((red, 0), (green, 1), (blue, 2)):
        assert isinstance(found, tuple)
        assert found.index(max(found)) == strongest


def test_sixteen_bits_become_eight(develop: Develop, tmp_path: Path) -> None:
    develop("16-bit.png")
    with Image.open(tmp_path / "large.webp") as image:
        assert near(image.convert("RGB").getpixel((10, 10)), RED)
        assert near(image.convert("RGB").getpixel((54, 10)), (0, 128, 255))
    develop("16-bit-grey.png")
    with Image.open(tmp_path / "large.webp") as image:
        assert near(image.convert("RGB").getpixel((32, 10)), (128, 128, 128))


def test_alpha_stays(develop: Develop, tmp_path: Path) -> None:
    develop("alpha.png")
    for name in ("large.webp", "thumbnail.webp"):
        with Image.open(tmp_path / name) as image:
            assert image.mode == "RGBA"
            top, bottom = image.getpixel((60, 4)), image.getpixel((60, 76))
            assert isinstance(top, tuple)
            assert isinstance(bottom, tuple)
            assert top[3] < 40
            assert bottom[3] > 215


def test_a_colour_profile_stays_and_a_false_one_goes(
    develop: Develop, corpus: Callable[[str], Path], tmp_path: Path
) -> None:
    develop("profile.jpg")
    with Image.open(corpus("profile.jpg")) as image:
        profile = image.info["icc_profile"]
    for name in ("large.webp", "thumbnail.webp"):
        with Image.open(tmp_path / name) as image:
            assert image.info["icc_profile"] == reduced(profile)
    develop("bad-profile.jpg")
    with Image.open(tmp_path / "large.webp") as image:
        assert "icc_profile" not in image.info
    assert b"script" not in (tmp_path / "large.webp").read_bytes()


@pytest.mark.parametrize("name", ["animated.gif", "animated.webp"])
def test_animations_keep_frames_times_and_loops(develop: Develop, tmp_path: Path, name: str) -> None:
    develop(name)
    for file in ("large.webp", "thumbnail.webp"):
        with Image.open(tmp_path / file) as image:
            assert isinstance(image.info["loop"], int)
            # GIF counts how often the animation comes again, WebP how often it is shown.
            assert image.info["loop"] in {LOOP, LOOP + 1}
            shown: list[tuple[object, Image.Image]] = []
            for frame in ImageSequence.Iterator(image):
                frame.load()
                shown.append((frame.info["duration"], frame.convert("RGB")))
        assert [duration for duration, _ in shown] == list(DELAYS)
        for (_, found), expected in zip(shown, frames(), strict=True):
            assert near(found.getpixel((90, 30)), expected.getpixel((90, 30)))  # type: ignore[arg-type]  # RGB


def test_every_frame_of_a_large_animation_is_made_smaller_by_itself(develop: Develop, tmp_path: Path) -> None:
    made = develop("large.gif")
    assert [(file.width, file.height) for file in made.files] == [(2048, 709), (640, 222)]
    expected = frames(4, (2600, 900))
    for file in made.files:
        with Image.open(tmp_path / file.name) as image:
            assert getattr(image, "n_frames", 1) == 4
            for place, whole in enumerate(expected):
                image.seek(place)
                rgb = image.convert("RGB")
                for row in (0, file.height // 2, file.height - 1):
                    colour = whole.getpixel((2000, 450))
                    assert isinstance(colour, tuple)
                    assert near(rgb.getpixel((file.width * 3 // 4, row)), colour)


def test_small_images_are_not_enlarged(develop: Develop) -> None:
    assert {(file.width, file.height) for file in develop("plain.jpg").files} == {quarters().size}


def test_large_images_are_made_to_fit(develop: Develop) -> None:
    assert [(file.width, file.height) for file in develop("within-limits.png").files] == [
        (side, side) for side in (2048, 1280, 640)
    ]


REASONS = {
    "bomb.png": "The image has 2,500,000,000 pixels (50,000 by 50,000); at most 50,000,000 are allowed.",
    "bomb.gif": "The image has 10,000 frames; at most 1,000 are allowed.",
    "many-pixels.gif": "The image has 800,000,000 pixels over all 800 frames; at most 300,000,000 are allowed.",
    "huge-header.jpg": "The image has 2,500,000,000 pixels (50,000 by 50,000); at most 50,000,000 are allowed.",
}


@pytest.mark.parametrize("name", BAD_IMAGES)
def test_bad_images_are_refused_with_a_reason(
    studio: Studio, corpus: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    outcome = studio.open(corpus(name), tmp_path)
    assert isinstance(outcome, Undecodable)
    if name in REASONS:
        assert outcome.reason == REASONS[name]
    else:
        assert re.fullmatch(r"The image is damaged or incomplete \(.+\)\.", outcome.reason)
    assert studio.ended[-1].max_rss_bytes < 80_000_000


def test_the_largest_image_that_is_allowed_stays_within_memory(
    studio: Studio, corpus: Callable[[str], Path], tmp_path: Path
) -> None:
    assert isinstance(studio.open(corpus("within-limits.png"), tmp_path), Processed)
    assert studio.ended[-1].max_rss_bytes < 300_000_000


def test_an_image_that_needs_more_memory_than_is_allowed_is_refused(
    studio: Studio, corpus: Callable[[str], Path], tmp_path: Path
) -> None:
    outcome = studio.open(corpus("within-limits.png"), tmp_path, DecodingLimits(address_bytes=170_000_000))
    # libvips reports errors where it can and ends the process where it cannot.
    assert isinstance(outcome, Undecodable | ChildDied)


def test_an_output_larger_than_allowed_is_refused(
    studio: Studio, corpus: Callable[[str], Path], tmp_path: Path
) -> None:
    outcome = studio.open(corpus("within-limits.png"), tmp_path, DecodingLimits(written_bytes=500))
    assert isinstance(outcome, Undecodable)
    assert outcome.reason == "What is made of the file would be larger than 500 bytes."
