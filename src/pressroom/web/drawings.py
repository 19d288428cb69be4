"""Drawn pictures over HTTP: which id an address names, and the response."""

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
