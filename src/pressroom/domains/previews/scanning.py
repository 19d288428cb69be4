"""Finds the few tags that describe a page, in one pass whose time is linear in the page's length. Pure.

A parser that builds the tree of a page does more than a card needs, in unbounded time: 1 MiB of `<div>` takes lexbor
minutes, and 1 MiB of attributes half a minute. Here no tree is built. Tags are separated from text, comments and
scripts by the HTML standard; of the tree only this is known: whether a tag is within a template or a drawing,
where it does not describe the page.
"""

import itertools
import re
from collections.abc import Iterator
from html import unescape
from html.entities import html5
from typing import Final

import msgspec

_WS: Final = r" \t\n\r\f"

# Every repetition is possessive: when a tag does not match, nothing is tried again.
_VALUE: Final = rf"""=[{_WS}]*+(?:"[^"]*+"|'[^']*+'|[^{_WS}>"'][^{_WS}>]*+|(?=>))"""
MOST_TAGS: Final = 10_000
MOST_WANTED: Final = 500
MOST_ATTRIBUTES: Final = 64
MOST_CHARACTERS: Final = 16_384
"""Limits of a scan: places where a tag that matters may begin, tags that are wanted, attributes of one,
characters of a value or title. A page of a megabyte that is made to be slow has 350,000 tags."""

_OPENING: Final = re.compile(rf"<(?:(!--)|([!?]|/(?=[^A-Za-z]))|(/?)([A-Za-z][^{_WS}/>]*+))")
_REST_OF_TAG: Final = re.compile(rf"(?>[^>=]++|{_VALUE})*+>")
_ATTRIBUTE: Final = re.compile(
    rf"""([^{_WS}/>=][^{_WS}/>=]*+)(?:[{_WS}]*+=[{_WS}]*+(?:"([^"]*+)"|'([^']*+)'|([^{_WS}>]*+)))?+"""
)
_COMMENT_END: Final = re.compile(r"--!?>")
_SCRIPT_STEP: Final = re.compile(rf"(<!--(?!-?>))|(-->)|<(/?)script(?=[{_WS}/>])", re.ASCII | re.IGNORECASE)
_CDATA: Final = "[CDATA["

_NUMBERED: Final = r"&#(?:[0-9]{1,12}|[xX][0-9A-Fa-f]{1,8});?"
_REFERENCE: Final = re.compile(rf"{_NUMBERED}|&[A-Za-z][A-Za-z0-9]{{0,31}};?")
_REFERENCE_IN_VALUE: Final = re.compile(rf"{_NUMBERED}|&([A-Za-z][A-Za-z0-9]{{0,31}}(?:;|(?![=A-Za-z0-9])))")

_WANTED: Final = frozenset({"meta", "link", "base", "title"})
_FOREIGN: Final = frozenset({"svg", "math"})
_RAW: Final = ("style", "xmp", "iframe", "noembed", "noframes", "noscript", "textarea", "title")
"""Elements that hold text and no tags, besides script. noscript is one of them in a browser that runs scripts."""
_MATTER: Final = "|".join([*sorted(_WANTED), *sorted(_FOREIGN), *_RAW, "template", "script", "plaintext"])
_OTHERS: Final = re.compile(
    rf"(?>[^<]*+</?(?!(?:{_MATTER})[{_WS}/>])[A-Za-z][^{_WS}/>]*+(?>[^>=]++|{_VALUE})*+>){{1,1000}}+",
    re.ASCII | re.IGNORECASE,
)
"""Tags that do not matter, as many as are skipped in one step: no other thread runs meanwhile."""

_RAW_END: Final = {name: re.compile(rf"</{name}(?=[{_WS}/>])", re.ASCII | re.IGNORECASE) for name in _RAW}


class HtmlTag(msgspec.Struct):
    """A start tag: its name and attributes with names in lower case; for a title its text as well."""

    name: str
    attributes: dict[str, str]
    text: str = ""


def scan(html: str, *, xml: bool = False) -> Iterator[HtmlTag]:
    """Yields the meta, link, base and title tags of a page, in their order, without those of templates and drawings.

    xml: the page is XHTML, where a slash closes a tag and text may be in CDATA sections. A tag that is cut off by the
    end is left out. A title that is never closed ends at the next tag.
    """
    return _Scanner(html, xml).tags()


def unescaped(text: str) -> str:
    """Returns the beginning of a text with its character references replaced."""
    return _REFERENCE.sub(lambda found: unescape(found[0]), text[:MOST_CHARACTERS])


class _Scanner:
    def __init__(self, html: str, xml: bool) -> None:
        self._html = html
        self._xml = xml
        self._position = 0
        self._templates = 0
        self._drawings = 0
        self._titles_close = True

    def tags(self) -> Iterator[HtmlTag]:
        html, wanted = self._html, 0
        for _ in range(MOST_TAGS):
            if (others := _OTHERS.match(html, self._position)) is not None:
                self._position = others.end()
                continue
            if (at := html.find("<", self._position)) < 0 or wanted == MOST_WANTED:
                return
            if (opening := _OPENING.match(html, at)) is None:
                self._position = at + 1
                continue
            self._position = opening.end()
            if opening[4] is None:
                self._skip_declaration(comment=opening[1] is not None)
                continue
            rest = _REST_OF_TAG.match(html, opening.end())
            # The page was cut off within a tag, and nothing behind it is known to be one.
            if rest is None:
                return
            self._position = rest.end()
            name = opening[4].lower()
            if opening[3]:
                self._close(name)
            elif (tag := self._open(name, rest.start(), rest.end() - 1)) is not None:
                wanted += 1
                yield tag

    def _skip_declaration(self, *, comment: bool) -> None:
        """Skips a comment, a CDATA section, or markup that counts as a comment, up to the next `>`."""
        html, at = self._html, self._position
        if not comment:
            cdata = (self._xml or self._drawings) and html.startswith(_CDATA, at)
            end = html.find("]]>" if cdata else ">", at)
            self._position = end + 1 if end >= 0 else len(html)
        # By the HTML standard `<!-->` and `<!--->` are whole comments.
        elif html.startswith((">", "->"), at):
            self._position = html.index(">", at) + 1
        else:
            ended = _COMMENT_END.search(html, at)
            self._position = ended.end() if ended else len(html)

    def _close(self, name: str) -> None:
        if name in _FOREIGN:
            self._drawings = max(0, self._drawings - 1)  # A stray end tag closes nothing.
        elif name == "template":
            self._templates = max(0, self._templates - 1)

    def _open(self, name: str, start: int, end: int) -> HtmlTag | None:
        """Handles a start tag with attributes at `[start, end)` and skips its text. Returns the tag if it is wanted."""
        closed = self._html[end - 1] == "/"
        if name in _FOREIGN:
            self._drawings += not closed
        # In HTML a slash at the end closes drawings alone: `<template/>` stays open.
        elif name == "template":
            self._templates += not (closed and self._xml)
        text = ""
        if not self._drawings and not (closed and self._xml):
            text = self._skip_text(name)
        if name not in _WANTED or self._templates or (name == "title" and self._drawings):
            return None
        return HtmlTag(name, _attributes(self._html, start, end), text)

    def _skip_text(self, name: str) -> str:
        """Skips the text of an element that holds no tags, up to its end tag. Returns the text of a title, else ""."""
        html, start = self._html, self._position
        if name == "plaintext":
            self._position = len(html)
        elif name == "script":
            self._position = _script_end(html, start)
        elif name == "title":
            self._position = self._title_end(start)
            return unescaped(html[start : self._position])
        elif name in _RAW_END:
            end = _RAW_END[name].search(html, start)
            self._position = end.start() if end else len(html)
        return ""

    def _title_end(self, start: int) -> int:
        end = _RAW_END["title"].search(self._html, start) if self._titles_close else None
        if end is not None:
            return end.start()
        # No later title closes either; to search for each to the end of the page would take quadratic time.
        self._titles_close = False
        at = self._html.find("<", start)
        return at if at >= 0 else len(self._html)


def _script_end(html: str, start: int) -> int:
    """Returns where the text of a script ends. Within a comment, a script may hold a script."""
    commented = nested = False
    for step in _SCRIPT_STEP.finditer(html, start):
        if step[1]:
            commented = True
        elif step[2]:
            commented = nested = False
        elif not step[3]:
            nested = commented
        elif nested:
            nested = False
        else:
            return step.start()
    return len(html)


def _attributes(html: str, start: int, end: int) -> dict[str, str]:
    """Returns the attributes at `[start, end)`; of a name given twice the first counts."""
    found: dict[str, str] = {}
    for match in itertools.islice(_ATTRIBUTE.finditer(html, start, end), MOST_ATTRIBUTES):
        value = (match[2] or match[3] or match[4] or "")[:MOST_CHARACTERS]
        found.setdefault(match[1].lower(), _REFERENCE_IN_VALUE.sub(_referred, value))
    return found


def _referred(reference: re.Match[str]) -> str:
    """Returns the character of a reference in an attribute; an unknown name stays as it is: `?a=1&b=2`."""
    name = reference[1]
    return unescape(reference[0]) if name is None else html5.get(name, reference[0])
