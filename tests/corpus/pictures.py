"""Odd and hostile images. Every function writes one file and is deterministic."""

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PIL import Image, ImageCms, PngImagePlugin

ORIENTATION: Final = 0x0112
GPS: Final = 0x8825
DELAYS: Final = (40, 80, 120, 200, 50)
LOOP: Final = 3


def quarters(width: int = 120, height: int = 80) -> Image.Image:
    """Four colours, one in each corner: red, green, blue, white by rows. Each way to turn it looks different."""
    image = Image.new("RGB", (width, height))
    half, middle = width // 2, height // 2
    image.paste((255, 0, 0), (0, 0, half, middle))
    image.paste((0, 255, 0), (half, 0, width, middle))
    image.paste((0, 0, 255), (0, middle, half, height))
    image.paste((255, 255, 255), (half, middle, width, height))
    return image


def noise(width: int, height: int) -> Image.Image:
    """A picture that no codec makes small."""
    rough = random.Random(7).randbytes(width * height * 3)
    return Image.frombytes("RGB", (width, height), rough)


def saved(image: Image.Image, format_: str, **options: object) -> bytes:
    """The bytes of `image` in a format of Pillow."""
    buffer = io.BytesIO()
    image.save(buffer, format_, **options)
    return buffer.getvalue()


def jpeg(path: Path) -> None:
    path.write_bytes(saved(quarters(), "JPEG", quality=95))


def png(path: Path) -> None:
    path.write_bytes(saved(quarters(), "PNG"))


def webp(path: Path) -> None:
    path.write_bytes(saved(quarters(), "WEBP", lossless=True))


def gif(path: Path) -> None:
    path.write_bytes(saved(quarters(), "GIF"))


def png_alpha(path: Path) -> None:
    image = quarters().convert("RGBA")
    image.putalpha(Image.linear_gradient("L").resize(image.size))
    path.write_bytes(saved(image, "PNG"))


def photo(path: Path) -> None:
    """Twelve megapixels, as a phone makes them."""
    rough = Image.frombytes("L", (1000, 750), random.Random(3).randbytes(750_000)).resize(
        (4000, 3000), Image.Resampling.BICUBIC
    )
    slope = Image.linear_gradient("L").resize((4000, 3000))
    path.write_bytes(saved(Image.merge("RGB", [rough, slope, slope.rotate(180)]), "JPEG", quality=88))


def jpeg_oriented(orientation: int) -> Callable[[Path], None]:
    """A JPEG that is stored turned and says so, so that it looks like `quarters()` to whoever heeds it."""

    def make(path: Path) -> None:
        back = {
            2: Image.Transpose.FLIP_LEFT_RIGHT,
            3: Image.Transpose.ROTATE_180,
            4: Image.Transpose.FLIP_TOP_BOTTOM,
            5: Image.Transpose.TRANSPOSE,
            6: Image.Transpose.ROTATE_90,
            7: Image.Transpose.TRANSVERSE,
            8: Image.Transpose.ROTATE_270,
        }
        image = quarters()
        if orientation in back:
            image = image.transpose(back[orientation])
        exif = Image.Exif()
        exif[ORIENTATION] = orientation
        path.write_bytes(saved(image, "JPEG", quality=95, exif=exif))

    return make


def jpeg_gps(path: Path) -> None:
    """Where somebody lives, in EXIF, XMP and a comment."""
    exif = Image.Exif()
    exif[0x010F] = "Spy camera"
    exif[GPS] = {1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0)}
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><secret-place/></x:xmpmeta>'
    path.write_bytes(saved(quarters(), "JPEG", exif=exif, xmp=xmp, comment=b"secret-comment"))


def png_text(path: Path) -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("Author", "secret-author")
    text.add_itxt("XML:com.adobe.xmp", "<secret-place/>")
    path.write_bytes(saved(quarters(), "PNG", pnginfo=text))


def srgb_profile() -> bytes:
    """A colour profile that every reader knows."""
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def jpeg_profile(path: Path) -> None:
    path.write_bytes(saved(quarters(), "JPEG", quality=95, icc_profile=srgb_profile()))


def jpeg_bad_profile(path: Path) -> None:
    path.write_bytes(saved(quarters(), "JPEG", quality=95, icc_profile=b"<script>alert(1)</script>" * 40))


def jpeg_cmyk(path: Path) -> None:
    path.write_bytes(saved(quarters().convert("CMYK"), "JPEG", quality=95))


def jpeg_grey(path: Path) -> None:
    path.write_bytes(saved(quarters().convert("L"), "JPEG", quality=95))


def jpeg_progressive(path: Path) -> None:
    path.write_bytes(saved(quarters(), "JPEG", quality=95, progressive=True))


def png_16_bit(path: Path) -> None:
    """Sixteen bits a sample: a slope from black to white, red only in the left half."""
    width, height = 64, 32
    row = b"".join(
        struct.pack(">3H", *((65535, 0, 0) if column < width // 2 else (0, 32768, 65535))) for column in range(width)
    )
    path.write_bytes(_png(width, height, 16, 2, zlib.compress((b"\0" + row) * height)))


def png_16_bit_grey(path: Path) -> None:
    row = b"".join(struct.pack(">H", column * 1024) for column in range(64))
    path.write_bytes(_png(64, 32, 16, 0, zlib.compress((b"\0" + row) * 32)))


def png_palette(path: Path) -> None:
    path.write_bytes(saved(quarters().quantize(4), "PNG", transparency=0))


def frames(count: int = 5, size: tuple[int, int] = (100, 60)) -> list[Image.Image]:
    """Pictures, each with another colour and a bar at another place."""
    made: list[Image.Image] = []
    for number in range(count):
        image = Image.new("RGB", size, (40 * (number % 6), 200 - 30 * (number % 5), 90))
        image.paste((255, 255, 0), (number * 7 % size[0], 0, number * 7 % size[0] + 6, size[1]))
        made.append(image)
    return made


def gif_animated(path: Path) -> None:
    first, *rest = frames()
    path.write_bytes(saved(first, "GIF", save_all=True, append_images=rest, duration=list(DELAYS), loop=LOOP))


def webp_animated(path: Path) -> None:
    first, *rest = frames()
    options = {"save_all": True, "append_images": rest, "duration": list(DELAYS), "loop": LOOP}
    path.write_bytes(saved(first, "WEBP", lossless=True, **options))


def gif_large(path: Path) -> None:
    """An animation that is too large for both renditions."""
    first, *rest = frames(4, (2600, 900))
    path.write_bytes(saved(first, "GIF", save_all=True, append_images=rest, duration=100, loop=0))


def png_bomb(path: Path) -> None:
    """50,000 by 50,000 black pixels in a few kilobytes."""
    packer = zlib.compressobj(9)
    row = bytes(1 + 50_000 // 8)
    data = b"".join(packer.compress(row) for _ in range(50_000)) + packer.flush()
    path.write_bytes(_png(50_000, 50_000, 1, 0, data))


def png_within_limits(path: Path) -> None:
    """49 megapixels of one colour: as much as is allowed, in a small file."""
    packer = zlib.compressobj(9)
    row = bytes(1) + b"\x40\x80\xc0" * 7_000
    data = b"".join(packer.compress(row) for _ in range(7_000)) + packer.flush()
    path.write_bytes(_png(7_000, 7_000, 8, 2, data))


def gif_bomb(path: Path) -> None:
    """10,000 frames of a pixel each."""
    image = b"\x2c" + struct.pack("<4H", 0, 0, 1, 1) + b"\0\x02\x02\x44\x01\0"
    control = b"\x21\xf9\x04\0\x01\0\0\0"
    path.write_bytes(_gif_head(1, 1) + (control + image) * 10_000 + b"\x3b")


def gif_many_pixels(path: Path) -> None:
    """800 frames of one pixel each, on a canvas of 1,000 by 1,000."""
    image = b"\x2c" + struct.pack("<4H", 0, 0, 1, 1) + b"\0\x02\x02\x44\x01\0"
    path.write_bytes(_gif_head(1000, 1000) + (b"\x21\xf9\x04\0\x01\0\0\0" + image) * 800 + b"\x3b")


def gif_huge_canvas(path: Path) -> None:
    image = b"\x2c" + struct.pack("<4H", 0, 0, 1, 1) + b"\0\x02\x02\x44\x01\0"
    path.write_bytes(_gif_head(40_000, 40_000) + image + b"\x3b")


def webp_huge_canvas(path: Path) -> None:
    """16,384 by 16,384: the most that the format can say."""
    size = (16_383).to_bytes(3, "little")
    frame = saved(Image.new("RGB", (1, 1)), "WEBP", lossless=True)[12:]
    shown = bytes(6) + bytes(6) + (100).to_bytes(3, "little") + b"\0" + frame
    chunks = _chunk(b"VP8X", b"\x02\0\0\0" + size + size) + _chunk(b"ANIM", bytes(6)) + _chunk(b"ANMF", shown)
    path.write_bytes(b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WEBP" + chunks)


def jpeg_huge_header(path: Path) -> None:
    """A JPEG that says it has 50,000 by 50,000 pixels."""
    path.write_bytes(_resized_header(50_000, 50_000))


def jpeg_zero(path: Path) -> None:
    path.write_bytes(_resized_header(0, 0))


def png_zero(path: Path) -> None:
    path.write_bytes(_png(0, 0, 8, 2, zlib.compress(b"")))


def gif_zero(path: Path) -> None:
    path.write_bytes(_gif_head(0, 0) + b"\x3b")


def gif_js(path: Path) -> None:
    """A GIF to some, a script to others: its width opens a comment."""
    path.write_bytes(b"GIF89a/*" + saved(quarters(), "GIF")[8:] + b"*/=1;alert(1)//secret-script")


def jpeg_zip(path: Path) -> None:
    """A JPEG with an archive behind it."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as files:
        files.writestr("secret-page.html", "<script>alert(1)</script>")
    path.write_bytes(saved(quarters(), "JPEG", quality=95) + archive.getvalue())


def pdf_in_jpeg(path: Path) -> None:
    """The first bytes of a JPEG before a PDF: readers of PDF look past what comes first."""
    path.write_bytes(b"\xff\xd8\xff\xe0%PDF-1.7\n1 0 obj\n<</Type/Catalog>>\nendobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")


def svg_named_png(path: Path) -> None:
    path.write_bytes(b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><rect width="9" height="9"/></svg>')


def html_named_png(path: Path) -> None:
    path.write_bytes(b"<!doctype html><script>alert(1)</script>")


def truncated(make: Callable[[Path], None], share: float) -> Callable[[Path], None]:
    """The first part of what `make` makes."""

    def cut(path: Path) -> None:
        make(path)
        data = path.read_bytes()
        path.write_bytes(data[: int(len(data) * share)])

    return cut


def flipped(make: Callable[[Path], None], seed: int, bits: int = 12) -> Callable[[Path], None]:
    """What `make` makes, with some bits the other way round behind the first 32 bytes."""

    def flip(path: Path) -> None:
        make(path)
        data = bytearray(path.read_bytes())
        chance = random.Random(seed)
        for _ in range(bits):
            data[chance.randrange(32, len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(data)

    return flip


def noisy(format_: str, **options: object) -> Callable[[Path], None]:
    """A noisy picture, whose file is long enough to be cut and bent."""

    def make(path: Path) -> None:
        path.write_bytes(saved(noise(160, 120), format_, **options))

    return make


def _resized_header(width: int, height: int) -> bytes:
    data = bytearray(saved(quarters(), "JPEG"))
    place = data.index(b"\xff\xc0")
    data[place + 5 : place + 9] = struct.pack(">2H", height, width)
    return bytes(data)


def _png(width: int, height: int, depth: int, colour: int, data: bytes) -> bytes:
    head = struct.pack(">2I5B", width, height, depth, colour, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", data), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)) for name, body in parts
    )


def _gif_head(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<2H", width, height) + b"\x80\0\0" + b"\0\0\0\xff\xff\xff"


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)
