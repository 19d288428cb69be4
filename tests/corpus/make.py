"""The corpus: `python -m tests.corpus.make FOLDER` writes every file of it; tests make the ones they need.

Each name tells what a file is; its ending is what a sender would call it, true or not.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.corpus import clips, pictures
from tests.corpus.clips import Recipe, made
from tests.corpus.pictures import flipped, noisy, truncated

Maker = Callable[[Path], None]

IMAGES: Final[dict[str, Maker]] = {
    "plain.jpg": pictures.jpeg,
    "plain.png": pictures.png,
    "plain.webp": pictures.webp,
    "plain.gif": pictures.gif,
    "progressive.jpg": pictures.jpeg_progressive,
    "grey.jpg": pictures.jpeg_grey,
    "cmyk.jpg": pictures.jpeg_cmyk,
    "alpha.png": pictures.png_alpha,
    "palette.png": pictures.png_palette,
    "16-bit.png": pictures.png_16_bit,
    "16-bit-grey.png": pictures.png_16_bit_grey,
    "gps.jpg": pictures.jpeg_gps,
    "text.png": pictures.png_text,
    "profile.jpg": pictures.jpeg_profile,
    "bad-profile.jpg": pictures.jpeg_bad_profile,
    "animated.gif": pictures.gif_animated,
    "animated.webp": pictures.webp_animated,
    "large.gif": pictures.gif_large,
    "within-limits.png": pictures.png_within_limits,
    "huge-canvas.gif": pictures.gif_huge_canvas,
    "gif-js.gif": pictures.gif_js,
    "jpeg-zip.jpg": pictures.jpeg_zip,
    **{f"orientation-{number}.jpg": pictures.jpeg_oriented(number) for number in range(1, 9)},
}
"""Images that are good, however odd."""

BAD_IMAGES: Final[dict[str, Maker]] = {
    "bomb.png": pictures.png_bomb,
    "bomb.gif": pictures.gif_bomb,
    "many-pixels.gif": pictures.gif_many_pixels,
    "huge-canvas.webp": pictures.webp_huge_canvas,
    "huge-header.jpg": pictures.jpeg_huge_header,
    "zero.jpg": pictures.jpeg_zero,
    "zero.png": pictures.png_zero,
    "zero.gif": pictures.gif_zero,
    "pdf.jpg": pictures.pdf_in_jpeg,
    "cut.jpg": truncated(noisy("JPEG"), 0.6),
    "cut-a-little.jpg": truncated(noisy("JPEG"), 0.97),
    "cut.png": truncated(noisy("PNG"), 0.6),
    "cut.gif": truncated(noisy("GIF"), 0.6),
    "cut.webp": truncated(noisy("WEBP"), 0.6),
    "head.jpg": truncated(noisy("JPEG"), 0.004),
    "head.png": truncated(noisy("PNG"), 0.0002),
}
"""Images that cannot be decoded, or must not be."""

FLIPPED: Final[dict[str, Maker]] = {
    **{f"hostile-{name}.mp4": clips.hostile_atom(name.encode()) for name in ("trak", "mdia", "stbl", "stsd", "stts")},
    "cut.mpg": truncated(made(Recipe("mpeg", "mpeg2video", "mp2")), 0.5),
    "cut-head.mpg": truncated(made(Recipe("mpeg", "mpeg2video", "mp2")), 0.005),
    **{f"flipped-{seed}.jpg": flipped(noisy("JPEG"), seed) for seed in range(6)},
    **{f"flipped-{seed}.png": flipped(noisy("PNG"), seed) for seed in range(4)},
    **{f"flipped-{seed}.gif": flipped(noisy("GIF"), seed) for seed in range(6)},
    **{f"flipped-{seed}.webp": flipped(noisy("WEBP"), seed) for seed in range(6)},
    **{f"flipped-{seed}.mp4": flipped(made(Recipe(seconds=0.4)), seed) for seed in range(8)},
    **{
        f"flipped-{seed}.webm": flipped(made(Recipe("webm", "libvpx", "libopus", seconds=0.4)), seed)
        for seed in range(4)
    },
    **{
        f"flipped-{seed}.mpg": flipped(made(Recipe("mpeg", "mpeg2video", "mp2", seconds=0.4)), seed)
        for seed in range(4)
    },
}
"""Files with bent bits, or cut where nothing tells: they end well or not, but they end."""

UNKNOWN: Final[dict[str, Maker]] = {
    "svg.png": pictures.svg_named_png,
    "html.png": pictures.html_named_png,
    "video.mkv": made(Recipe("matroska", seconds=0.2)),
    "sound.m4a": made(Recipe("ipod", video=None, seconds=0.2)),
}
"""Files of kinds that are not taken."""

VIDEOS: Final[dict[str, Maker]] = {
    "plain.mp4": made(Recipe(options=(("profile", "main"),))),
    "plain.mov": made(Recipe("mov")),
    "silent.mp4": made(Recipe(audio=None)),
    "fast.mp4": made(Recipe(faststart=True)),
    "secrets.mp4": made(Recipe(secrets=True)),
    "secrets.webm": made(Recipe("webm", "libvpx", "libopus", secrets=True)),
    "vp8.webm": made(Recipe("webm", "libvpx", "libopus")),
    "vp9.webm": made(Recipe("webm", "libvpx-vp9", "libopus")),
    "program.mpg": made(Recipe("mpeg", "mpeg2video", "mp2")),
    "elementary.mpg": made(Recipe("mpeg2video", "mpeg2video", None)),
    "turned-90.mov": made(Recipe("mov", turned=90)),
    "turned-180.mov": made(Recipe("mov", turned=180)),
    "turned-270.mov": made(Recipe("mov", turned=-90)),
    "odd-matrix.mov": clips.odd_matrix,
    "zero-matrix.mov": clips.zero_matrix,
    "444.mp4": made(Recipe(pixels="yuv444p")),
    "10-bit.mp4": made(Recipe(pixels="yuv420p10le")),
    "odd.webm": made(Recipe("webm", "libvpx", None, size=(321, 181))),
    "tiny.webm": made(Recipe("webm", "libvpx", None, size=(1, 1), seconds=0.2)),
    "4k.mp4": made(Recipe(size=(3840, 2160), audio=None, seconds=0.4)),
    "tall.mp4": made(Recipe(size=(1080, 1920), audio=None, seconds=0.2)),
    "120-fps.mp4": made(Recipe(rate=120, seconds=0.5)),
    "one-frame.mp4": clips.one_frame,
    "uneven.webm": clips.uneven,
    "hostile-atom.mp4": clips.hostile_atom(b"moov"),
}
"""Videos that are good, however odd."""

BAD_VIDEOS: Final[dict[str, Maker]] = {
    "sound.mp4": made(Recipe(video=None, seconds=0.3)),
    "sound.webm": made(Recipe("webm", None, "libopus", seconds=0.3)),
    "covered.mp4": clips.covered_audio,
    "no-frames.mp4": clips.no_frames,
    "header.mp4": clips.header_only,
    "many-samples.mp4": clips.many_samples,
    "outside.mov": clips.outside_reference,
    "pause.mp4": clips.long_pause,
    "cut.mp4": truncated(made(Recipe()), 0.6),
    "cut-fast.mp4": truncated(made(Recipe(faststart=True, seconds=2)), 0.6),
    "cut.webm": truncated(made(Recipe("webm", "libvpx", "libopus", seconds=2)), 0.4),
}
"""Videos that cannot be decoded, or must not be."""

TYPICAL: Final[dict[str, Maker]] = {
    "photo.jpg": pictures.photo,
    "720p.mp4": made(Recipe(size=(1280, 720), rate=30, seconds=10, quality="20")),
    "720p.webm": made(Recipe("webm", "libvpx", "libopus", size=(1280, 720), rate=30, seconds=10)),
}
"""What most uploads are like. Only to measure with: they take a while to make."""

CORPUS: Final[dict[str, Maker]] = IMAGES | BAD_IMAGES | FLIPPED | UNKNOWN | VIDEOS | BAD_VIDEOS


def make(name: str, folder: Path) -> Path:
    """The file of the corpus called `name`, below `folder`, made when it is not there yet."""
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        (CORPUS | TYPICAL)[name](path)
    return path


if __name__ == "__main__":
    for each in CORPUS:
        print(make(each, Path(sys.argv[1])))
