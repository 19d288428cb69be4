"""Processes videos in a child process: to H.264 and AAC in MP4, upright, at most 1080p, with a poster, no metadata.

A video that every browser plays is copied packet by packet; any other is encoded again (`transcoding`).
"""

# PyAV leaves the parameters of its generic types and of **kwargs open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import errno
import importlib
import pkgutil
from fractions import Fraction
from pathlib import Path
from typing import Final, NamedTuple

import av
import pyvips
from av import error as av_error
from av import logging as av_logging
from av.bitstream import BitStreamFilterContext
from av.container import OutputContainer
from av.error import ArgumentError, FFmpegError, InvalidDataError
from av.frame import Frame
from av.stream import Stream

from pressroom.domains.media import images
from pressroom.domains.media.decoding import (
    MEDIUM_SIDE,
    MP4,
    POSTER,
    THUMBNAIL_SIDE,
    VIDEO,
    DecodingLimits,
    Processed,
    Rendition,
    Undecodable,
)
from pressroom.domains.media.geometry import (
    Orientation,
    VideoFacts,
    displayed,
    ends_early,
    fitted,
    orientation_of,
    plays_everywhere,
)
from pressroom.domains.media.kinds import FileKind
from pressroom.domains.media.transcoding import NO_SEI, Pictures, frame_seconds, transcode
from pressroom.domains.media.video_files import OpenedVideo, open_output, open_video, too_long

POSTER_FRAMES: Final = 48
"""Frames at the beginning among which the poster is searched: the first that is not black."""

_BLACK: Final = 24


class _NotCopyable(Exception):
    """The packets cannot be copied; encode the video again."""


class _FirstLook(NamedTuple):
    """Facts from the first frames of a video. width and height in pixels as it will be encoded."""

    facts: VideoFacts
    orientation: Orientation
    width: int
    height: int
    poster: pyvips.Image
    declared_seconds: float | None


def prepare() -> None:
    """Silences FFmpeg and loads all of PyAV. Call it once, before any child is made.

    PyAV loads some of its modules on first use, which a confined child cannot do.
    """
    av_logging.set_level(None)
    for module in pkgutil.walk_packages(av.__path__, "av."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def process(source: Path, kind: FileKind, folder: Path, limits: DecodingLimits) -> Processed:
    """Writes video.mp4, poster.webp and thumbnail.webp of a video. Raises Undecodable, TakesLong."""
    try:
        with open_video(source, kind, limits) as opened:
            opened.check_work()
        look = _look(source, kind, limits)
        path = folder / VIDEO
        if not plays_everywhere(look.facts) or not _copied(source, kind, path, look, limits):
            ends = transcode(source, kind, path, look.orientation, (look.width, look.height), limits)
            _check_whole(look, ends)
        duration = _duration(path)
    except av_error.MemoryError as error:
        raise MemoryError from error
    except FFmpegError as error:
        # The disk is full, or the child has written as much as it may: no fault of the video.
        if error.errno in {errno.EFBIG, errno.ENOSPC, errno.EDQUOT}:
            raise OSError(error.errno, error.strerror) from error
        raise Undecodable(f"The video is damaged or incomplete ({error.strerror}).") from error
    poster = images.write_webp(images.fitted(look.poster, MEDIUM_SIDE), folder / POSTER, images.SMALLER_QUALITIES[0])
    thumbnail = images.write_thumbnail(look.poster, folder)
    main = Rendition(VIDEO, MP4, look.width, look.height, path.stat().st_size)
    files = [main, poster, thumbnail]
    return Processed(
        main.width,
        main.height,
        duration,
        main.size,
        files,
        images.placeholder(images.fitted(look.poster, THUMBNAIL_SIDE)),
    )


def _look(source: Path, kind: FileKind, limits: DecodingLimits) -> _FirstLook:
    """Checks the header and decodes the first frames. Raises Undecodable."""
    with open_video(source, kind, limits) as opened:
        video = opened.video
        pictures: Pictures | None = None
        orientation, size, poster = orientation_of(None), (0, 0), None
        for number, frame in enumerate(opened.video_frames()):
            if pictures is None:
                matrix = frame.side_data.get("DISPLAYMATRIX")
                orientation = orientation_of(bytes(matrix) if matrix is not None else None)
                size = fitted(*displayed(frame.width, frame.height, video.sample_aspect_ratio, orientation))
                pictures = Pictures(orientation, size, "rgb24")
            for picture in pictures.push(frame):
                image = _image(picture)
                # A video whose first frames are all black shows the first of them.
                poster = poster if poster is not None else image
                if image.avg() >= _BLACK:
                    return _FirstLook(_facts(opened, orientation), orientation, *size, image, opened.seconds)
            if number + 1 >= POSTER_FRAMES:
                break
        if pictures is not None and poster is None:
            poster = next((_image(picture) for picture in pictures.end()), None)
        if poster is None:
            raise Undecodable("The video has no picture that can be decoded.")
        return _FirstLook(_facts(opened, orientation), orientation, *size, poster, opened.seconds)


def _image(picture: av.VideoFrame) -> pyvips.Image:
    plane = picture.planes[0]
    row = picture.width * 3
    data = bytes(plane)
    # FFmpeg pads rows for its vector instructions, and libvips takes none that are padded.
    if plane.line_size != row:
        data = b"".join(data[top : top + row] for top in range(0, plane.line_size * picture.height, plane.line_size))
    image = pyvips.Image.new_from_memory(data, picture.width, picture.height, 3, "uchar")
    return image.copy(interpretation="srgb").copy_memory()


def _facts(opened: OpenedVideo, orientation: Orientation) -> VideoFacts:
    video, audio = opened.video, opened.audio
    return VideoFacts(
        opened.format,
        video.codec_context.name,
        video.pix_fmt or "",
        video.profile or "",
        video.width,
        video.height,
        video.sample_aspect_ratio,
        orientation,
        _fastest(video.average_rate, video.guessed_rate),
        opened.start_seconds or 0.0,
        audio.codec_context.name if audio is not None else None,
        audio.profile if audio is not None else None,
        audio.codec_context.channels if audio is not None else 0,
    )


def _fastest(*rates: Fraction | None) -> Fraction | None:
    return next((rate for rate in rates if rate), None)


def _copied(source: Path, kind: FileKind, path: Path, look: _FirstLook, limits: DecodingLimits) -> bool:
    """Copies the packets; returns False when they cannot be copied. Raises Undecodable."""
    try:
        with open_video(source, kind, limits) as opened, open_output(path) as output:
            ends = _copy(opened, output, limits)
    except (_NotCopyable, InvalidDataError, ArgumentError, ValueError):
        path.unlink(missing_ok=True)
        return False
    _check_whole(look, ends)
    return True


def _copy(opened: OpenedVideo, output: OutputContainer, limits: DecodingLimits) -> list[float]:
    """Copies the packets, decoding all of them to find damage. Returns the end of each track in seconds."""
    opened.be_strict()
    copies: dict[int, Stream] = {}
    for stream in opened.chosen:
        copy = output.add_stream_from_template(stream, opaque=True)
        copy.metadata.clear()
        copies[stream.index] = copy
    no_sei = BitStreamFilterContext(NO_SEI, opened.video)
    ends = dict.fromkeys(copies, 0.0)
    last = dict.fromkeys(copies, -(2**63))
    for packet in opened.packets():
        for frame in packet.decode():
            if isinstance(frame, Frame) and frame.is_corrupt:
                raise _NotCopyable
            if isinstance(frame, av.VideoFrame):
                opened.count(frame)
        # Behind the last packet of a track comes an empty one, which only has the decoder give out its last frames.
        if packet.size == 0:
            continue
        index = packet.stream_index
        # An MP4 file needs a time for each packet, and times that rise.
        if packet.dts is None or packet.pts is None or packet.dts <= last[index]:
            raise _NotCopyable
        if packet.is_discard and index == opened.video.index:
            # An edit list cuts within a group of pictures, which copying packets cannot do.
            raise _NotCopyable
        last[index] = packet.dts
        ends[index] = max(ends[index], float((packet.pts + (packet.duration or 0)) * packet.time_base))
        if ends[index] > limits.video_seconds:
            raise Undecodable(too_long(limits))
        for piece in no_sei.filter(packet) if index == opened.video.index else [packet]:
            piece.stream = copies[index]
            output.mux(piece)
    for piece in no_sei.filter(None):
        piece.stream = copies[opened.video.index]
        output.mux(piece)
    return list(ends.values())


def _check_whole(look: _FirstLook, ends: list[float]) -> None:
    if ends_early(look.declared_seconds, ends):
        raise Undecodable(
            f"The video is incomplete: it should last {look.declared_seconds or 0:.1f} seconds and ends after"
            f" {max(ends, default=0.0):.1f}."
        )


def _duration(path: Path) -> float:
    """Returns the duration in seconds of the written video, as players will see it."""
    with av.open(str(path), "r", format="mp4") as written:
        video = written.streams.video[0]
        if written.duration:
            return written.duration / 1_000_000
        return frame_seconds(video.average_rate)
