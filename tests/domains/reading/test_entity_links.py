"""What people wrote, as a page shows it."""

from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pressroom.domains.reading.entity_links import (
    IN_LIST,
    LINES_IN_LIST,
    LINKS_IN_LIST,
    excerpt,
    linked,
    linked_parts,
    shortened,
)
from pressroom.entities import EntityKind, entities

REL = 'rel="nofollow noopener ugc"'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("plain", "plain"),
        ("#Köln", '<a href="/tag/k%C3%B6ln">#Köln</a>'),
        ("#STRASSE #straße", '<a href="/tag/strasse">#STRASSE</a> <a href="/tag/strasse">#straße</a>'),
        ("#ŀa", '<a href="/tag/l%C2%B7a">#ŀa</a>'),
        ("#\ufc5ea", '<a href="/tag/%20%D9%8C%D9%91a">#\ufc5ea</a>'),
        ("(@Ann_9)", '(<a href="/@Ann_9">@Ann_9</a>)'),
        ("https://e.org/", f'<a href="https://e.org/" {REL}>https://e.org/</a>'),
        ("HTTP://E.ORG.", f'<a href="HTTP://E.ORG" {REL}>HTTP://E.ORG</a>.'),
        ("http://e.org/?a=1&b=2", f'<a href="http://e.org/?a=1&amp;b=2" {REL}>http://e.org/?a=1&amp;b=2</a>'),
        ("http://e.org/a'b\"c", f'<a href="http://e.org/a&#39;b&#34;c" {REL}>http://e.org/a&#39;b&#34;c</a>'),
        ("http://e.org/<b>", f'<a href="http://e.org/&lt;b&gt;" {REL}>http://e.org/&lt;b&gt;</a>'),
        ("http://[::1]/", f'<a href="http://[::1]/" {REL}>http://[::1]/</a>'),
        ("http://[", "http://["),
        ("http://[x]/ #a", 'http://[x]/ <a href="/tag/a">#a</a>'),
        ("http://a\u2100b.org", "http://a\u2100b.org"),
        ("http://ann@", "http://ann@"),
        ("<b> & 'c' \"d\"", "&lt;b&gt; &amp; &#39;c&#39; &#34;d&#34;"),
        ("&#39; &amp; &lt;", "&amp;#39; &amp;amp; &amp;lt;"),
        ("a\nb\r\n\n  c", "a\nb\r\n\n  c"),
        ("{} {0} %s #a", '{} {0} %s <a href="/tag/a">#a</a>'),
        (
            "#a @ann http://e.org",
            f'<a href="/tag/a">#a</a> <a href="/@ann">@ann</a> <a href="http://e.org" {REL}>http://e.org</a>',
        ),
    ],
)
def test_links(text: str, html: str) -> None:
    assert str(linked(text)) == html


class Reader(HTMLParser):
    """A browser's reading of a piece of HTML: the links, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.links = "", list[dict[str, str | None]]()
        self.open = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "a"
        assert not self.open
        assert len(dict(attrs)) == len(attrs)
        self.open += 1
        self.links.append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        assert tag == "a"
        assert self.open
        self.open -= 1

    def handle_data(self, data: str) -> None:
        self.text += data

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    handle_comment = handle_pi = unknown_decl

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(decl)


def check(text: str) -> None:
    """The text is read as it was written, and no link leads where none may."""
    page = Reader(str(linked(text)))
    assert page.text == text
    assert not page.open
    for link in page.links:
        href = link.pop("href") or ""
        if href.lower().startswith(("http://", "https://")):
            assert link == {"rel": "nofollow noopener ugc"}
            assert href in text
        else:
            assert href.startswith(("/tag/", "/@"))
            assert link == {}


ATTACKS = [
    "<script>alert(1)</script>",
    "</a><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    '"><svg onload=alert(1)>',
    "<!--<img src=x onerror=alert(1)>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml <script>alert(1)</script>?>",
    '<a href="javascript:alert(1)">x</a>',
    "[x](javascript:alert(1))",
    "javascript:alert(1)//http://e.org",
    "data:text/html,<script>alert(1)</script>#a",
    'http://e.org/"onmouseover="alert(1)',
    "http://e.org/'onmouseover='alert(1)",
    'http://e.org/"><script>alert(1)</script>',
    "http://e.org/<script>alert(1)</script>",
    "http://e.org/?q=</a><iframe/src=//evil.example>",
    "http://e.org/&quot;onclick=&quot;alert(1)",
    "http://e.org/&#34;&#62;&#x3c;script&#x3e;",
    "http://e.org`onmouseover=alert(1)`",
    'http://e.org\\"onfocus=alert(1)/autofocus="',
    "http://javascript:alert(1)",
    "http://[<script>alert(1)</script>]",
    "http://e.org/%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
    '#a"onmouseover="alert(1)',
    "#<script>alert(1)</script>",
    '#\uff1cscript\uff1e #\uff53cript"><b>',
    '@ann"onmouseover="alert(1)',
    "@ann<script>alert(1)</script>@bob'>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;img src=x&#62; &#x3c;b&#x3e;",
    "{{7*7}}${7*7}#{7*7}<%=7*7%>",
    "\u202ehttp://gro.e\u202c<b>\x00<script\x00>alert(1)</script>",
    "<a href=http://e.org onclick=alert(1)>http://e.org</a>",
    "<style>@import'http://e.org/x.css';</style>",
    "<textarea><script>alert(1)</script></textarea><plaintext>",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_attacks_are_text(text: str) -> None:
    check(text)


MARKUP = [*"<>\"'&;/=`#@ \n\\()[]{}%", "<a href=", "http://", "https://e.org/", "#a", "@ann", "&quot;", "-->", "script"]


@given(st.lists(st.sampled_from(MARKUP) | st.characters(exclude_categories=["Cs"]), max_size=40).map("".join))
@example("<" * 1000)
def test_any_text_is_read_as_it_was_written(text: str) -> None:
    check(text)


PEOPLE_WRITE = ["#a", "@ann", "http://e.org/a(b", "word", " ", "\n", "x" * 90, ".", "!", ")", "é", "#", "http://"]
LONG = st.lists(st.sampled_from(PEOPLE_WRITE) | st.characters(exclude_categories=["Cs"]), max_size=400).map("".join)


@given(LONG)
@example("#a " * 1_700)
def test_parts_are_the_whole(text: str) -> None:
    assert "".join(linked_parts(text)) == linked(text)


def test_no_part_is_long() -> None:
    assert max(part.count("<a ") for part in linked_parts("#a " * 1_700)) <= 100


@given(LONG)
@example("#a" + "b" * 99)
@example("http://e.org/" + "a" * 2_000)
@example("x" * 990 + " http://e.org/" + "a" * 20)
@example("x" * (IN_LIST - 12) + " http://e.org...and more")
@example("x" * (IN_LIST - 4) + " @ann_and_others")
@example("x" * (IN_LIST - 3) + " #a " + "y" * 99)
@example("#a " * (LINKS_IN_LIST + 1))
@example("\n" * 20 + "a")
@example("a\u0301" * IN_LIST)
def test_a_shortened_text_is_the_beginning_of_the_whole_and_links_to_the_same(text: str) -> None:
    html, more = shortened(text)
    page, whole = Reader(str(html)), Reader(str(linked(text)))
    assert text.startswith(page.text.removesuffix("…") if more else page.text)
    assert more or page.text == text
    assert page.links == whole.links[: len(page.links)]
    assert len(page.links) <= LINKS_IN_LIST
    assert len(page.text) <= IN_LIST + 1
    assert page.text.count("\n") < LINES_IN_LIST


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("a b", "a b"),
        ("x " * 600, "x " * 499 + "x…"),
        ("x" * 2_000, "x" * 1_000 + "…"),
        ("a\n" * 30, "a\n" * 15 + "a…"),
        ("#a " * 50, "#a " * 50),
        ("#a " * 51, "#a " * 49 + "#a…"),
        ("#" * 999, "#" * 999),
    ],
)
def test_list_shows_the_beginning_of_a_text(text: str, shown: str) -> None:
    assert Reader(str(shortened(text).html)).text == shown


@pytest.mark.parametrize("name", ["Köln", "ﷺ", "ŀa", "क्षत्रिय", "a_1", "\uff21\uff22\uff23"])
def test_a_tag_link_leads_to_the_identity(name: str) -> None:
    (found,) = entities(f"#{name}")
    (link,) = Reader(str(linked(f"#{name}"))).links
    assert found.kind is EntityKind.HASHTAG
    assert unquote((link["href"] or "").removeprefix("/tag/")) == found.name


@pytest.mark.parametrize(
    ("text", "longest", "expected"),
    [
        ("", 10, ""),
        (" \n\t ", 10, ""),
        ("abc", 3, "abc"),
        ("  a \n\n b\tc\u3000d  ", 10, "a b c d"),
        ("a  b", 3, "a b"),
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one two three", 9, "one two…"),
        ("one two three", 8, "one two…"),
        ("one two three", 7, "one…"),
        ("one two three", 4, "one…"),
        ("one two three", 3, "on…"),
        ("abcdef", 4, "abc…"),
        ("abcdef", 1, "…"),
        ("abcdef", 0, ""),
        ("abcdef", -1, ""),
        ("a bcdefghijklmn", 10, "a bcdefgh…"),
        ("活版印刷の本", 4, "活版印…"),
        ("ภาษาที่นี่", 7, "ภาษา…"),
        ("caffe\u0301s", 6, "caff…"),
        ("ab\U0001f468\u200d\U0001f469\u200d\U0001f467", 6, "ab…"),
        ("a\u2764\ufe0fb", 3, "a…"),
        ("\u0301" * 9, 5, "\u0301" * 4 + "…"),
        ("x y" + "\u0301" * 9, 8, "x…"),
        ("<b>&amp; #a", 20, "<b>&amp; #a"),
    ],
)
def test_excerpts(text: str, longest: int, expected: str) -> None:
    assert excerpt(text, longest) == expected


@given(
    st.lists(st.sampled_from([" ", "\n", "a", "word", "\u0301", "\u200d"]) | st.characters()).map("".join),
    st.integers(-1, 40),
)
def test_an_excerpt_is_one_line_that_fits_and_begins_as_the_text(text: str, longest: int) -> None:
    line, short = " ".join(text.split()), excerpt(text, longest)
    assert len(short) <= max(longest, 0)
    assert short == " ".join(short.split())
    if len(line) > longest > 0:
        assert short.endswith("…")
        assert line.startswith(short[:-1])
    else:
        assert short == (line if len(line) <= longest else "")
