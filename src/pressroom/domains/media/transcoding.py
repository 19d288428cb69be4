"""Encodes a video again: pictures rotated, scaled and timed, the sound as AAC."""

# PyAV leaves the parameters of its generic types and of **kwargs open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Final

import av
from av import error as av_error
from av.audio.stream import AudioStream
from av.bitstream import BitStreamFilterContext
from av.codec.context import Flags
from av.container import OutputContainer
from av.filter import Graph
from av.packet import Packet
from av.video.stream import VideoStream

from pressroom.domains.media.decoding import VIDEO_RATE, DecodingLimits, Undecodable
from pressroom.domains.media.geometry import Orientation
from pressroom.domains.media.kinds import FileKind
from pressroom.domains.media.video_files import THREADS, OpenedVideo, open_output, open_video, too_long

TICKS: Final = 90_000
"""Time units per second in the output."""

SAMPLE_RATE: Final = 48_000
AUDIO_BITS: Final = 128_000
NO_SEI: Final = "filter_units=remove_types=6"
"""Removes supplemental units of H.264, which hold metadata of cameras and encoders, for instance the location."""

USUAL_RATE: Final = Fraction(25)
_ENCODER: Final = {"preset": "veryfast", "crf": "23", "maxrate": "8M", "bufsize": "16M", "profile": "high"}
_TOLERANCE: Final = 0.002


def frame_seconds(rate: Fraction | None) -> float:
    """Returns the seconds that one frame is shown at `rate` frames a second."""
    return float(1 / rate) if rate else float(1 / USUAL_RATE)


class Pictures:
    """Rotates and scales frames. `push` takes one and returns those that are done; `end` returns the rest."""

    def __init__(self, orientation: Orientation, size: tuple[int, int], format_: str) -> None:
        self._orientation = orientation
        self._size = size
        self._format = format_
        self._graph: Graph | None = None
        self._shape: tuple[int, int, str, bool] | None = None

    def push(self, frame: av.VideoFrame) -> list[av.VideoFrame]:
        """Returns the frames that are done after `frame`. Size and format may change from frame to frame."""
        shape = (frame.width, frame.height, frame.format.name, frame.interlaced_frame)
        done: list[av.VideoFrame] = []
        if self._graph is None or shape != self._shape:
            done = self.end()
            self._graph, self._shape = self._made(frame), shape
        self._graph.vpush(frame)
        return done + _pulled(self._graph)

    def end(self) -> list[av.VideoFrame]:
        """Returns the frames that were still buffered."""
        if self._graph is None:
            return []
        graph, self._graph = self._graph, None
        graph.vpush(None)
        return _pulled(graph)

    def _made(self, frame: av.VideoFrame) -> Graph:
        width, height = self._size
        is_video = self._format == "yuv420p"
        steps = [
            *([("yadif", "deint=interlaced")] if frame.interlaced_frame else []),
            *self._orientation.filters,
            ("scale", f"{width}:{height}:flags=bicubic" + (":out_range=tv" if is_video else "")),
            ("format", self._format),
            ("setsar", "1"),
            ("buffersink", ""),
        ]
        graph = Graph()
        graph.threads = THREADS
        source = graph.add_buffer(
            width=frame.width, height=frame.height, format=frame.format, time_base=Fraction(1, TICKS)
        )
        nodes = [graph.add(name, arguments or None) for name, arguments in steps]
        graph.link_nodes(source, *nodes).configure()
        return graph


def _pulled(graph: Graph) -> list[av.VideoFrame]:
    frames: list[av.VideoFrame] = []
    while True:
        try:
            frames.append(graph.vpull())
        except (av_error.BlockingIOError, av_error.EOFError):
            return frames


class Sound:
    """Aligns sound with the pictures: fills gaps with silence, and converts to one rate and layout."""

    def __init__(self, channels: int) -> None:
        self.layout = "mono" if channels == 1 else "stereo"
        self._graph: Graph | None = None
        self._shape: tuple[int, str, str] | None = None

    def push(self, frame: av.AudioFrame, seconds: float) -> list[av.AudioFrame]:
        """Returns the frames that are done after `frame`, which begins at `seconds`. Raises Undecodable."""
        shape = (frame.sample_rate, frame.format.name, frame.layout.name)
        if self._graph is None:
            self._graph, self._shape = self._made(frame), shape
        if shape != self._shape:
            raise Undecodable("The sound of the video changes its format midway.")
        frame.time_base = Fraction(1, frame.sample_rate)
        frame.pts = round(seconds * frame.sample_rate)
        self._graph.push(frame)
        return self._pulled()

    def end(self) -> list[av.AudioFrame]:
        """Returns the frames that were still buffered."""
        if self._graph is None:
            return []
        self._graph.push(None)
        return self._pulled()

    def _made(self, frame: av.AudioFrame) -> Graph:
        graph = Graph()
        graph.threads = 1
        nodes = [
            graph.add_abuffer(
                sample_rate=frame.sample_rate,
                format=frame.format.name,
                layout=frame.layout.name,
                time_base=Fraction(1, frame.sample_rate),
            ),
            graph.add("aresample", f"{SAMPLE_RATE}:async=1:first_pts=0"),
            graph.add("aformat", f"sample_fmts=fltp:sample_rates={SAMPLE_RATE}:channel_layouts={self.layout}"),
            graph.add("abuffersink"),
        ]
        graph.link_nodes(*nodes).configure()
        return graph

    def _pulled(self) -> list[av.AudioFrame]:
        frames: list[av.AudioFrame] = []
        while self._graph is not None:
            try:
                frame = self._graph.pull()
            except (av_error.BlockingIOError, av_error.EOFError):
                break
            if isinstance(frame, av.AudioFrame):
                frames.append(frame)
        return frames


class Timing:
    """Decides when each picture is shown: from 0 on, strictly increasing, at most VIDEO_RATE a second."""

    def __init__(self, start: float, rate: Fraction | None, limits: DecodingLimits) -> None:
        self._start = start
        self._step = frame_seconds(rate)
        self._limits = limits
        self._last: float | None = None

    def place(self, seconds: float | None) -> float | None:
        """Returns when to show a picture of `seconds`, or None to drop it. Raises Undecodable past the limit."""
        last = self._last
        guess = 0.0 if last is None else last + self._step
        at = guess if seconds is None else max(0.0, seconds - self._start)
        if at > self._limits.video_seconds:
            raise Undecodable(too_long(self._limits))
        if last is not None and at < last + 1 / VIDEO_RATE - _TOLERANCE:
            return None
        self._last = at
        return at


def transcode(
    source: Path, kind: FileKind, path: Path, orientation: Orientation, size: tuple[int, int], limits: DecodingLimits
) -> list[float]:
    """Encodes `source` to `path` in `size` (pixels). Returns the end of each track in seconds. Raises Undecodable."""
    with open_video(source, kind, limits) as opened, open_output(path) as output:
        return list(_Transcoder(opened, output, orientation, size).run())


class _Transcoder:
    def __init__(
        self, opened: OpenedVideo, output: OutputContainer, orientation: Orientation, size: tuple[int, int]
    ) -> None:
        self._opened = opened
        self._output = output
        rate = opened.video.average_rate or opened.video.guessed_rate or USUAL_RATE
        self._rate = min(max(rate, Fraction(1)), Fraction(VIDEO_RATE))
        self._video = self._video_stream(size)
        self._audio = self._audio_stream()
        output.start_encoding()
        self._no_sei = BitStreamFilterContext(NO_SEI, self._video)
        self._pictures = Pictures(orientation, size, "yuv420p")
        self._sound = Sound(opened.audio.codec_context.channels if opened.audio is not None else 0)
        self._timing = Timing(opened.start_seconds, self._rate, opened.limits)
        self._held: Packet[VideoStream] | None = None
        self._lead = 0
        self._heard = 0.0
        self._seen = 0.0

    def run(self) -> Iterator[float]:
        for frame in self._opened.frames():
            if isinstance(frame, av.VideoFrame):
                self._take_picture(frame)
            elif self._audio is not None:
                self._take_sound(frame, self._audio)
        for picture in self._pictures.end():
            self._encode(picture)
        self._write(self._video.encode(None))
        self._write_last()
        if self._audio is not None:
            for sound in self._sound.end():
                self._output.mux(self._audio.encode(sound))
            self._output.mux(self._audio.encode(None))
        yield self._seen
        yield self._heard

    def _video_stream(self, size: tuple[int, int]) -> VideoStream:
        stream = self._output.add_stream("libx264", rate=self._rate, options=dict(_ENCODER))
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        context = stream.codec_context
        context.time_base = Fraction(1, TICKS)
        context.thread_count = THREADS
        context.gop_size = 240
        source = self._opened.video.codec_context
        context.color_primaries, context.color_trc = source.color_primaries, source.color_trc
        context.colorspace = source.colorspace
        return stream

    def _audio_stream(self) -> AudioStream | None:
        audio = self._opened.audio
        if audio is None:
            return None
        layout = "mono" if audio.codec_context.channels == 1 else "stereo"
        stream = self._output.add_stream("aac", rate=SAMPLE_RATE, layout=layout, bit_rate=AUDIO_BITS)
        # Otherwise the encoder writes its name into the sound.
        stream.codec_context.flags |= Flags.bitexact
        return stream

    def _take_picture(self, frame: av.VideoFrame) -> None:
        at = self._timing.place(frame.time)
        if at is None:
            return
        self._seen = at + float(1 / self._rate)
        frame.time_base = Fraction(1, TICKS)
        frame.pts = round(at * TICKS)
        for picture in self._pictures.push(frame):
            self._encode(picture)

    def _encode(self, picture: av.VideoFrame) -> None:
        # Let our encoder choose the key frames, not the source's.
        picture.pict_type = 0
        self._write(self._video.encode(picture))

    def _write(self, packets: "list[Packet[VideoStream]]") -> None:
        for packet in chain.from_iterable(map(self._no_sei.filter, packets)):
            packet.stream = self._video
            if self._held is None:
                self._lead = (packet.dts or 0) - (packet.pts or 0)
            else:
                self._output.mux(self._held)
            self._held = packet

    def _write_last(self) -> None:
        # An MP4 track lasts as long as its decoding times span. Without this, reordered pictures at the end would be
        # cut off.
        last = self._held
        if last is None or last.dts is None:
            raise Undecodable("The video has no picture that can be decoded.")
        last.duration = max(last.duration or 0, round(self._seen * TICKS) - last.dts + self._lead)
        self._output.mux(last)

    def _take_sound(self, frame: av.AudioFrame, stream: AudioStream) -> None:
        at = self._heard if frame.time is None else frame.time - self._opened.start_seconds
        if at > self._opened.limits.video_seconds:
            raise Undecodable(too_long(self._opened.limits))
        self._heard = max(self._heard, at + frame.samples / max(1, frame.sample_rate))
        if at + frame.samples / max(1, frame.sample_rate) <= 0:
            return
        for sound in self._sound.push(frame, at):
            self._output.mux(stream.encode(sound))
