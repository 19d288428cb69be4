"""From the bytes of a page to its text: by byte order mark, header and meta tag, and by what the bytes allow. Pure."""

import codecs
import re
from collections.abc import Iterator
from typing import Final

from pressroom.domains.previews.scanning import scan

_CHARSET: Final = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,>]+)""", re.IGNORECASE)
_XML_DECLARATION: Final = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([^"'>]+)""")
_BOMS: Final = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_ESCAPE: Final = b"\x1b"

_WESTERN: Final = "cp1252"
_LABELS: Final = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 x-unicode20utf8",
    "utf-16-le": "utf-16 utf-16le unicode ucs-2 iso-10646-ucs-2",
    "utf-16-be": "utf-16be",
    _WESTERN: "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso_8859-1 iso88591 latin1 latin-1 l1 ascii us-ascii "
    "ansi_x3.4-1968 cp819 ibm819",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251 win-1251",
    "cp1253": "windows-1253 cp1253",
    "cp1254": "windows-1254 cp1254 iso-8859-9 iso8859-9 latin5",
    "cp1255": "windows-1255 cp1255",
    "cp1256": "windows-1256 cp1256",
    "cp1257": "windows-1257 cp1257",
    "cp1258": "windows-1258 cp1258",
    "cp874": "windows-874 tis-620 iso-8859-11 iso8859-11 dos-874",
    "cp866": "ibm866 cp866 866",
    "iso8859-2": "iso-8859-2 iso8859-2 iso_8859-2 latin2 l2",
    "iso8859-3": "iso-8859-3 iso8859-3 latin3",
    "iso8859-4": "iso-8859-4 iso8859-4 latin4",
    "iso8859-5": "iso-8859-5 iso8859-5 cyrillic",
    "iso8859-6": "iso-8859-6 iso8859-6 arabic",
    "iso8859-7": "iso-8859-7 iso8859-7 greek",
    "iso8859-8": "iso-8859-8 iso8859-8 iso-8859-8-i hebrew visual logical",
    "iso8859-10": "iso-8859-10 iso8859-10 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13",
    "iso8859-14": "iso-8859-14 iso8859-14",
    "iso8859-15": "iso-8859-15 iso8859-15 latin-9 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r koi8 koi8_r koi",
    "koi8-u": "koi8-u koi8-ru",
    "mac_roman": "macintosh mac x-mac-roman",
    "mac_cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "gb18030 gbk gb2312 gb_2312-80 gb_2312 x-gbk chinese csgb2312 cp936",
    "big5hkscs": "big5 big5-hkscs cn-big5 x-x-big5 csbig5",
    "cp932": "shift_jis shift-jis sjis x-sjis windows-31j ms_kanji csshiftjis ms932 cp932",
    "euc_jp": "euc-jp x-euc-jp eucjp cseucpkdfmtjapanese",
    "iso2022_jp": "iso-2022-jp csiso2022jp",
    "cp949": "euc-kr euckr windows-949 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 cseuckr cp949",
}
_WIDE: Final = ("utf-16-le", "utf-16-be")
_MULTIBYTE: Final = frozenset({*_WIDE, "gb18030", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "cp949"})

BY_CHANCE: Final = 12
"""So many characters of a text in two bytes each are never UTF-8 by chance; a single one is, one time in ten."""

# Python knows encodings that make bytes of bytes, and some that no browser reads; a page may name none of those.
_ENCODINGS: Final = {label: encoding for encoding, labels in _LABELS.items() for label in labels.split()}


def decode(html: bytes, content_type: str) -> str:
    """The text of a page. `content_type` is the value of its header, "" when it had none. Never raises.

    A byte order mark decides alone. Else the first of header and meta tag counts whose encoding the bytes obey, but
    bytes that are UTF-8, and not by chance, are read as that whatever a label says. Where no label is of use, it is
    UTF-8 if most of it is, and windows-1252 otherwise. The text may end in the middle of a character. NUL is left out.
    """
    for mark, encoding in _BOMS:
        if html.startswith(mark):
            return _leniently(html[len(mark) :], encoding)
    if (wide := _wide(html)) is not None:
        return _leniently(html, wide)
    named = _encoding(_charset(content_type))
    if named in _WIDE and b"\0" not in html:
        named = None
    if named not in _WIDE and html.isascii() and _ESCAPE not in html:
        return html.decode("ascii").replace("\0", "")
    return _by_labels(html, named)


def media_type(content_type: str) -> str:
    """The type that a Content-Type header names, in lower case and without parameters; "" when it names none."""
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
        first = "utf-8" if wrong * 2 < sum(not character.isascii() for character in text) else _WESTERN
    return _leniently(html, first)


def _is_no_chance(as_utf8: str, encoding: str) -> bool:
    """Whether bytes that are UTF-8 cannot be meant in the encoding. Letters of one byte never follow UTF-8's rules."""
    return encoding not in _MULTIBYTE or sum(not character.isascii() for character in as_utf8) >= BY_CHANCE


def _labels(html: bytes, named: str | None) -> Iterator[str]:
    """The encodings that the header, the XML declaration and the first meta tag name, as far as they are known."""
    if named is not None:
        yield named
    declared = _XML_DECLARATION.match(html[:300].lstrip())
    for label in (declared[1].decode("latin-1") if declared else "", _meta_charset(html)):
        encoding = _encoding(label)
        if encoding is not None:
            # The tag was found by reading bytes one by one, so it is none of those.
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
    return _ENCODINGS.get(label.strip().lower())


def _wide(html: bytes) -> str | None:
    """UTF-16 without a mark, told by the first tag."""
    if html[:1] == b"<" and html[1:2] == b"\0" and html[3:4] == b"\0" != html[2:3]:
        return "utf-16-le"
    return "utf-16-be" if html[:2] == b"\0<" and html[2:3] == b"\0" != html[3:4] else None


def _strictly(html: bytes, encoding: str) -> str | None:
    """The text, None when the bytes break the encoding's rules anywhere but at their end."""
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(html).replace("\0", "")
    except UnicodeDecodeError:
        return None


def _leniently(html: bytes, encoding: str) -> str:
    return codecs.getincrementaldecoder(encoding)("replace").decode(html).replace("\0", "")
