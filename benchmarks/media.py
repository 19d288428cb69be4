"""Measures media and prints the table: part of `make bench`; alone with `.venv/bin/python -m benchmarks.media`.

Pictures per second, and a clip beside plain PyAV doing the same in one process that has nothing else to do; and what
processing costs those who publish meanwhile.
"""

# PyAV and Pillow leave the parameters of some of their types open.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import argparse
import asyncio
import io
import math
import statistics
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal

import av
import httpx
import msgspec
import uvloop
from PIL import Image

from benchmarks.posting import Posted
from benchmarks.processes import ROOT, Server, load_average, measure, real_server
from benchmarks.queued import listeners
from pressroom.domains.media.kinds import FileKind
from pressroom.domains.media.sandbox import Sandbox

OUT: Final = ROOT / "benchmarks" / "out"
CLIP_SECONDS: Final = 10
SHORT_SECONDS: Final = 2
RATE: Final = 30
VIDEOS: Final = 50
PER_SECOND: Final = 100


class Figures(msgspec.Struct):
    """The result of one round. Times in seconds, but for the p99s, in milliseconds."""

    pictures_per_second: float
    clip: float
    plain: float
    repacked: float
    idle_p99: float
    busy_p99: float


def photograph() -> bytes:
    """A JPEG of twelve megapixels with some grain."""
    with io.BytesIO() as kept:
        Image.effect_noise((4000, 3000), 40).convert("RGB").save(kept, "JPEG", quality=80)
        return kept.getvalue()


def film(path: Path, codec: Literal["libvpx", "libx264"], seconds: float) -> None:
    """A 720p clip in which something moves."""
    scene = Image.effect_noise((1280 + 600, 720), 60).resize((1880, 720)).convert("RGB")
    with av.open(str(path), "w") as output:
        stream = output.add_stream(codec, rate=RATE)
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = 1280, 720, "yuv420p", 4_000_000
        for number in range(round(seconds * RATE)):
            shift = round(300 + 290 * math.sin(number / 20))
            frame = av.VideoFrame.from_image(scene.crop((shift, 0, shift + 1280, 720)))
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            for packet in stream.encode(frame):
                output.mux(packet)
        for packet in stream.encode():
            output.mux(packet)


def plainly(source: Path, target: Path) -> None:
    """The same transcoding by PyAV alone: no child, no limits, no poster, no checks."""
    with av.open(str(source)) as given, av.open(str(target), "w", options={"movflags": "faststart"}) as output:
        old = given.streams.video[0]
        new = output.add_stream("libx264", rate=RATE, options={"preset": "veryfast", "crf": "23"})
        new.width, new.height, new.pix_fmt, new.thread_count = old.width, old.height, "yuv420p", 2
        for frame in given.decode(old):
            frame.pict_type = 0
            for packet in new.encode(frame):
                output.mux(packet)
        for packet in new.encode():
            output.mux(packet)


async def decoding(folder: Path) -> tuple[float, float, float, float]:
    """Pictures per second; seconds for a clip, for plain PyAV, and for a clip that is only repacked."""
    (folder / "photo.jpg").write_bytes(photograph())
    await asyncio.to_thread(film, folder / "clip.webm", "libvpx", CLIP_SECONDS)
    await asyncio.to_thread(film, folder / "clip.mp4", "libx264", CLIP_SECONDS)
    async with Sandbox() as sandbox:

        async def once(name: str, kind: FileKind) -> float:
            with tempfile.TemporaryDirectory(dir=folder) as made:
                began = time.perf_counter()
                await sandbox.process(folder / name, kind, Path(made))
                return time.perf_counter() - began

        await once("photo.jpg", FileKind.JPEG)
        began = time.perf_counter()
        await asyncio.gather(*[_several(lambda: once("photo.jpg", FileKind.JPEG), 6) for _ in range(2)])
        pictures = 12 / (time.perf_counter() - began)
        began = time.perf_counter()
        await asyncio.to_thread(plainly, folder / "clip.webm", folder / "plain.mp4")
        plain = time.perf_counter() - began
        return pictures, await once("clip.webm", FileKind.WEBM), plain, await once("clip.mp4", FileKind.MP4)


async def _several(work: Callable[[], object], times: int) -> None:
    for _ in range(times):
        await work()  # type: ignore[misc]  # a coroutine function


def publishing(folder: Path, seconds: float) -> tuple[float, float]:
    """The p99 of creates at a steady rate, with nothing else to do and while videos are processed."""
    folder.mkdir()
    keys = uvloop.run(listeners(folder / "pressroom.db", ["http://127.0.0.1:9/"] * 10))
    (folder / "keys.txt").write_text("\n".join(keys), "utf-8")
    server = real_server(folder, keys[0], DEV=1)
    try:
        given = ("--port", server.port, "--keys", folder / "keys.txt", "--per-second", PER_SECOND)
        measure("posting", *given, "--seconds", 1, answer=Posted)
        idle = measure("posting", *given, "--seconds", seconds, answer=Posted)
        film(folder / "short.webm", "libvpx", SHORT_SECONDS)
        _upload(server, keys[1], (folder / "short.webm").read_bytes())
        busy = measure("posting", *given, "--seconds", seconds, answer=Posted)
        return idle.p99, busy.p99
    finally:
        server.stop()


def _upload(server: Server, key: str, video: bytes) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers, timeout=60) as client:
        for _ in range(VIDEOS):
            answer = client.post("/api/clips", files={"video": ("clip.webm", video, "video/webm")})
            assert answer.status_code == 201, answer.text


def table(rounds: list[Figures]) -> str:
    """The figures: medians over the rounds."""

    def median(figure: Callable[[Figures], float]) -> float:
        return statistics.median(figure(one) for one in rounds)

    slowed = median(lambda one: one.busy_p99 / one.idle_p99)
    lines = [
        ("pictures/s (12 megapixels)", f"{median(lambda one: one.pictures_per_second):.1f}", "", None),
        ("clip of 10 s at 720p, s", f"{median(lambda one: one.clip):.1f}", "", None),
        ("the same by plain PyAV, s", f"{median(lambda one: one.plain):.1f}", "", None),
        ("ratio", f"{median(lambda one: one.clip / one.plain):.2f}", "", None),
        ("clip that is only repacked, s", f"{median(lambda one: one.repacked):.2f}", "", None),
        (f"create at {PER_SECOND}/s, p99, ms", f"{median(lambda one: one.idle_p99):.1f}", "", None),
        (f"the same beside {VIDEOS} videos, ms", f"{median(lambda one: one.busy_p99):.1f}", "", None),
        ("ratio", f"{slowed:.2f}", "≤ 1.5", slowed <= 1.5),
    ]
    marks = {True: "met", False: "NOT MET", None: ""}
    return "\n".join(f"{name:<38} {value:>20}  {target:<8} {marks[met]}" for name, value, target, met in lines)


def main() -> None:
    """The command line. Ends with status 0 whatever was measured: speed is shown here, not tested."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.media", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round")
    count = 1 if parser.parse_args().quick else 3
    began, busy = time.perf_counter(), load_average()
    OUT.mkdir(exist_ok=True)
    rounds: list[Figures] = []
    with tempfile.TemporaryDirectory(dir=OUT) as place:
        for number in range(count):
            folder = Path(place) / str(number)
            folder.mkdir()
            rounds.append(Figures(*asyncio.run(decoding(folder)), *publishing(folder / "served", 10)))
    (OUT / "media.json").write_bytes(msgspec.json.format(msgspec.json.encode(rounds)))
    print(f"\nMedia. {busy:.1f} processes wanted a core before it began.\n")
    print(table(rounds))
    print(f"\n{time.perf_counter() - began:.0f} s in all. Every round: benchmarks/out/media.json")


if __name__ == "__main__":
    main()
