"""Pages in many encodings, with labels that are right, wrong, odd and absent."""

import codecs
from typing import Final

from tests.domains.previews.pages import Page, page

RUSSIAN: Final = "Свинцовые литеры и терпение"
JAPANESE: Final = "活版印刷の手引き ソース表"
CHINESE: Final = "活字印刷的耐心与手艺"
KOREAN: Final = "활판 인쇄의 인내심"
WESTERN: Final = "“Blei” \u2013 Geduld & Käse für 3 €"


def titled(text: str, encoding: str, head: str = "") -> bytes:
    """A page in an encoding, mostly of ASCII."""
    return f"<html><head>{head}<title>{text}</title></head><body>Hello</body>".encode(encoding)


def charset(name: str, html: bytes, content_type: str, title: str) -> Page:
    """A page that has nothing but a title."""
    return page(name, html, content_type, title=title, declared=False)


def equiv(label: str) -> str:
    """The old way to name an encoding."""
    return f'<meta http-equiv="Content-Type" content="text/html; charset={label}">'


CHARSETS: Final = (
    charset("windows-1252 by header", titled(WESTERN, "cp1252"), "text/html; charset=ISO-8859-1", WESTERN),
    charset("shift_jis by header", titled(JAPANESE, "cp932"), 'text/html;charset="Shift_JIS"', JAPANESE),
    charset("shift_jis by meta", titled(JAPANESE, "cp932", "<meta charset=x-sjis>"), "text/html", JAPANESE),
    charset("euc-jp by http-equiv", titled(JAPANESE, "euc_jp", equiv("euc-jp")), "text/html", JAPANESE),
    charset("iso-2022-jp by meta", titled(JAPANESE, "iso2022_jp", equiv("iso-2022-jp")), "text/html", JAPANESE),
    charset("gb18030 by meta as gb2312", titled(CHINESE, "gb18030", equiv("gb2312")), "text/html", CHINESE),
    charset("big5 by header", titled("活字印刷的耐心", "big5"), "text/html; charset=big5", "活字印刷的耐心"),
    charset("koi8-r by meta", titled(RUSSIAN, "koi8-r", "<meta charset='koi8-r'>"), "text/html", RUSSIAN),
    charset(
        "windows-1251 by XML declaration",
        b'<?xml version="1.0" encoding="windows-1251"?>' + titled(RUSSIAN, "cp1251"),
        "text/html",
        RUSSIAN,
    ),
    charset("euc-kr by http-equiv", titled(KOREAN, "euc_kr", equiv("ks_c_5601-1987")), "text/html", KOREAN),
    charset(
        "euc-kr cut in the middle of a letter", titled(KOREAN, "euc_kr") + b"\xc8", "text/html; charset=euc-kr", KOREAN
    ),
    charset(
        "UTF-8 by mark, against its header",
        codecs.BOM_UTF8 + titled(RUSSIAN, "utf-8"),
        "text/html; charset=koi8-r",
        RUSSIAN,
    ),
    charset("UTF-16 by mark", codecs.BOM_UTF16_LE + titled(RUSSIAN, "utf-16-le"), "text/html", RUSSIAN),
    charset(
        "UTF-16 the other way, by mark", codecs.BOM_UTF16_BE + titled(JAPANESE, "utf-16-be"), "text/html", JAPANESE
    ),
    charset("UTF-16 by header", titled(RUSSIAN, "utf-16-le"), "text/html; charset=UTF-16LE", RUSSIAN),
    charset(
        "UTF-16 by header, after a blank",
        " ".encode("utf-16-le") + titled(RUSSIAN, "utf-16-le"),
        "text/html; charset=UTF-16",
        RUSSIAN,
    ),
    charset("UTF-16 that nobody names", titled(CHINESE, "utf-16-be"), "text/html", CHINESE),
    charset(
        "UTF-8 that its meta tag calls UTF-16", titled(CHINESE, "utf-8", "<meta charset=utf-16>"), "text/html", CHINESE
    ),
    charset("UTF-8 that its header calls UTF-16", titled("Kaese", "utf-8"), "text/html; charset=utf-16", "Kaese"),
    charset("UTF-8 that a server calls Latin", titled(WESTERN, "utf-8"), "text/html; charset=iso-8859-1", WESTERN),
    charset("UTF-8 that could be Latin", titled("Käse", "utf-8"), "text/html; charset=iso-8859-1", "Käse"),
    charset("UTF-8 that could be GBK", titled("你好" * 6, "utf-8"), "text/html; charset=gbk", "你好" * 6),
    charset("GBK that could be UTF-8", titled("模", "gb18030"), "text/html; charset=gbk", "模"),
    charset(
        "UTF-8 that its author calls gb2312", titled(CHINESE * 2, "utf-8", equiv("gb2312")), "text/html", CHINESE * 2
    ),
    charset(
        "header before meta",
        titled(RUSSIAN, "cp1251", "<meta charset=koi8-r>"),
        "text/html; charset=windows-1251",
        RUSSIAN,
    ),
    charset(
        "meta where the header is broken",
        titled(JAPANESE, "cp932", "<meta charset=shift_jis>"),
        "text/html; charset=utf-8",
        JAPANESE,
    ),
    charset(
        "a label that nobody knows",
        titled(RUSSIAN, "utf-8", "<meta charset=rot13>"),
        "text/html; charset=zlib",
        RUSSIAN,
    ),
    charset("windows-1252 that nobody names", titled(WESTERN, "cp1252"), "text/html", WESTERN),
    charset("windows-1252 that says it is UTF-8", titled(WESTERN, "cp1252"), "text/html; charset=utf-8", WESTERN),
    charset("UTF-8 with one broken byte", titled(RUSSIAN, "utf-8") + b"\xff", "text/html", RUSSIAN),
    charset("UTF-8 cut in the middle of a letter", titled(RUSSIAN, "utf-8") + b"\xe2\x82", "text/html", RUSSIAN),
    charset(
        "a label within a comment", titled(RUSSIAN, "utf-8", "<!-- <meta charset=koi8-r> -->"), "text/html", RUSSIAN
    ),
    charset(
        "a label after 100 KB",
        titled(RUSSIAN, "koi8-r", f"<style>{'a' * 100_000}</style><meta charset=koi8-r>"),
        "text/html",
        RUSSIAN,
    ),
)
