"""Odd and hostile videos, made with PyAV. Every function writes one file and is deterministic."""

import io
import math
import struct
from array import array
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Final, NamedTuple

import av
from av.container import OutputContainer
from av.stream import Disposition
from PIL import Image

from tests.corpus.pictures import quarters

RATE: Final = 48_000
SECRETS: Final = {"title": "secret-title", "comment": "secret-comment", "location": "+52.5200+013.4050/"}


class Recipe(NamedTuple):
    """A video to be made. `seconds` of pictures at `rate`; sound unless `audio` is None."""

    container: str = "mp4"
    video: str | None = "libx264"
    audio: str | None = "aac"
    size: tuple[int, int] = (320, 180)
    pixels: str = "yuv420p"
    rate: int = 25
    seconds: float = 1.0
    turned: float = 0.0
    options: tuple[tuple[str, str], ...] = ()
    faststart: bool = False
    secrets: bool = False
    quality: str = "28"


def made(recipe: Recipe) -> Callable[[Path], None]:
    """A function that writes a video by this recipe."""

    def make(path: Path) -> None:
        write(path, recipe)

    return make


def write(path: Path, recipe: Recipe) -> None:
    """Writes a video whose pictures are `quarters()` with a bar that wanders, and whose sound is 440 Hz."""
    options = {"movflags": "+faststart"} if recipe.faststart else {}
    with av.open(str(path), "w", format=recipe.container, options=options) as output:
        if recipe.secrets:
            output.metadata.update(SECRETS)
        video = _video(output, recipe) if recipe.video else None
        audio = _audio(output, recipe.audio) if recipe.audio else None
        if video is not None:
            for frame in pictures(recipe):
                output.mux(video.encode(frame))
            output.mux(video.encode(None))
        if audio is not None:
            for sound in tone(recipe.seconds):
                output.mux(audio.encode(sound))
            output.mux(audio.encode(None))


def _audio(output: OutputContainer, codec: str) -> av.AudioStream:
    stream = output.add_stream(codec, rate=RATE)
    assert isinstance(stream, av.AudioStream)
    stream.layout = "stereo"
    return stream


def _video(output: OutputContainer, recipe: Recipe) -> av.VideoStream:
    assert recipe.video is not None
    options = dict(recipe.options)
    if recipe.video == "libx264":
        options = {"preset": "ultrafast", "crf": recipe.quality} | options
    if recipe.video == "libvpx-vp9":
        options = {"deadline": "realtime", "cpu-used": "8"} | options
    video = output.add_stream(recipe.video, rate=recipe.rate, options=options)
    assert isinstance(video, av.VideoStream)
    video.width, video.height = recipe.size
    video.pix_fmt = recipe.pixels
    video.codec_context.thread_count = 2
    if recipe.video.startswith("libvpx") or recipe.video == "mpeg2video":
        video.bit_rate = 1_000_000
    if recipe.turned:
        video.set_display_rotation(recipe.turned)
    return video


def pictures(recipe: Recipe) -> Iterator[av.VideoFrame]:
    """The frames of a recipe."""
    width, height = recipe.size
    ground = quarters(width, height)
    for number in range(max(1, round(recipe.seconds * recipe.rate))):
        image = ground.copy()
        place = number * 4 % max(1, width - 8)
        image.paste((255, 255, 0), (place, height // 2 - 2, place + 8, height // 2 + 2))
        frame = av.VideoFrame.from_image(image).reformat(format=recipe.pixels)
        frame.pts = number
        frame.time_base = Fraction(1, recipe.rate)
        yield frame


def tone(seconds: float) -> Iterator[av.AudioFrame]:
    """A tone of 440 Hz in stereo."""
    count = int(seconds * RATE)
    for start in range(0, count, 1024):
        length = min(1024, count - start)
        wave = array("h")
        for place in range(start, start + length):
            level = int(8000 * math.sin(2 * math.pi * 440 * place / RATE))
            wave.extend((level, level))
        frame = av.AudioFrame(format="s16", layout="stereo", samples=length)
        frame.planes[0].update(wave.tobytes().ljust(frame.planes[0].buffer_size, b"\0"))
        frame.sample_rate = RATE
        frame.pts = start
        frame.time_base = Fraction(1, RATE)
        yield frame


def many_tracks(path: Path) -> None:
    """Twenty seconds with 24 tracks of sound; a file may have 32 tracks in all."""
    recipe = Recipe(seconds=20.0)
    with av.open(str(path), "w", format="mp4") as output:
        video, sounds = _video(output, recipe), [_audio(output, "aac") for _ in range(24)]
        for frame in pictures(recipe):
            output.mux(video.encode(frame))
        output.mux(video.encode(None))
        for sound in sounds:
            for part in tone(recipe.seconds):
                output.mux(sound.encode(part))
            output.mux(sound.encode(None))


def one_frame(path: Path) -> None:
    write(path, Recipe(audio=None, seconds=0.04))


def no_frames(path: Path) -> None:
    """An index with no pictures in it."""
    write(path, Recipe(audio=None, seconds=0.04))
    data = bytearray(path.read_bytes())
    for name, width in ((b"stsz", 12), (b"stts", 8), (b"stsc", 8), (b"stco", 8), (b"stss", 8)):
        place = data.find(name)
        if place > 0:
            data[place + 4 + width - 4 : place + 4 + width] = bytes(4)
    path.write_bytes(data)


def header_only(path: Path) -> None:
    path.write_bytes(struct.pack(">I4s4sI4s4s", 24, b"ftyp", b"isom", 512, b"isom", b"mp42"))


def hostile_atom(name: bytes) -> Callable[[Path], None]:
    """A video with an atom whose stated size is the largest of 64 bits."""

    def make(path: Path) -> None:
        write(path, Recipe(seconds=0.2))
        data = path.read_bytes()
        place = data.index(name) - 4
        path.write_bytes(data[:place] + struct.pack(">I4sQ", 1, name, 2**63 - 1) + data[place + 8 :])

    return make


def many_samples(path: Path) -> None:
    """A table that says it holds four billion samples."""
    write(path, Recipe(audio=None, seconds=0.2))
    data = bytearray(path.read_bytes())
    place = data.index(b"stsz")
    data[place + 8 : place + 16] = struct.pack(">2I", 1, 0xFFFFFFFF)
    path.write_bytes(data)


def outside_reference(path: Path) -> None:
    """A MOV whose pictures are said to be in the file `plain.mov` beside it, by an alias of the old Macintosh."""
    write(path, Recipe(container="mov", audio=None, seconds=0.2))
    data = bytearray(path.read_bytes())
    target = str(path.with_name("plain.mov")).encode()
    alias = bytes(10) + b"\x01v".ljust(28, b"\0") + bytes(12) + b"\x09plain.mov".ljust(64, b"\0") + bytes(16)
    alias += struct.pack(">2H", 1, 1) + bytes(16)
    alias += struct.pack(">2H", 2, len(target)) + target + b"\0" * (len(target) % 2) + struct.pack(">2H", 0xFFFF, 0)
    entry = b"alis" + bytes(4) + alias
    place = data.index(b"dref") + 12
    old = int.from_bytes(data[place : place + 4], "big")
    data[place : place + old] = struct.pack(">I", len(entry) + 4) + entry
    for name in (b"moov", b"trak", b"mdia", b"minf", b"dinf", b"dref"):
        start = (data.rindex if name in {b"minf", b"dinf", b"dref"} else data.index)(name) - 4
        size = int.from_bytes(data[start : start + 4], "big") + len(entry) + 4 - old
        data[start : start + 4] = struct.pack(">I", size)
    path.write_bytes(data)


def odd_matrix(path: Path) -> None:
    """A display matrix of 45 degrees."""
    write(path, Recipe(container="mov", audio=None, turned=90, seconds=0.4))
    data = bytearray(path.read_bytes())
    place = data.index(b"tkhd") + 4 + 40
    half = round(0.7071 * 65536)
    data[place : place + 36] = struct.pack(">9i", half, half, 0, -half, half, 0, 0, 0, 0x40000000)
    path.write_bytes(data)


def zero_matrix(path: Path) -> None:
    write(path, Recipe(container="mov", audio=None, turned=90, seconds=0.4))
    data = bytearray(path.read_bytes())
    place = data.index(b"tkhd") + 4 + 40
    data[place : place + 36] = bytes(36)
    path.write_bytes(data)


def long_pause(path: Path) -> None:
    """Two pictures, eleven minutes apart."""
    with av.open(str(path), "w", format="mp4") as output:
        video = output.add_stream("libx264", rate=25)
        video.width, video.height = 64, 64
        for number, frame in enumerate(pictures(Recipe(size=(64, 64), seconds=0.08))):
            frame.pts = number * 660 * 25
            output.mux(video.encode(frame))
        output.mux(video.encode(None))


def uneven(path: Path) -> None:
    """Pictures at uneven times, some closer together than 1/60 s."""
    with av.open(str(path), "w", format="webm") as output:
        video = output.add_stream("libvpx", rate=25)
        video.width, video.height = 64, 64
        video.codec_context.time_base = Fraction(1, 1000)
        times = [0, 5, 10, 40, 41, 300, 301, 800, 1500]
        for at, frame in zip(times, pictures(Recipe(size=(64, 64), seconds=1)), strict=False):
            frame.pts, frame.time_base = at, Fraction(1, 1000)
            output.mux(video.encode(frame))
        output.mux(video.encode(None))


def covered_audio(path: Path) -> None:
    """Sound with a cover picture, which is no video."""
    with av.open(str(path), "w", format="mp4") as output:
        audio = output.add_stream("aac", rate=RATE)
        audio.layout = "stereo"
        cover = output.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 64, 64, "yuvj420p"
        cover.disposition = Disposition.attached_pic
        buffer = io.BytesIO()
        Image.new("RGB", (64, 64)).save(buffer, "JPEG")
        for sound in tone(0.2):
            output.mux(audio.encode(sound))
        output.mux(audio.encode(None))
        packet = av.Packet(buffer.getvalue())
        packet.stream, packet.pts, packet.dts, packet.is_keyframe = cover, 0, 0, True
        output.mux(packet)


def looped(path: Path, size: tuple[int, int], times: int) -> None:
    """A picture, and one that hardly differs shown `times` times: much to decode in a small file."""
    recipe = Recipe(audio=None, size=size, seconds=2 / 25, options=(("bf", "0"), ("crf", "51")))
    with av.open(str(path), "w", format="mp4") as output:
        video = _video(output, recipe)
        packets = [packet for frame in pictures(recipe) for packet in video.encode(frame)] + video.encode(None)
        first, again = packets[0], packets[-1]
        output.mux(first)
        data = bytes(again)
        for number in range(1, times + 1):
            packet = av.Packet(data)
            packet.stream, packet.time_base = video, again.time_base
            packet.pts = packet.dts = number * (again.pts or 1)
            packet.duration = again.duration or 0
            output.mux(packet)
