"""Style sheets, scripts and pictures: each at an address that changes with its content, so that it is kept for good."""

import mimetypes
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final

from pressroom.web.codings import CachedBody
from pressroom.web.response import Response

FOREVER: Final = (b"cache-control", b"public, max-age=31536000, immutable")
VENDOR: Final = "vendor/"

STYLES: Final = "pressroom"
"""The folder of style sheets that are sent as one, `pressroom.css`, joined in the order of their names."""


@cache
def static_names() -> tuple[str, ...]:
    """Returns the path of every file below `static/`, as it is sent."""
    found: list[str] = []
    folders = [("", files("pressroom.web") / "static")]
    while folders:
        prefix, folder = folders.pop()
        for entry in folder.iterdir():
            name = f"{prefix}{entry.name}"
            if name == STYLES:
                found.append(f"{name}.css")
            elif entry.is_dir():
                folders.append((f"{name}/", entry))
            elif not name.endswith((".md", ".py", ".pyc")):
                found.append(name)
    return tuple(sorted(found))


@cache
def static_path(name: str) -> str:
    """Returns the address of the file below `static/` at the path `name`; templates know this as `static(name)`."""
    return f"/static/{_digests()[_group(name)]}/{name}"


@cache
def static_file(name: str) -> Response:
    """Returns the file below `static/` at the path `name`, ready to be sent."""
    content_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    content_type += "; charset=utf-8" if content_type.startswith("text/") else ""
    content = _read(name)
    headers = [FOREVER, (b"x-content-type-options", b"nosniff")]
    return Response(200, content, content_type.encode(), headers, cached=CachedBody(content))


def _group(name: str) -> str:
    """Returns the files that share an address: those of a library, which name each other, or all of ours."""
    return "/".join(name.split("/")[:2]) if name.startswith(VENDOR) else ""


@cache
def _digests() -> dict[str, str]:
    """Returns a hash of the names and bytes of each group. An unknown name is an error of ours, in a template."""
    groups: dict[str, list[str]] = {}
    for name in static_names():
        groups.setdefault(_group(name), []).append(name)
    return {group: _digest(names) for group, names in groups.items()}


def _digest(names: list[str]) -> str:
    whole = sha256()
    for name in names:
        whole.update(name.encode() + b"\0" + sha256(_read(name)).digest())
    return whole.hexdigest()[:12]


@cache
def _read(name: str) -> bytes:
    static = files("pressroom.web").joinpath("static")
    if name == f"{STYLES}.css":
        parts = sorted(static.joinpath(STYLES).iterdir(), key=lambda part: part.name)
        return b"\n".join(part.read_bytes() for part in parts)
    return static.joinpath(name).read_bytes()
