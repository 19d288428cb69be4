"""Decodes a page: by byte order mark, header and meta tag, and by which encodings its bytes are valid in. Pure."""

import codecs
import re
from collections.abc import Iterator
from typing import Final

from webencodings.labels import LABELS

from pressroom.domains.previews.scanning import scan

_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,>]+)""", re.IGNORECASE)
_XML_DECLARATION: Final = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([^"'>]+)""")
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_ESCAPE: Final = b"\x1b"

_WESTERN: Final = "windows-1252"
_DECODERS: Final = {
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso-8859-8",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}
"""Encodings of the Web whose decoder Python calls otherwise, or has under the name of a larger set."""

_NOT_DECODED: Final = frozenset({"replacement", "x-user-defined"})
_MORE_LABELS: Final = {
    "latin-1": "windows-1252",
    "latin-9": "iso-8859-15",
    "win-1251": "windows-1251",
    "cp936": "gbk",
    "cp932": "shift_jis",
    "eucjp": "euc-jp",
    "euckr": "euc-kr",
    "cp949": "euc-kr",
}
"""Labels that the standard does not have and that pages use all the same."""

_WIDE: Final = ("utf-16-le", "utf-16-be")
_MULTIBYTE: Final = frozenset({*_WIDE, "gb18030", "big5hkscs", "cp932", "euc-jp", "iso-2022-jp", "cp949"})

SLICE: Final = 65_536
"""Bytes that are decoded in one piece."""

BY_CHANCE: Final = 12
"""So many two-byte characters are never valid UTF-8 by chance; a single one is, one time in ten."""


def decode(html: bytes, content_type: str) -> str:
    """Returns the text of a page. `content_type` is the value of its header, "" when it had none. Never raises.

    A byte order mark decides alone. Otherwise the first of header and meta tag counts in whose encoding the bytes are
    valid; but bytes that are UTF-8, and not by chance, are read as UTF-8 despite any label. Without a usable label
    the page is UTF-8 if most of it is, and windows-1252 otherwise. The page may end within a character. NULs go.
    """
    for mark, encoding in _BOMS:
        if html.startswith(mark):
            return _leniently(html[len(mark) :], encoding)
    if (wide := _wide(html)) is not None:
        return _leniently(html, wide)
    named = _encoding(_charset(content_type))
    # Some servers label every page UTF-16; markup in it would have a NUL beside each letter.
    if named in _WIDE and b"\0" not in html:
        named = None
    # ASCII reads the same in all other encodings, but for ISO-2022-JP, which changes its characters by escapes.
    if named not in _WIDE and html.isascii() and _ESCAPE not in html:
        return html.decode("ascii").replace("\0", "")
    return _by_labels(html, named)


def media_type(content_type: str) -> str:
    """Returns the type that a Content-Type header names, in lower case without parameters; "" when it names none."""
    return re.split(r"[;,]", content_type, maxsplit=1)[0].strip().lower()


def _by_labels(html: bytes, named: str | None) -> str:
    first: str | None = None
    as_utf8 = _strictly(html, "utf-8")
    for encoding in _labels(html, named):
        if as_utf8 is not None and _is_no_chance(as_utf8, encoding):
            return as_utf8
        if (text := _strictly(html, encoding)) is not None:
            return text
        first = first or encoding
    if as_utf8 is not None:
        return as_utf8
    if first is None or first == "utf-8":
        text = _leniently(html, "utf-8")
        wrong = text.count("\ufffd")
        first = "utf-8" if wrong * 2 < _beyond_ascii(text) else _WESTERN
    return _leniently(html, first)


def _is_no_chance(as_utf8: str, encoding: str) -> bool:
    """Returns whether valid UTF-8 cannot be meant in the encoding. Letters of one byte never form valid UTF-8."""
    return encoding not in _MULTIBYTE or _beyond_ascii(as_utf8) >= BY_CHANCE


def _beyond_ascii(text: str) -> int:
    return len(text) - len(text.encode("ascii", "ignore"))


def _labels(html: bytes, named: str | None) -> Iterator[str]:
    """Yields the known encodings that the header, the XML declaration and the first meta tag name."""
    if named is not None:
        yield named
    declared = _XML_DECLARATION.match(html[:300].lstrip())
    for label in (declared[1].decode("latin-1") if declared else "", _meta_charset(html)):
        encoding = _encoding(label)
        if encoding is not None:
            # The tag was found in text of one byte a character, so the encoding cannot be UTF-16.
            yield "utf-8" if encoding in _WIDE else encoding


def _meta_charset(html: bytes) -> str:
    for tag in scan(html.decode("latin-1")):
        if tag.name != "meta":
            continue
        if label := tag.attributes.get("charset", "").strip():
            return label
        if tag.attributes.get("http-equiv", "").strip().lower() == "content-type" and (
            label := _charset(tag.attributes.get("content", ""))
        ):
            return label
    return ""


def _charset(content_type: str) -> str:
    found = _CHARSET.search(content_type[:1_000])
    return found[1] if found else ""


def _encoding(label: str) -> str | None:
    """Returns Python's decoder for a label, None for one that browsers do not know or do not decode."""
    label = label.strip().lower()
    name = LABELS.get(label) or _MORE_LABELS.get(label)
    return None if name is None or name in _NOT_DECODED else _DECODERS.get(name, name)


def _wide(html: bytes) -> str | None:
    """Returns the kind of UTF-16 without a mark that the first tag shows; None: it is not UTF-16."""
    if html[:1] == b"<" and html[1:2] == b"\0" and html[3:4] == b"\0" != html[2:3]:
        return "utf-16-le"
    return "utf-16-be" if html[:2] == b"\0<" and html[2:3] == b"\0" != html[3:4] else None


def _strictly(html: bytes, encoding: str) -> str | None:
    """Returns the text; None when the bytes are not valid in the encoding. A character cut off at the end is."""
    try:
        return _decoded(html, encoding, "strict")
    except UnicodeDecodeError:
        return None


def _leniently(html: bytes, encoding: str) -> str:
    return _decoded(html, encoding, "replace")


def _decoded(html: bytes, encoding: str, errors: str) -> str:
    """Decodes in slices: a decoder keeps all other threads waiting until it returns."""
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    slices = (html[start : start + SLICE] for start in range(0, len(html), SLICE))
    return "".join(map(decoder.decode, slices)).replace("\0", "")
