"""Text in its one normal form."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.text import is_blank, is_invisible, normalise

MARKS = "\u0300\u0301\u0315\u0323\u0327\u0345\u0344\u0f71\u0f72\u0f73\u05b0\u3099\u093c\u1dce"
LETTERS = "aeo\u00e9\u03b1\u1f80\u0915\u304b\uac00\u1100\u1161\u11a8\U0001f600"


@given(st.text(st.sampled_from(MARKS + LETTERS), max_size=40))
def test_few_marks_are_as_the_standard_has_them(text: str) -> None:
    assert normalise(text) == unicodedata.normalize("NFC", text)


@given(st.text(st.sampled_from(LETTERS), max_size=3), st.text(st.sampled_from(MARKS), min_size=65, max_size=400))
def test_many_marks_are_as_the_standard_has_them(letters: str, marks: str) -> None:
    text = letters + marks + letters + marks[:70]
    assert normalise(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("marks", ["\u0315\u0300" * 100_000, "\u0f73" * 200_000, "\u0301" * 200_000])
def test_hundreds_of_thousands_of_marks_come_to_an_end(marks: str) -> None:
    assert unicodedata.combining(normalise("a" + marks)[-1])


@pytest.mark.parametrize("text", [None, "", " ", "\t\n", "\u3000\u2003\u00a0"])
def test_blank(text: str | None) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", " a ", "\u200b", "\u0301"])
def test_not_blank(text: str) -> None:
    assert not is_blank(text)


@pytest.mark.parametrize(
    "text", ["", " \u3000", "\u200b\u2060", "\u3164", "\u2800", "\u00ad\ufeff", "\U000e0041", "\u202e\n"]
)
def test_text_without_visible_characters_is_invisible(text: str) -> None:
    assert is_invisible(text)
    assert not is_invisible(f"{text}a{text}")


@pytest.mark.parametrize("text", ["a", "\U0001f469\u200d\U0001f692", "\u0301", "\u4e00", "\u202ea"])
def test_text_with_a_visible_character_is_visible(text: str) -> None:
    assert not is_invisible(text)
