"""Pictures for accounts and hubs that have none of their own, drawn from ids and initials, and their responses."""

import hashlib
import unicodedata
from functools import lru_cache
from html import escape
from urllib.parse import quote

from pressroom.errors import NotFound
from pressroom.web.response import Response


def id_of_drawing(name: str) -> str:
    """Returns the id that the name of a drawing begins with; `.svg` follows. Raises NotFound for what cannot be one."""
    if not (name.endswith(".svg") and name[:-4].isalnum() and len(name) == 30):
        raise NotFound("There is no such picture.")
    return name[:-4]


def drawing(svg: bytes, caching: tuple[bytes, bytes]) -> Response:
    """Returns the response with an SVG, which may load and run nothing."""
    headers = [
        caching,
        (b"content-security-policy", b"default-src 'none'"),
        (b"x-content-type-options", b"nosniff"),
    ]
    return Response(200, svg, b"image/svg+xml", headers)


# Light on dark by at least 4.5 to 1, for every hue.
_NAMED = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" role="img" aria-label="avatar">'
    '<rect width="96" height="96" fill="hsl({hue} 45% 30%)"/>'
    '<text x="48" y="50" fill="hsl({hue} 60% 88%)" font-family="system-ui, sans-serif" font-size="40"'
    ' font-weight="600" text-anchor="middle" dominant-baseline="central">{initials}</text></svg>'
)
_NAMELESS = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" role="img" aria-label="avatar">'
    '<rect width="96" height="96" fill="hsl({hue} 45% 30%)"/>'
    '<circle cx="48" cy="38" r="17" fill="hsl({hue} 60% 88%)"/>'
    '<path d="M14 96c0-22 15-34 34-34s34 12 34 34z" fill="hsl({hue} 60% 88%)"/></svg>'
)
_GROUP = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 96" role="img" aria-label="avatar">'
    '<rect width="96" height="96" fill="hsl({hue} 45% 42%)"/><g fill="hsl({hue} 60% 88%)">'
    '<circle cx="48" cy="30" r="14"/><circle cx="28" cy="62" r="14"/><circle cx="68" cy="62" r="14"/></g></svg>'
)


def initials(name: str) -> str:
    """`Mira de Vries` → `MV`: the first letters or digits of the first and the last word, at most two code points.

    A name without any gives its first sign, if that is visible, as an emoji is.
    """
    words = [first for word in name.split() if (first := _first_letter(word))]
    if not words:
        sign = name.strip()[:1]
        return sign if sign and unicodedata.category(sign)[0] in "SP" else "?"
    return words[0] if len(words) == 1 else words[0] + words[-1]


def _first_letter(word: str) -> str:
    """Returns the first letter or digit of a word as a capital; "" when there is none."""
    letter = next((each for each in word if unicodedata.category(each)[0] in "LN"), "")
    return letter.upper()[:1]


def draw_avatar(account_id: str, name: str | None = None) -> bytes:
    """Returns an SVG with the initials of a name, None: with the figure of a person. Its colour depends on the id."""
    hue = _hue(account_id)
    if name is None:
        return _NAMELESS.format(hue=hue).encode()
    return _NAMED.format(hue=hue, initials=escape(initials(name))).encode()


def draw_hub_avatar(hub_id: str) -> bytes:
    """Returns an SVG whose colour depends on the hub's id."""
    return _GROUP.format(hue=_hue(hub_id)).encode()


@lru_cache(4_096)
def avatar_source(address: str, name: str | None) -> str:
    """Returns the `src` of an `<img>` for the avatar at `address`: a drawn one, `…/{id}.svg`, comes within the page."""
    if not address.endswith(".svg"):
        return address
    path, _, drawn = address.removesuffix(".svg").rpartition("/")
    svg = draw_hub_avatar(drawn) if path.endswith("/hubs") else draw_avatar(drawn, name)
    return "data:image/svg+xml," + quote(svg, safe=" /:=(),")


def _hue(identifier: str) -> int:
    return int.from_bytes(hashlib.sha256(identifier.encode()).digest()[:2]) % 360
