"""Words of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.text import normalise
from pressroom.words import FOLDED, LONGEST, beginnings_of, fold, runs_of, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Setting type, by LAMPLIGHT!", ["setting", "type", "by", "lamplight"]),
        ("Crème brûlée ﬁn Straße", ["creme", "brulee", "fin", "strasse"]),
        ("İstanbul \uff21\uff22\uff23 ①", ["istanbul", "abc", "1"]),
        ("ἀρχή ΛΌΓΟΣ", ["αρχη", "λογοσ"]),
        ("don't e-mail a_b 3.14", ["don", "t", "e", "mail", "a", "b", "3", "14"]),
        ("日本語", ["日本", "本語"]),
        ("本", ["本"]),
        ("東京2026タワー", ["東京", "2026", "タワ", "ワー"]),
        ("ｶﾞｷﾞ がき かき", ["ガギ", "がき", "かき"]),
        ("서울에서", ["서울", "울에", "에서"]),
        ("ชาวโลก", ["ชา", "าว", "วโ", "โล", "ลก"]),
        ("हिन्दी क्षत्रिय", ["हिन्दी", "क्षत्रिय"]),
        ("שָׁלוֹם مَرْحَبًا", ["שלום", "مرحبا"]),
        ("🎉 — …", []),
        ("x" * 100, ["x" * LONGEST]),
    ],
)
def test_words_of_scripts(text: str, words: list[str]) -> None:
    assert list(words_of(normalise(text))) == words


def test_names_are_found_by_each_end_of_a_run() -> None:
    assert beginnings_of("山田 Tarō") == ["山田", "田", "taro"]
    assert runs_of("山田 Tarō") == ["山田", "taro"]


@given(st.text(max_size=300))
def test_case_and_accents_do_not_count(text: str) -> None:
    text = normalise(text)
    words = list(words_of(text))
    assert list(words_of(fold(text))) == words
    assert all(word and len(word) <= LONGEST and not word.isspace() for word in words)


@given(st.text(max_size=100), st.text(max_size=100))
def test_words_of_two_lines_are_those_of_each(first: str, second: str) -> None:
    lines = normalise(first), normalise(second)
    assert list(words_of("\n".join(lines))) == [word for line in lines for word in words_of(line)]


@pytest.mark.parametrize("unit", ["\ufdfa", "字", "é", "ǆ ", "a\u0301\u0327", "क्षि ", "\U0001d400"])
def test_long_text_has_bounded_words(unit: str) -> None:
    text = normalise(unit * 5_000)[:5_000]
    assert len(fold(text)) <= 4 * FOLDED
    assert sum(map(len, words_of(text))) <= 8 * FOLDED
