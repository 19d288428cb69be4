"""The colours of a picture's quarters, as the corpus paints them and as another decoder finds them."""

from pathlib import Path

from PIL import Image

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def near(found: object, expected: tuple[int, ...], by: int = 24) -> bool:
    """Whether a pixel is about the colour that is expected."""
    assert isinstance(found, tuple)
    return all(abs(one - other) <= by for one, other in zip(found, expected, strict=True))


def corners(path: Path) -> list[object]:
    """The colours in the middle of the four quarters, by rows."""
    with Image.open(path) as image:
        rgb = image.convert("RGB")
        wide, high = rgb.size
        return [rgb.getpixel((wide * x // 4, high * y // 4)) for y in (1, 3) for x in (1, 3)]
