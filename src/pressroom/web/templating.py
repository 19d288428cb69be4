"""HTML pages: Jinja2 with escaping on, and headers that forbid a page to load anything from elsewhere."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, cast

import jinja2
from markupsafe import Markup, escape

from pressroom import __version__
from pressroom.web import template_filters
from pressroom.web.asgi import HeaderList
from pressroom.web.avatars import avatar_source, initials
from pressroom.web.page_forms import base_name
from pressroom.web.response import Response
from pressroom.web.static_files import static_file, static_path

_environment: Final = jinja2.Environment(
    loader=jinja2.PackageLoader("pressroom.web"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    auto_reload=False,  # Otherwise it looks at the files of a page's templates, 60 of them, for each page.
)

cast("dict[str, object]", _environment.filters).update(
    {
        "base_name": base_name,
        "clock_time": template_filters.clock_time,
        "duration": template_filters.duration,
        "field_id": template_filters.field_id,
        "initials": initials,
        "item_number": template_filters.item_number,
        "iso_time": template_filters.iso_time,
        "laid_out": template_filters.laid_out,
        "number": template_filters.number,
        "short_age": template_filters.short_age,
        "shown_day": template_filters.shown_day,
        "shown_time": template_filters.shown_time,
    }
)

ICONS: Final = "vendor/lucide/icons.svg"
ICON_NAMES: Final = tuple(re.findall(r'<symbol id="([^"]+)"', static_file(ICONS).body.decode()))


# A card has nine: made anew, they took a quarter of the work on a page. Markup and str are escaped differently.
@lru_cache(512, typed=True)
def icon(name: str, label: str = "", *, filled: bool = False) -> Markup:
    """Returns an icon of the set that `scripts/vendor` chooses (docs/design.md#icons).

    Args:
        name: One of `ICON_NAMES`. Another one is an error of ours, in a template.
        label: Its text for screen readers, unless words beside it are enough.
        filled: Painted over, for something that is on.
    """
    if name not in ICON_NAMES:
        raise ValueError(f"No icon is called {name}.")
    said = Markup('role="img" aria-label="{}"').format(label) if label else Markup('aria-hidden="true"')
    return _ICON.format(" filled" if filled else "", said, static_path(ICONS), name)


_ICON: Final = Markup('<svg class="icon{}" width="20" height="20" {}><use href="{}#{}"/></svg>')


def avatar(address: str, name: str | None, size: int) -> Markup:
    """Returns the picture of an account or hub, `size` pixels wide. The name is beside it, so `alt` is empty."""
    # Each card of a list has one or two. Markup.format takes ten times as long.
    source = escape(avatar_source(address, name))
    html = f'<img class="avatar" src="{source}" width="{size}" height="{size}" alt="" loading="lazy">'
    return Markup(html)  # noqa: S704  # the source is escaped


_SCRIPT: Final = Markup('<script type="module"{} src="{}"></script>')
_BEFORE_PAINT: Final = Markup(' blocking="render"')


def script(name: str, *, before_paint: bool = False) -> Markup:
    """Returns the element that loads a module of ours.

    Args:
        name: The file.
        before_paint: The page is first painted after it has run. That costs time, so it is for a module that moves
            the page, as one does that writes times in the reader's zone: a longer time can wrap a line.
    """
    return _SCRIPT.format(_BEFORE_PAINT if before_paint else "", static_path(name))


_globals: Final = cast("dict[str, object]", _environment.globals)
_globals["avatar"] = avatar
_globals["icon"] = icon
_globals["mark"] = Markup(static_file("icon.svg").body.decode().strip())  # noqa: S704  # a file of ours
_globals["icon_names"] = ICON_NAMES
_globals["script"] = script
_globals["static"] = static_path
_globals["pressroom_version"] = __version__

HTML: Final = b"text/html; charset=utf-8"

POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:{elsewhere}; media-src 'self'{elsewhere};"
    " manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""The policy of pages that people only read: no script at all."""

APP_POLICY: Final = f"{POLICY}; script-src 'self'; connect-src 'self'"
"""The policy of pages with forms: script from files of ours."""

COMPOSE_POLICY: Final = APP_POLICY.replace("img-src 'self'", "img-src 'self' blob:")
"""The policy of pages that show files before they are sent: their addresses in the browser begin with `blob:`."""

DOCS_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self';"
    " frame-ancestors 'none'"
)


PERMISSIONS: Final = (
    b"accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(),"
    b" midi=(), payment=(), usb=(), clipboard-write=(self)"
)
"""The browser's features that pages may use: copying, and no other."""


SLICE: Final = 2_048
"""Characters of HTML in a slice, which takes 0.25 to 1 ms to render."""


class Slices:
    """Renders a slice at a time and gives way after each: requests come in turn (docs/architecture.md#fairness)."""

    async def join(self, pieces: Iterable[str]) -> str:
        """Returns all pieces joined. None of them may take long to make by itself."""
        remaining, done = iter(pieces), list[str]()
        while _take(remaining, done):
            await asyncio.sleep(0)
        return "".join(done)


def _take(pieces: Iterator[str], done: list[str]) -> bool:
    """Appends one slice of the pieces to `done`. Returns whether there may be more."""
    size = 0
    for piece in pieces:
        done.append(piece)
        size += len(piece)
        # By the size of the result: a template yields pieces of any length.
        if size >= SLICE:
            return True
    return False


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
    html = await render_in_slices(slices, template, values)
    return _page(html, code, policy.replace("{elsewhere}", f" {media_from}" if media_from else ""))


async def render_in_slices(slices: Slices, template: str, values: Mapping[str, object]) -> str:
    """Returns a template rendered as text in slices: a document that is no page."""
    return await slices.join(_environment.get_template(template).generate(values))


def page(template: str, values: Mapping[str, object], *, code: int = 200, policy: str = POLICY) -> Response:
    """Returns a page made of a template and values. Nothing in it may load from elsewhere or run inline script."""
    return _page(_environment.get_template(template).render(values), code, policy)


def render_file(template: str, values: Mapping[str, object]) -> str:
    """Returns a template rendered as text: a document that is no page."""
    return _environment.get_template(template).render(values)


def render_text(source: str, values: Mapping[str, object]) -> str:
    """Returns a template that is given as text, rendered with everything that templates of files know."""
    return _environment.from_string(source).render(values)


def _page(html: str, code: int, policy: str) -> Response:
    return Response(code, html.encode(), HTML, page_headers(policy))


def page_headers(policy: str = POLICY) -> HeaderList:
    """Returns the headers of every answer to a request for a page, also of one without a body."""
    return [
        (b"content-security-policy", policy.replace("{elsewhere}", "").encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"same-origin"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"permissions-policy", PERMISSIONS),
    ]
