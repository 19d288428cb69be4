"""Cached parts of pages: within bounds, and under everything that decides their look."""

import asyncio

import msgspec

from pressroom.web.codings import CachedBody, Coding
from pressroom.web.fragments import LARGEST, Fragments, Kept, SentPages


class Made(msgspec.Struct):
    """The values of a fragment."""

    text: str
    count: int = 0


def test_a_fragment_is_rendered_once_for_each_state() -> None:
    fragments, rendered = Fragments[str](), list[str]()

    def shown(*made_of: object) -> str:
        def render() -> str:
            rendered.append(str(made_of))
            return str(made_of)

        return fragments.get(made_of, render)

    for _ in range(3):
        assert shown("card", Made("a")) == str(("card", Made("a")))
        assert shown("card", Made("a", 1)) == str(("card", Made("a", 1)))
        assert shown("comment", Made("a")) == str(("comment", Made("a")))
    assert len(rendered) == 3


def test_least_recently_used_goes_first() -> None:
    kept = Kept[bytes](80)
    for name in (b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"):
        kept.keep(name, name * 10)
    assert kept.find(b"a") == b"a" * 10

    kept.keep(b"i", b"i" * 10)

    assert (kept.find(b"a"), kept.find(b"b")) == (b"a" * 10, None)
    assert kept.size == 80


def test_oversized_value_is_not_kept_and_counts_stay_exact() -> None:
    kept = Kept[bytes](80)
    kept.keep(b"large", b"x" * (80 // LARGEST + 1))
    for _ in range(3):
        kept.keep(b"small", b"x")
    assert (kept.find(b"large"), kept.size) == (None, 1)


def test_a_page_that_is_sent_again_is_compressed_once() -> None:
    pages, body = SentPages(), b"<p>harbour</p>" * 1_000

    first, again, other = pages.of(body), pages.of(bytes(bytearray(body))), pages.of(body + b"!")

    assert first is again
    assert other is not first
    for coding in Coding:
        assert asyncio.run(first.packed(coding)) is asyncio.run(again.packed(coding))
        assert len(first.body) + len(asyncio.run(first.packed(coding))) < len(first)
    assert first.etag(None) == CachedBody(body).etag(None) != other.etag(None)
