"""Texts of searches, and the queries that they become."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.domains.search.models import (
    FILLER,
    OCCURRENCES,
    Search,
    fts5_query,
    parse_search,
    tsquery,
    tsvector,
    words_of_post,
)

DAY = 86_400_000


@pytest.mark.parametrize(
    ("text", "search"),
    [
        ("press room", Search(wanted=(("press",), ("room",)))),
        ('"press room" -ink', Search(wanted=(("press", "room"),), unwanted=(("ink",),))),
        ('-"press room"', Search(unwanted=(("press", "room"),))),
        ("from:@Mira -from:joe", Search(authors=("mira",), not_authors=("joe",))),
        ("#Ink -#lead has:Poll", Search(wanted=(("#ink",), (":poll",)), unwanted=(("#lead",),))),
        ("since:1970-01-02 until:1970-01-03", Search(since=DAY, until=3 * DAY - 1)),
        ("since:1970-01-02 since:1970-01-03", Search(since=2 * DAY)),
        ("press press", Search(wanted=(("press",),))),
        ("since:1970-02-30", Search(wanted=(("since", "1970", "02", "30"),))),
        ('"press', Search(wanted=(("press",),))),
        ('""', Search()),
        ("- -- # @", Search()),
        ("日本語", Search(wanted=(("日本", "本語"),))),
    ],
)
def test_text_becomes_conditions(text: str, search: Search) -> None:
    assert parse_search(text) == search


@given(st.text(max_size=200))
def test_no_text_is_a_syntax_error(text: str) -> None:
    """SQLite parses each query; that PostgreSQL takes them is shown over HTTP."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (words, tokenize = \"ascii tokenchars '#@:~_'\")")
    search = parse_search(text)
    query = fts5_query(search.wanted, search.unwanted, 0)
    assert connection.execute("SELECT rowid FROM t WHERE t MATCH ?", (query,)).fetchall() == []
    assert tsquery(search.wanted, search.unwanted).count("'") % 2 == 0


def test_words_of_a_post_are_its_text_and_its_parts() -> None:
    words = words_of_post(
        "Ink #Lead https://a.example", number=40_000, account_id="01AB", has_media=True, has_poll=False, has_link=False
    )
    assert words == ["ink", "lead", "https", "a", "example", "#lead", ":media", ":link", "@01ab", "~1"]


def test_word_that_comes_too_often_keeps_the_places_of_others() -> None:
    words = words_of_post(
        "ink " * (OCCURRENCES + 2) + "lead", number=0, account_id="a", has_media=False, has_poll=False, has_link=False
    )
    assert words.count("ink") == OCCURRENCES
    assert words[OCCURRENCES : OCCURRENCES + 3] == [FILLER, FILLER, "lead"]
    assert f"'lead':{OCCURRENCES + 3}" in tsvector(words)
