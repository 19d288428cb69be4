"""URLs that pages name, and the normal spelling of a URL, under which its card is stored. Pure."""

import re
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from pressroom.outbound import UrlRefused
from pressroom.outbound.urls import MOST_CHARACTERS, read_url

LINK_LIMIT: Final = 2_048


def card_url(link: str) -> str | None:
    """Returns the page whose card a text with this first link shows (docs/previews.md#the-linked-page).

    In its one spelling, so that all posts with the same link share its card. None for an address that has no card.
    """
    if len(link) > LINK_LIMIT:
        return None
    try:
        return normalised(link)
    except UrlRefused:
        return None


_PORTS: Final = {"https": 443, "http": 80}
_AS_IT_IS: Final = "!$%&'()*+,-./:;=?@[]_~"
_HALF_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
_LINE_BREAKS: Final = re.compile(r"[\t\r\n]")
_NO_HOST: Final = re.compile(r"https?:(?!//)|(?:https?:)?//(?=[/?#]|$)", re.ASCII | re.IGNORECASE)
_AROUND: Final = "".join(map(chr, range(33)))


def absolute(base: str, reference: str) -> str | None:
    """Returns the normal spelling of the http or https URL that `reference` means on a page at `base`.

    None when it means no such URL, or one that is never requested.
    """
    try:
        return _spelt(base, reference)
    except UrlRefused:
        return None


def normalised(url: str) -> str:
    """Returns the normal spelling of a page's URL, so that different spellings share one card.

    Scheme and host in lower case (IDNA), without the scheme's default port and the fragment, an empty path as `/`,
    escaped as a browser would. Raises UrlRefused for a text that is no http or https URL, or is never requested: with a
    user name, without a host, of more than 2,048 characters.
    """
    return _spelt("", url)


def _spelt(base: str, reference: str) -> str:
    cleaned = _LINE_BREAKS.sub("", reference.strip(_AROUND))
    _check_length(cleaned)
    before, mark, query = cleaned.partition("?")
    named = before.replace("\\", "/") + mark + query
    if not named or _NO_HOST.match(named):
        raise UrlRefused("The URL has no host; write it as https://host/path.")
    try:
        parts = urlsplit(urljoin(base, named))
    except ValueError:
        raise UrlRefused("The URL cannot be read; write it as https://host/path.") from None
    query = f"?{_escaped(parts.query)}" if parts.query else ""
    target = read_url(f"{parts.scheme}://{parts.netloc}{_escaped(parts.path) or '/'}{query}")
    host = f"[{target.host}]" if ":" in target.host else target.host
    port = "" if target.port == _PORTS[target.scheme] else f":{target.port}"
    made = f"{target.scheme}://{host}{port}{target.path}{'?' if target.query else ''}{target.query}"
    _check_length(made)
    return made


def _check_length(url: str) -> None:
    if len(url) > MOST_CHARACTERS:
        raise UrlRefused(f"The URL has {len(url):,} characters; at most {MOST_CHARACTERS:,} are allowed.")


def _escaped(part: str) -> str:
    return _HALF_ESCAPE.sub("%25", quote(part, safe=_AS_IT_IS, errors="replace"))
