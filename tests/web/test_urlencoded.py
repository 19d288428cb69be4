"""Urlencoded bodies: read piece by piece, they equal the standard library's reading of the whole."""

import asyncio
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.errors import Invalid
from pressroom.web import page_form_bodies
from pressroom.web.page_form_bodies import parse_urlencoded

UNITS = [b"a", b"%", b"%%", b"%4", b"%41", b"%c3%a9", b"+", b"=", b"&", b"%26", "é".encode(), b"%zz"]


@given(raw=st.lists(st.sampled_from(UNITS), max_size=60).map(b"".join), at_once=st.integers(3, 20))
def test_form_read_in_pieces_equals_the_whole(raw: bytes, at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_form_bodies, "AT_ONCE", at_once)
        try:
            pairs = parse_qsl(raw.decode(), keep_blank_values=True, errors="strict")
        except UnicodeDecodeError:  # Units such as `%`, `a` and `a` make a byte that is not UTF-8.
            with pytest.raises(Invalid):
                asyncio.run(parse_urlencoded(raw))
            return
        whole: dict[str, list[str]] = {}
        for name, text in pairs:
            whole.setdefault(name, []).append(text)
        assert asyncio.run(parse_urlencoded(raw)) == whole


@pytest.mark.parametrize("raw", [b"a=\xff", b"a=%ff", b"%c3=1", b"&" * 1_000])
def test_body_that_is_no_form_is_refused(raw: bytes) -> None:
    with pytest.raises(Invalid):
        asyncio.run(parse_urlencoded(raw))
