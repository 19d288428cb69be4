"""The elements of the reading pages' templates; any other on a page was put there by somebody."""

import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import unquote

from selectolax.lexbor import LexborNode

from tests.pages.hostile import RUNS
from tests.pages.reader import Page

ALLOWED: Final[dict[str, set[str]]] = {
    "html": {"lang"},
    "head": set(),
    "title": set(),
    "body": set(),
    "meta": {"charset", "name", "property", "content"},
    "link": {"rel", "href", "type", "title"},
    "a": {
        "href",
        "class",
        "rel",
        "tabindex",
        "title",
        "type",
        "aria-hidden",
        "aria-label",
        "aria-current",
        "data-act",
        "data-ask",
    },
    "header": {"class"},
    "nav": {"class", "aria-label"},
    "form": {"method", "action", "class", "id", "role", "aria-label", "data-act", "data-keep"},
    "button": {"type", "class", "data-key", "data-busy", "title", "aria-pressed"},
    "input": {"id", "type", "name", "value", "maxlength", "placeholder", "autocomplete"},
    "textarea": {"id", "name", "rows", "required", "data-count", "aria-describedby"},
    "label": {"for", "class", "dir"},
    "fieldset": set(),
    "legend": {"class", "dir"},
    "script": {"type", "src", "blocking"},
    "main": {"class", "id"},
    "footer": {"class"},
    "article": {"class", "id"},
    "section": {"class", "id", "aria-label", "aria-labelledby"},
    "details": {"class"},
    "summary": {"title", "aria-label"},
    "div": {"class", "dir", "role", "aria-label"},
    "p": {"class", "dir", "id", "role"},
    "span": {"class", "dir", "aria-hidden"},
    "bdi": {"class", "dir"},
    "code": set(),
    "b": {"dir"},
    "h1": {"class"},
    "h2": {"class", "id"},
    "ul": {"class"},
    "ol": {"class"},
    "li": {"class", "id"},
    "time": {"datetime", "title", "data-local-time", "data-local-title"},
    "img": {
        *("class", "src", "srcset", "sizes", "width", "height", "alt"),
        *("loading", "fetchpriority", "decoding", "aria-hidden"),
    },
    "video": {"controls", "playsinline", "preload", "poster", "width", "height", "aria-label"},
    "source": {"src", "type"},
    "svg": {"class", "viewBox", "width", "height", "role", "xmlns", "aria-label", "aria-hidden"},
    "use": {"href"},
    "path": {"d", "fill", "stroke", "stroke-width", "stroke-linecap"},
    "circle": {"cx", "cy", "r", "fill"},
    "rect": {"width", "height", "rx", "fill"},
}
META: Final = {
    *("viewport", "color-scheme", "description", "robots", "twitter:card", "profile:username"),
    *("og:type", "og:site_name", "og:title", "og:description", "og:url", "og:image"),
    *("article:published_time", "article:modified_time"),
}
RELATIONS: Final = {"icon", "apple-touch-icon", "manifest", "stylesheet", "canonical", "alternate"}
WORDS: Final = {"content", "title", "href", "alt", "aria-label"}
"""Attributes that may hold what people wrote."""

FORM: Final = re.compile(
    r"/logout|/post/[0-9A-Z]{26}/(?:(?:un)?(?:like|save|bounce)|vote|comment)(?:\?.*)?|/@\w+/(?:un)?follow"
    r"|/hub/[a-z0-9-]+/(?:join|leave)|/search"
)
"""Where the forms of these pages lead."""

FOREIGN: Final = "nofollow noopener ugc"
CARD: Final = "nofollow ugc noopener noreferrer"
OWN: Final = ("/avatars/", "/media/", "/cards/")
"""Where pictures and videos come from; the few bytes that stand in for one come with the page."""


def strange(page: Page, base_url: str) -> list[str]:
    """Everything on a page of the server at `base_url` that no template of ours produces."""
    root = page.tree.root
    assert root is not None
    found = [fault for node in root.traverse() for fault in _strange(node, base_url)]
    for what, count in (("title", 1), ("body", 1), ("main", 1), ("h1", 1), ("head > title", 1)):
        if len(page.tree.css(what)) != count:
            found.append(f"{len(page.tree.css(what))} of {what}")
    names = [node.attributes.get("name") or node.attributes.get("property") for node in page.tree.css("meta[content]")]
    return found + [f"meta {name} twice" for name in set(names) if names.count(name) > 1]


def _loaded(attributes: Mapping[str, str | None]) -> list[str]:
    """Returns the addresses of the pictures and videos that an element loads."""
    single = [attributes[name] or "" for name in ("src", "poster") if name in attributes]
    return single + [each.split()[0] for each in (attributes.get("srcset") or "").split(",") if each.strip()]


def _strange(node: LexborNode, base_url: str) -> Iterator[str]:
    tag, attributes = node.tag or "", node.attributes
    if tag not in ALLOWED:
        yield f"<{tag}>"
        return
    for name, value in attributes.items():
        if name not in ALLOWED[tag]:
            yield f"<{tag} {name}={value!r}>"
        elif RUNS in (value or "") and name not in WORDS:
            yield f"{RUNS} in <{tag} {name}={value!r}>"
    if "href" in attributes and not _leads_well(attributes, base_url):
        yield f"<{tag} {attributes}>"
    if tag != "script" and not all(_comes_well(each, base_url) for each in _loaded(attributes)):
        yield f"<{tag} {attributes}>"
    if not _acts_well(tag, attributes):
        yield f"<{tag} {attributes}>"
    if tag == "meta" and "content" in attributes:
        if (attributes.get("name") or attributes.get("property")) not in META:
            yield f"<{tag} {attributes}>"
    elif tag == "link" and attributes.get("rel") not in RELATIONS:
        yield f"<{tag} {attributes}>"


def _acts_well(tag: str, attributes: dict[str, str | None]) -> bool:
    """Whether a form does one of our acts, and a script is a file of ours."""
    if tag == "form":
        return FORM.fullmatch(attributes.get("action") or "") is not None
    return tag != "script" or (attributes.get("src") or "").startswith("/static/")


DRAWN: Final = re.compile(
    r'<svg xmlns="http://www\.w3\.org/2000/svg" viewBox="0 0 96 96" role="img" aria-label="avatar">'
    r"(?:</?g>|<(?:g|rect|circle|path)(?: (?:width|height|cx|cy|r|d|fill)=\"[\w .%()-]+\")+/?>"
    r"|<text(?: [a-z-]+=\"[\w .,%()-]+\")+>[^<>]{1,12}</text>)+</svg>"
)
"""A picture that this server draws. It comes within the page, and holds shapes and at most two letters of a name."""


def _comes_well(src: str, base_url: str) -> bool:
    """Whether a picture or video is ours."""
    if src.startswith("data:image/svg+xml,"):
        return DRAWN.fullmatch(unquote(src.removeprefix("data:image/svg+xml,"))) is not None
    return src.startswith((*(f"{base_url}{place}" for place in OWN), "data:image/webp;base64,"))


def _leads_well(attributes: dict[str, str | None], base_url: str) -> bool:
    """Whether a link leads to a page of our own, to a place on the map, or is marked as somebody's words."""
    href = attributes["href"] or ""
    own = href.startswith((f"{base_url}/", "/", "?before=", "#")) and not href.startswith(("//", "/\\"))
    words = href.lower().startswith(("http://", "https://")) and attributes.get("rel") in (FOREIGN, CARD)
    return own or words or href.startswith("geo:")
