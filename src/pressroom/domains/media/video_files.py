"""Opens videos: for reading, without access to other files, and for writing."""

# PyAV leaves the parameters of its generic types and of **kwargs open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import contextlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO, Final, NoReturn, cast

import av
from av.audio.codeccontext import AudioCodecContext
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.error import FFmpegError, InvalidDataError
from av.packet import Packet
from av.stream import Disposition, Stream
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from pressroom.domains.media.decoding import DecodingLimits, TakesLong, Undecodable
from pressroom.domains.media.kinds import FileKind

THREADS: Final = 2
DAMAGED_PACKETS: Final = 0.1
"""The share of packets that may fail to decode before a video is taken to be damaged."""

_ELEMENTARY: Final = b"\x00\x00\x01\xb3"
_FORMATS: Final = {FileKind.MP4: "mov", FileKind.QUICKTIME: "mov", FileKind.WEBM: "matroska", FileKind.MPEG: "mpeg"}
_TIMED: Final = frozenset({"mov", "matroska"})
"""Formats whose header declares the duration; for others it is an estimate."""

VIDEO_CODECS: Final = [
    "h264",
    "hevc",
    "vp8",
    "vp9",
    "libvpx",
    "libvpx-vp9",
    "av1",
    "libdav1d",
    "mpeg1video",
    "mpeg2video",
    "mpeg4",
    "h263",
    "mjpeg",
    "prores",
]
AUDIO_CODECS: Final = [
    "aac",
    "mp3",
    "mp3float",
    "mp2",
    "mp2float",
    "mp1",
    "mp1float",
    "ac3",
    "ac3_fixed",
    "eac3",
    "opus",
    "libopus",
    "vorbis",
    "alac",
    "pcm_s16le",
    "pcm_s16be",
    "pcm_s24le",
    "pcm_s24be",
    "pcm_s32le",
    "pcm_u8",
    "pcm_s8",
    "pcm_f32le",
    "pcm_alaw",
    "pcm_mulaw",
]


class OpenedVideo:
    """An open video whose header was checked. `chosen` are the streams to use."""

    def __init__(self, container: InputContainer, format_: str, limits: DecodingLimits) -> None:
        self.container = container
        self.format = format_
        self.limits = limits
        self.video = _best_video(container)
        self.audio = _best_audio(container)
        self.chosen: list[Stream] = [self.video, *([self.audio] if self.audio is not None else [])]
        self.video.codec_context.thread_count = THREADS
        self.video.codec_context.thread_type = "AUTO"
        self._pixels = 0
        self.seconds = container.duration / 1_000_000 if container.duration and format_ in _TIMED else None
        self.start_seconds = container.start_time / 1_000_000 if container.start_time else 0.0
        self._check()

    def packets(self) -> "Iterator[Packet[Stream]]":
        """Yields the packets of the chosen streams. Raises Undecodable at one that is cut off."""
        for packet in self.container.demux(*self.chosen):
            if packet.is_corrupt:
                raise Undecodable("The video is incomplete: the file ends within a picture.")
            yield packet

    def frames(self) -> Iterator[av.VideoFrame | av.AudioFrame]:
        """Yields the frames of the chosen streams. Raises Undecodable when too many fail or are too large."""
        read = failed = 0
        for packet in self.packets():
            read += 1
            try:
                frames = packet.decode()
            except InvalidDataError:
                failed += 1
                continue
            for frame in frames:
                if isinstance(frame, av.VideoFrame):
                    self.count(frame)
                    yield frame
                elif isinstance(frame, av.AudioFrame):
                    yield frame
        if failed > DAMAGED_PACKETS * read:
            raise Undecodable(f"The video is damaged: {failed:,} of its {read:,} packets cannot be decoded.")

    def video_frames(self) -> Iterator[av.VideoFrame]:
        """Yields the frames of the video stream only."""
        self.chosen = [self.video]
        for frame in self.frames():
            if isinstance(frame, av.VideoFrame):
                yield frame

    def be_strict(self) -> None:
        """Makes decoders report damage instead of hiding it. Call it before decoding."""
        for stream in self.chosen:
            stream.codec_context.options = {"err_detect": "crccheck+bitstream+buffer+explode"}

    def check_side(self, width: int, height: int) -> None:
        """Raises Undecodable for dimensions, in pixels, that are not allowed."""
        limits = self.limits
        if min(width, height) < 1:
            raise Undecodable("The video has no picture that can be decoded.")
        if max(width, height) > limits.video_side or width * height > limits.frame_pixels:
            raise Undecodable(
                f"The video is {width:,} by {height:,} pixels; at most {limits.video_side:,} on a side and"
                f" {limits.frame_pixels:,} in all are allowed."
            )

    def check_work(self) -> None:
        """Counts the pictures without decoding them. Call it first, and open the file again afterwards.

        Raises Undecodable when they are more than is allowed, TakesLong when they are more than a short video's.
        """
        limits, context = self.limits, self.video.codec_context
        size, pictures = context.width * context.height, 0
        with contextlib.suppress(FFmpegError):  # decoding meets the same error and handles it
            for packet in self.container.demux(self.video):
                pictures += packet.size > 0
                if size * pictures > limits.video_pixels:
                    raise Undecodable(too_much(limits))
        if limits.at_once_pixels is not None and size * pictures > limits.at_once_pixels:
            raise TakesLong

    def count(self, frame: av.VideoFrame) -> None:
        """Counts the pixels of a decoded picture, whose size may differ from the header's. Raises Undecodable."""
        self.check_side(frame.width, frame.height)
        self._pixels += frame.width * frame.height
        if self._pixels > self.limits.video_pixels:
            raise Undecodable(too_much(self.limits))

    def _check(self) -> None:
        context = self.video.codec_context
        if context.name not in VIDEO_CODECS:
            raise Undecodable(f"Videos encoded as {context.name} are not taken.")
        self.check_side(context.width, context.height)
        if self.seconds is not None and self.seconds > self.limits.video_seconds:
            raise Undecodable(too_long(self.limits, self.seconds))


def too_much(limits: DecodingLimits) -> str:
    """Returns the reason to refuse a video whose pictures together have too many pixels."""
    return (
        f"The pictures of the video have more than {limits.video_pixels:,} pixels together (width by height by"
        " pictures). Make it smaller or shorter."
    )


def too_long(limits: DecodingLimits, seconds: float | None = None) -> str:
    """Returns the reason to refuse a video that lasts too long; `seconds` if its duration is known."""
    lasts = f"lasts {seconds:,.0f} seconds" if seconds is not None else "is too long"
    return f"The video {lasts}; at most {limits.video_seconds:,} seconds are allowed."


@contextlib.contextmanager
def open_video(source: Path, kind: FileKind, limits: DecodingLimits) -> Generator[OpenedVideo, None, None]:
    """Opens `source` in the format of its kind only. Raises Undecodable, or FFmpegError."""
    with source.open("rb") as file:
        format_ = _format(file, kind)
        with av.open(
            file,
            "r",
            format=format_,
            metadata_errors="replace",
            io_open=_refuse,
            container_options={
                "format_whitelist": "mov,mp4,m4a,3gp,3g2,mj2" if format_ == "mov" else _name(format_),
                "codec_whitelist": ",".join(VIDEO_CODECS + AUDIO_CODECS),
                "protocol_whitelist": "none",
                "max_streams": "32",
            },
        ) as container:
            yield OpenedVideo(container, format_, limits)


@contextlib.contextmanager
def open_output(path: Path) -> Generator[OutputContainer, None, None]:
    """Opens an MP4 for writing, with its index at the front and without the name of the encoder."""
    options = {"movflags": "+faststart", "fflags": "+bitexact"}
    with av.open(str(path), "w", format="mp4", options=options) as output:
        yield output


def _format(file: BinaryIO, kind: FileKind) -> str:
    head = file.read(len(_ELEMENTARY))
    file.seek(0)
    return "mpegvideo" if head == _ELEMENTARY else _FORMATS[kind]


def _name(format_: str) -> str:
    return "matroska,webm" if format_ == "matroska" else format_


def _refuse(url: str, flags: int, options: dict[str, str]) -> NoReturn:
    raise PermissionError("A video may not refer to another file.")


def _best_video(container: InputContainer) -> VideoStream:
    shown = [
        stream
        for stream in container.streams.video
        if not stream.disposition & Disposition.attached_pic
        and cast("VideoCodecContext | None", stream.codec_context) is not None
    ]
    if not shown:
        raise Undecodable("The file has no video track.")
    best = container.streams.best("video")
    return next((stream for stream in shown if best is not None and stream.index == best.index), shown[0])


def _best_audio(container: InputContainer) -> AudioStream | None:
    """Returns the audio stream to use, or None. Audio that cannot be decoded is left out."""
    known = [stream for stream in container.streams.audio if _is_known(stream)]
    best = container.streams.best("audio")
    return next(
        (stream for stream in known if best is not None and stream.index == best.index), next(iter(known), None)
    )


def _is_known(stream: AudioStream) -> bool:
    context = cast("AudioCodecContext | None", stream.codec_context)  # None for what FFmpeg does not know.
    return context is not None and context.name in AUDIO_CODECS and context.sample_rate > 0 and context.channels > 0
