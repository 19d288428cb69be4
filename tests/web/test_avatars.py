"""Drawn pictures: well-formed whatever the name, and legible in every colour."""

import colorsys
import re
from xml.etree import ElementTree

import pytest

from pressroom.web.avatars import draw_avatar

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Mira de Vries", "MV"),
        ("<script>alert(1)</script>", "S"),
        ("<>", "<"),
        ("&amp", "A"),
        ("&", "&"),
        ("'\"", "'"),
        ("\u202eevil\u202c 9 lives", "EL"),
        ("\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd", "\u05e9\u05e2"),
        ("\U0001f388\U0001f389", "\U0001f388"),
        ("\ufffe\uffff", "?"),
        ("{hue}", "H"),
        ("]]>", "]"),
        ("", "?"),
    ],
)
def test_it_holds_the_initials_as_text(name: str, shown: str) -> None:
    tree = ElementTree.fromstring(draw_avatar("01KJPX7NCXC3C1PSD84ZVECKAK", name))  # noqa: S314  # our own drawing

    assert [each.tag for each in tree.iter()] == [f"{SVG}svg", f"{SVG}rect", f"{SVG}text"]
    assert tree.findtext(f"{SVG}text") == shown


def test_without_a_name_it_is_a_figure() -> None:
    assert b"<text" not in draw_avatar("01KJPX7NCXC3C1PSD84ZVECKAK")


def test_initials_are_legible_in_every_colour() -> None:
    svg = draw_avatar("01KJPX7NCXC3C1PSD84ZVECKAK", "Mira").decode()
    (_, *back), (_, *front) = re.findall(r"hsl\((\d+) (\d+)% (\d+)%\)", svg)
    ratios = [contrast(hue, *map(int, front), *map(int, back)) for hue in range(360)]
    assert min(ratios) >= 4.5


def contrast(hue: int, *parts: int) -> float:
    """WCAG's ratio of two colours of one hue, each a saturation and a lightness in percent."""
    light, dark = sorted((luminance(hue, *parts[:2]), luminance(hue, *parts[2:])), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(hue: int, saturation: int, lightness: int) -> float:
    channels = colorsys.hls_to_rgb(hue / 360, lightness / 100, saturation / 100)
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
