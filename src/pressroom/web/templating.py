"""HTML pages: Jinja2 with escaping on, and headers that forbid a page to load anything from elsewhere."""

import mimetypes
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import jinja2

from pressroom.web import filters
from pressroom.web.page_forms import base_name
from pressroom.web.response import Response
from pressroom.web.slices import Slices

_environment: Final = jinja2.Environment(
    loader=jinja2.PackageLoader("pressroom.web"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
)

_environment.filters.update(
    {
        "base_name": base_name,
        "duration": filters.duration,
        "field_id": filters.field_id,
        "iso_time": filters.iso_time,
        "number": filters.number,
        "shown_time": filters.shown_time,
    }
)

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:{elsewhere}; media-src 'self'{elsewhere};"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What pages are allowed that people only read: no script at all."""

APP_POLICY: Final = f"{POLICY}; script-src 'self'; connect-src 'self'"
"""What pages are allowed on which people do something: script from files of ours."""

DOCS_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


async def page_in_slices(
    slices: Slices,
    template: str,
    values: Mapping[str, object],
    *,
    code: int = 200,
    media_from: str | None = None,
    policy: str = POLICY,
) -> Response:
    """Returns a page like `page`, rendered in slices: for pages of what people wrote, which may be long.

    `media_from` is the origin of a store that pictures and videos may come from as well.
    """
    html = await slices.join(_environment.get_template(template).generate(values))
    return _page(html, code, policy.replace("{elsewhere}", f" {media_from}" if media_from else ""))


def page(template: str, values: Mapping[str, object], *, code: int = 200, policy: str = POLICY) -> Response:
    """Returns a page made of a template and values. Nothing in it may load from elsewhere or run inline script."""
    return _page(_environment.get_template(template).render(values), code, policy.replace("{elsewhere}", ""))


@cache
def static_names() -> tuple[str, ...]:
    """Returns the path of every file below `static/`."""
    found: list[str] = []
    folders = [("", files("pressroom.web") / "static")]
    while folders:
        prefix, folder = folders.pop()
        for entry in folder.iterdir():
            name = f"{prefix}{entry.name}"
            if entry.is_dir():
                folders.append((f"{name}/", entry))
            elif not name.endswith((".md", ".py", ".pyc")):
                found.append(name)
    return tuple(found)


@cache
def static_file(name: str) -> Response:
    """Returns the file below `static/` at the path `name`, ready to be sent."""
    content_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
    content_type += "; charset=utf-8" if content_type.startswith("text/") else ""
    headers = [(b"cache-control", b"public, max-age=3600"), (b"x-content-type-options", b"nosniff")]
    content = files("pressroom.web").joinpath("static", name).read_bytes()
    return Response(200, content, content_type.encode(), headers)


def _page(html: str, code: int, policy: str) -> Response:
    return Response(code, html.encode(), b"text/html; charset=utf-8", _page_headers(policy))


def _page_headers(policy: str) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
    ]
