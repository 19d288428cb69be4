"""Reads the metadata of a page: Open Graph, Twitter card, oEmbed link, title. Pure.

The order is in docs/previews.md#contents-of-a-card. Never raises, and takes time linear in the length of its input.
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from pressroom.domains.previews.charset import decode, media_type
from pressroom.domains.previews.scanning import HtmlTag, scan, unescaped
from pressroom.domains.previews.urls import absolute
from pressroom.text import normalise

LONGEST_TITLE: Final = 300
LONGEST_DESCRIPTION: Final = 1_000
LONGEST_SITE_NAME: Final = 100
"""Code points; longer text ends in an ellipsis."""

LONGEST_REFRESH: Final = 5
"""Seconds after which a refresh is still a redirect; later ones bring a page up to date."""

KEPT: Final = 8
"""Values of one name that are considered; the first usable one counts."""

XHTML: Final = "application/xhtml+xml"

_TITLES: Final = ("og:title", "twitter:title")
_DESCRIPTIONS: Final = ("og:description", "twitter:description", "description")
_SITE_NAMES: Final = ("og:site_name",)
_IMAGES: Final = ("og:image", "og:image:url", "og:image:secure_url", "twitter:image", "twitter:image:src")
_WANTED: Final = frozenset(_TITLES + _DESCRIPTIONS + _SITE_NAMES + _IMAGES)

_REFRESH: Final = re.compile(
    r"""\s*([0-9]{1,9})(?:\.[0-9.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(?:"([^"]*)|'([^']*)|(.*))""",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)
_SIGNS_OF_HTML: Final = re.compile(
    rb"(?:<!doctype html|<\?xml|<!--|<(?:html|head|body|title|meta|link|base|script|style|iframe|table|div|font|h1|br|p"
    rb"|a|b)(?=[\s/>]))",
    re.IGNORECASE,
)

# Control and format characters, invisible fillers, variation selectors other than those of emoji, surrogates, private
# use and noncharacters. The joiners U+200C and U+200D are needed within words and emoji.
_INVISIBLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U000e0000-\U0010ffff]"
)
_LOOSE_JOINERS: Final = re.compile("(?<!\\S)[\u200c\u200d]+|[\u200c\u200d]+(?!\\S)|(?<=[\u200c\u200d])[\u200c\u200d]+")


class PageCard(msgspec.Struct):
    """The metadata of a page. Texts are plain and bounded; URLs are absolute, http or https.

    declared: the title is from Open Graph or a Twitter card; otherwise one of `oembed`, the URL of a JSON oEmbed
    document, comes before it. refresh: the URL that the page refreshes to within five seconds.
    """

    title: str | None = None
    description: str | None = None
    site_name: str | None = None
    image: str | None = None
    oembed: str | None = None
    refresh: str | None = None
    declared: bool = False


class OEmbedDocument(msgspec.Struct):
    """The fields of an oEmbed document; None: it has no usable value."""

    title: str | None = None
    author_name: str | None = None
    provider_name: str | None = None
    thumbnail_url: str | None = None


def read_card(html: bytes, content_type: str, url: str) -> PageCard:
    """Reads the card of the page at `url` from the first bytes of it. `content_type`: its header, "" without one.

    Of several values of one name the first that is not empty counts. Tags count anywhere, since many pages have theirs
    in the body, but not in comments, scripts, templates and noscript. A canonical URL is ignored.
    """
    found = _Found()
    for tag in scan(decode(html, content_type), xml=media_type(content_type) == XHTML):
        found.take(tag)
    base = (absolute(url, found.base) if found.base else None) or url
    declared = _first(found.of(_TITLES), LONGEST_TITLE)
    return PageCard(
        title=declared or _first(found.titles, LONGEST_TITLE),
        description=_first(found.of(_DESCRIPTIONS), LONGEST_DESCRIPTION),
        site_name=_first(found.of(_SITE_NAMES), LONGEST_SITE_NAME),
        image=_image(found, base),
        oembed=next(filter(None, (absolute(base, each) for each in found.oembeds)), None),
        refresh=_refresh(found.refresh, base, url),
        declared=declared is not None,
    )


def read_oembed(document: bytes, url: str = "") -> OEmbedDocument:
    """Reads an oEmbed document of any type, fetched from `url`. One that is not a JSON object has no fields."""
    fields = _fields(document.removeprefix(b"\xef\xbb\xbf"))
    return OEmbedDocument(
        title=_worded(fields, "title", LONGEST_TITLE),
        author_name=_worded(fields, "author_name", LONGEST_SITE_NAME),
        provider_name=_worded(fields, "provider_name", LONGEST_SITE_NAME),
        thumbnail_url=absolute(url, _text(fields, "thumbnail_url"))
        or (absolute(url, _text(fields, "url")) if _text(fields, "type") == "photo" else None),
    )


def looks_like_html(body: bytes) -> bool:
    """Returns whether bytes without a declared type begin like HTML."""
    return _SIGNS_OF_HTML.match(body[:1_024].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\f")) is not None


def plain(text: str, most: int) -> str | None:
    """Returns text as a card shows it; None when nothing of it is visible.

    One line in Unicode normal form C, without control characters, direction overrides and invisible characters; a text
    of more than `most` code points is cut and ends in an ellipsis.
    """
    # Cut first: normalising a megabyte of title would take too long.
    shown = _INVISIBLE.sub("", " ".join(text.lstrip()[: 16 * most].split()))
    shown = " ".join(normalise(_LOOSE_JOINERS.sub("", shown)).split())
    if len(shown) > most:
        shown = shown[: most - 1].rstrip() + "…"
    return shown or None


class _Found:
    """The values of a page's tags, in their order and as they are written."""

    def __init__(self) -> None:
        self.metas: dict[str, list[str]] = {}
        self.titles: list[str] = []
        self.oembeds: list[str] = []
        self.base = ""
        self.refresh = ""

    def of(self, names: Iterable[str]) -> list[str]:
        """Returns the values of several names, those of the first name first."""
        return [value for name in names for value in self.metas.get(name, ())]

    def take(self, tag: HtmlTag) -> None:
        """Notes the values of a tag that matter."""
        if tag.name == "meta":
            self._take_meta(tag.attributes)
        elif tag.name == "title":
            _keep(self.titles, tag.text)
        elif tag.name == "base":
            self.base = self.base or tag.attributes.get("href", "")
        elif media_type(tag.attributes.get("type", "")) == "application/json+oembed":
            _keep(self.oembeds, tag.attributes.get("href", ""))

    def _take_meta(self, attributes: dict[str, str]) -> None:
        content = attributes.get("content", "")
        names = f"{attributes.get('property', '')} {attributes.get('name', '')}".lower().split()
        for name in _WANTED.intersection(names):
            _keep(self.metas.setdefault(name, []), content)
        if attributes.get("http-equiv", "").strip().lower() == "refresh":
            self.refresh = self.refresh or content


def _keep(values: list[str], value: str) -> None:
    if len(values) < KEPT and value and not value.isspace():
        values.append(value)


def _first(values: Iterable[str], most: int) -> str | None:
    return next(filter(None, (plain(value, most) for value in values)), None)


def _image(found: _Found, base: str) -> str | None:
    """Returns the first image with a URL. One by plain http gives way to the secure URL that the page has of it."""
    image = next(filter(None, (absolute(base, each) for each in found.of(_IMAGES))), None)
    if image is not None and image.startswith("http:"):
        secure = (absolute(base, each) for each in found.of(("og:image:secure_url",)))
        return next((each for each in secure if each and each.startswith("https:")), image)
    return image


def _refresh(content: str, base: str, url: str) -> str | None:
    """Returns where a refresh leads; None when it is slow, or leads nowhere or back to the page."""
    asked = _REFRESH.match(content)
    if asked is None or int(asked[1]) > LONGEST_REFRESH:
        return None
    target = absolute(base, asked[2] or asked[3] or asked[4] or "")
    return None if target == absolute(url, url) else target


def _fields(document: bytes) -> dict[str, msgspec.Raw]:
    try:
        return msgspec.json.decode(document, type=dict[str, msgspec.Raw])
    except (ValueError, RecursionError):
        return {}


def _text(fields: dict[str, msgspec.Raw], name: str) -> str:
    """Returns the field of that name if it is text, else ""."""
    try:
        return msgspec.json.decode(fields.get(name, b'""'), type=str)
    except ValueError:
        return ""


def _worded(fields: dict[str, msgspec.Raw], name: str, most: int) -> str | None:
    """Returns a field's text. It should be plain, but widely used software escapes it as for HTML."""
    return plain(unescaped(_text(fields, name)), most)
