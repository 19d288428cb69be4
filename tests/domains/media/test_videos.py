"""Videos of the corpus: the result plays, is upright, and tells nothing."""

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import av
import pytest
from PIL import Image

from pressroom.domains.media.sandbox import DecodingLimits, Processed, Undecodable
from tests.corpus.make import BAD_VIDEOS, FLIPPED, VIDEOS
from tests.domains.media.colours import BLUE, GREEN, RED, WHITE, corners, near
from tests.domains.media.conftest import Studio

Develop = Callable[[str], Processed]
COPIED = {
    "plain.mp4",
    "plain.mov",
    "silent.mp4",
    "fast.mp4",
    "secrets.mp4",
    "tall.mp4",
    "one-frame.mp4",
    "hostile-atom.mp4",
}
SILENT = {
    "silent.mp4", "elementary.mpg", "odd-matrix.mov", "zero-matrix.mov", "odd.webm", "tiny.webm", "4k.mp4", "tall.mp4",
    "one-frame.mp4", "uneven.webm",
}  # fmt: skip


def atoms(data: bytes) -> list[bytes]:
    """The names of an MP4's outermost atoms, in order."""
    names: list[bytes] = []
    place = 0
    while place < len(data):
        names.append(data[place + 4 : place + 8])
        place += int.from_bytes(data[place : place + 4], "big") or len(data)
    return names


def pictures(path: Path) -> list[tuple[float, Image.Image]]:
    """Every picture of a video and when it is shown, in seconds."""
    with av.open(str(path)) as video:
        return [(frame.time, frame.to_image()) for frame in video.decode(video=0)]


@pytest.mark.parametrize("name", VIDEOS)
def test_clips_play_in_browsers(develop: Develop, tmp_path: Path, name: str) -> None:
    made = develop(name)
    path = tmp_path / "video.mp4"
    with av.open(str(path)) as video:
        picture = video.streams.video[0]
        assert (picture.codec_context.name, picture.pix_fmt) == ("h264", "yuv420p")
        assert (picture.width, picture.height) == (made.width, made.height)
        assert made.width % 2 == made.height % 2 == 0
        assert max(made.width, made.height) <= 1920
        assert min(made.width, made.height) <= 1080
        assert (picture.average_rate or 0) <= 61
        assert [sound.codec_context.name for sound in video.streams.audio] == ([] if name in SILENT else ["aac"])
        assert len(video.streams) == (1 if name in SILENT else 2)
        assert made.duration == pytest.approx((video.duration or 0) / 1_000_000)
    names = atoms(path.read_bytes())
    assert names[0] == b"ftyp"
    assert names.index(b"moov") < names.index(b"mdat")
    assert pictures(path)
    for file in made.files[1:]:
        with Image.open(tmp_path / file.name) as image:
            assert (image.format, image.size) == ("WEBP", (file.width, file.height))
            assert not image.getexif()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["poster.webp", "thumbnail.webp", "video.mp4"]


@pytest.mark.parametrize("name", VIDEOS)
def test_clips_hold_no_metadata(develop: Develop, tmp_path: Path, name: str) -> None:
    develop(name)
    data = (tmp_path / "video.mp4").read_bytes()
    with av.open(str(tmp_path / "video.mp4")) as video:
        assert set(video.metadata) <= {"major_brand", "minor_version", "compatible_brands"}
        for stream in video.streams:
            assert set(stream.metadata) <= {"language", "handler_name", "vendor_id"}
    if name not in COPIED:
        assert b"Lavc" not in data
    for word in (b"secret", b"+52.52", b"Lavf", b"x264", b"\xa9too", b"\xa9xyz", b"\xa9nam"):
        assert word not in data


@pytest.mark.parametrize("name", VIDEOS)
def test_times_are_kept(develop: Develop, corpus: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    made = develop(name)
    times = [at for at, _ in pictures(tmp_path / "video.mp4")]
    source = [at for at, _ in pictures(corpus(name))]
    if name == "elementary.mpg":
        source = [number / 25 for number in range(len(source))]
    assert times == sorted(set(times))
    assert all(later - earlier >= 1 / 61 for earlier, later in itertools.pairwise(times))
    start = source[0]
    assert times[0] == pytest.approx(0, abs=0.05)
    assert times[-1] == pytest.approx(source[-1] - start, abs=0.06)
    assert made.duration is not None
    assert made.duration >= times[-1]


@pytest.mark.parametrize("name", sorted(COPIED))
def test_playable_video_is_not_encoded_again(
    develop: Develop, corpus: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    develop(name)
    before, after = pictures(corpus(name)), pictures(tmp_path / "video.mp4")
    assert [at for at, _ in before] == pytest.approx([at for at, _ in after])
    assert [image.tobytes() for _, image in before] == [image.tobytes() for _, image in after]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain.mov", (RED, GREEN, BLUE, WHITE)),
        ("turned-90.mov", (GREEN, WHITE, RED, BLUE)),
        ("turned-180.mov", (WHITE, BLUE, GREEN, RED)),
        ("turned-270.mov", (BLUE, RED, WHITE, GREEN)),
        ("zero-matrix.mov", (RED, GREEN, BLUE, WHITE)),
        ("odd-matrix.mov", (RED, GREEN, BLUE, WHITE)),
        ("444.mp4", (RED, GREEN, BLUE, WHITE)),
        ("10-bit.mp4", (RED, GREEN, BLUE, WHITE)),
        ("4k.mp4", (RED, GREEN, BLUE, WHITE)),
        ("program.mpg", (RED, GREEN, BLUE, WHITE)),
        ("vp9.webm", (RED, GREEN, BLUE, WHITE)),
    ],
)
def test_pictures_are_upright(
    develop: Develop, tmp_path: Path, name: str, expected: tuple[tuple[int, int, int], ...]
) -> None:
    develop(name)
    pictures(tmp_path / "video.mp4")[-1][1].save(tmp_path / "last.png")
    for file in ("last.png", "poster.webp", "thumbnail.webp"):
        found = corners(tmp_path / file)
        assert all(near(one, other, 40) for one, other in zip(found, expected, strict=True)), (file, found)


def test_sound_stays_in_step(develop: Develop, tmp_path: Path) -> None:
    develop("vp8.webm")
    with av.open(str(tmp_path / "video.mp4")) as video:
        sounds = list(video.decode(audio=0))
    assert sum(sound.samples for sound in sounds) / 48_000 == pytest.approx(1.0, abs=0.05)
    assert (sounds[0].time or 0) == pytest.approx(0, abs=0.03)


REASONS = {
    "sound.mp4": "The file has no video track.",
    "sound.webm": "The file has no video track.",
    "covered.mp4": "The file has no video track.",
    "no-frames.mp4": "The video has no picture that can be decoded.",
    "many-samples.mp4": "The video has no picture that can be decoded.",
    "outside.mov": "The video has no picture that can be decoded.",
    "pause.mp4": "The video lasts 660 seconds; at most 600 seconds are allowed.",
    "cut.webm": "The video is incomplete: it should last 2.0 seconds and ends after 0.8.",
    "cut-fast.mp4": "The video is incomplete: the file ends within a picture.",
}


@pytest.mark.parametrize("name", BAD_VIDEOS)
def test_bad_videos_are_refused_with_a_reason(
    studio: Studio, corpus: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    # The file that one of them refers to is there to be found.
    corpus("plain.mov")
    outcome = studio.open(corpus(name), tmp_path)
    assert isinstance(outcome, Undecodable)
    if name in REASONS:
        assert outcome.reason == REASONS[name]
    else:
        assert re.fullmatch(r"The video is damaged or incomplete \(.+\)\.", outcome.reason)
    assert studio.ended[-1].max_rss_bytes < 120_000_000


@pytest.mark.parametrize("name", FLIPPED)
def test_bent_files_end_well_or_with_a_reason(
    studio: Studio, corpus: Callable[[str], Path], tmp_path: Path, name: str
) -> None:
    outcome = studio.open(corpus(name), tmp_path)
    assert isinstance(outcome, Processed | Undecodable), outcome
    if isinstance(outcome, Processed):
        main = tmp_path / outcome.files[0].name
        if main.suffix == ".mp4":
            assert pictures(main)
        else:
            with Image.open(main) as image:
                image.load()


def test_a_video_that_is_longer_than_allowed_is_refused(
    studio: Studio, corpus: Callable[[str], Path], tmp_path: Path
) -> None:
    for name in ("plain.mp4", "program.mpg", "elementary.mpg"):
        outcome = studio.open(corpus(name), tmp_path, DecodingLimits(video_seconds=0))
        assert isinstance(outcome, Undecodable)
        assert "at most 0 seconds are allowed" in outcome.reason


def test_a_video_that_is_larger_than_allowed_is_refused(
    studio: Studio, corpus: Callable[[str], Path], tmp_path: Path
) -> None:
    outcome = studio.open(corpus("plain.mp4"), tmp_path, DecodingLimits(video_side=300))
    assert isinstance(outcome, Undecodable)
    assert outcome.reason == (
        "The video is 320 by 180 pixels; at most 300 on a side and 50,000,000 in all are allowed."
    )


def test_a_large_video_stays_within_memory(studio: Studio, corpus: Callable[[str], Path], tmp_path: Path) -> None:
    assert isinstance(studio.open(corpus("4k.mp4"), tmp_path), Processed)
    assert studio.ended[-1].max_rss_bytes < 700_000_000
