"""Hashtags, mentions and URLs in a text."""

# ruff: noqa: RUF001  # Letters that look like others are the subject of these tests.

import re
import sys
import unicodedata
from collections.abc import Iterator
from itertools import takewhile
from typing import SupportsIndex

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pressroom import entities as module
from pressroom.entities import EntityKind, entities, hashtags, mentions, tag_identity

Found = tuple[EntityKind, str, str]
Case = tuple[str, list[Found]]


def tag(written: str, identity: str | None = None) -> Found:
    return EntityKind.HASHTAG, f"#{written}", written if identity is None else identity


def at(name: str) -> Found:
    return EntityKind.MENTION, f"@{name}", name


def url(address: str) -> Found:
    return EntityKind.URL, address, address


SCRIPTS: list[Case] = [
    *((f"#{name}", [tag(name)]) for name in ("letterpress", "हिन्दी", "தமிழ்", "తెలుగు", "العربية", "كِتَابٌ", "عربي٢٠٢٦")),
    *((f"#{name}", [tag(name)]) for name in ("שלום", "שָׁלוֹם", "ภาษาไทย", "カタカナー", "活版印刷", "한국어", "ısı")),
    *((f"#{name}", [tag(name)]) for name in ("ქართული", "_a", "1a", "a_1", "\u0301a", "a\u20dd")),
    ("#क्षत्रिय है", [tag("क्षत्रिय")]),
    ("#বাংলা।", [tag("বাংলা")]),
    ("#ที่นี่ #น้ำ", [tag("ที่นี่"), tag("น้ำ", "น\u0e49\u0e4dา")]),
    ("#東京、#大阪。", [tag("東京"), tag("大阪")]),
    ("見て #かな", [tag("かな")]),
    ("#ｶﾅ", [tag("ｶﾅ", "カナ")]),
    ("#\u1112\u1161\u11ab", [tag("\u1112\u1161\u11ab", "한")]),
    ("#Ελλάδα", [tag("Ελλάδα", "ελλάδα")]),
    ("#Москва!", [tag("Москва", "москва")]),
    ("#ꮳꮃꭹ", [tag("ꮳꮃꭹ", "ᏣᎳᎩ")]),
    ("#\U00020000\U00010400", [tag("\U00020000\U00010400", "\U00020000\U00010428")]),
]
MARKS_AND_JOINERS: list[Case] = [
    ("#cafe\u0301", [tag("cafe\u0301", "café")]),
    ("#a\u200db", [tag("a")]),
    ("#می\u200cخواهم", [tag("می")]),
    ("a\u200d#b", [tag("b")]),
    ("#a\u00adb", [tag("a")]),
    ("\u200f#שלום\u200e", [tag("שלום")]),
    ("#a\u202eb", [tag("a")]),
]
EMOJI: list[Case] = [
    ("\U0001f600#a", [tag("a")]),
    ("\U0001f44d\U0001f3fd#a", [tag("a")]),
    ("#love\u2764\ufe0f", [tag("love")]),
    ("\u2764\ufe0f#love", [tag("love")]),
    ("\u2764\ufe0f@ann", [at("ann")]),
    ("1\ufe0f\u20e3#one", [tag("one")]),
    ("\u0915\u094d#one", []),
    ("\U0001f468\u200d\U0001f469\u200d\U0001f467#family", [tag("family")]),
    ("\U0001f1e9\U0001f1ea#de\U0001f1e9\U0001f1ea", [tag("de")]),
]
AROUND: list[Case] = [
    ("#a²", [tag("a")]),
    ("##a", [tag("a")]),
    ("#a#b", [tag("a")]),
    ("#@ann", [at("ann")]),
    ("@#ann", [tag("ann")]),
    ("#ann@bob", [tag("ann")]),
    ("@ann#bob", [at("ann")]),
    ("＃#a", [tag("a")]),
    ("“#a”„@ann“", [tag("a"), at("ann")]),
    ("'#a'\"#b\"", [tag("a"), tag("b")]),
    ("#a.b", [tag("a")]),
    ("#don't", [tag("don")]),
    ("#a,#b;#c:#d", [tag("a"), tag("b"), tag("c"), tag("d")]),
    ("&#39;#a", [tag("a")]),
    ("&amp;#a", [tag("a")]),
    ("#a\n#b\r\n@ann", [tag("a"), tag("b"), at("ann")]),
    ("#a\u2028#b\x00@ann", [tag("a"), tag("b"), at("ann")]),
    ("#" + "a" * 99, [tag("a" * 99)]),
    ("#" + "b" * 100, [tag("b" * 100)]),
    ("#" + "c" * 101, []),
    ("#" + "é" * 100 + ".", [tag("é" * 100)]),
    ("#" + "\U00010428" * 101, []),
    ("#" + "1" * 99 + "a", [tag("1" * 99 + "a")]),
    ("#" + "1" * 100 + "a", []),
    ("#" + "a" + "\u0301" * 100, []),
    ("#" + "d" * 101 + " #e", [tag("e")]),
]
FOLDING: list[Case] = [
    ("#straße #STRASSE", [tag("straße", "strasse"), tag("STRASSE", "strasse")]),
    ("#ẞ", [tag("ẞ", "ss")]),
    ("#İstanbul", [tag("İstanbul", "i\u0307stanbul")]),
    ("#ΟΔΟΣ #οδος #οδοσ", [tag("ΟΔΟΣ", "οδοσ"), tag("οδος", "οδοσ"), tag("οδοσ")]),
    ("#ＡＢＣ１", [tag("ＡＢＣ１", "abc1")]),
    ("#ﬁne", [tag("ﬁne", "fine")]),
    ("#ᾳ", [tag("ᾳ", "αι")]),
    ("#ΰẖ", [tag("ΰẖ")]),
    ("#K", [tag("K", "k")]),
    ("#ſ", [tag("ſ", "s")]),
    ("#ﷺ", [tag("ﷺ", "صلى الله عليه وسلم")]),
]
MENTIONS: list[Case] = [
    *((f"@{name}", [at(name)]) for name in ("ann", "Ann_9", "___", "123", "a" * 29, "a" * 30)),
    ("@" + "b" * 31, []),
    ("@" + "b" * 31 + " @ann", [at("ann")]),
    ("@ann-lee", [at("ann")]),
    ("@anné", [at("ann")]),
    ("@anna٣", [at("anna")]),
    ("@@ann", [at("ann")]),
    ("@ann@bob", [at("ann")]),
    ("ann+@example.org", [at("example")]),
    ("「@ann」", [at("ann")]),
]
BLANKS_AND_CONTROLS = "\n\t \u00a0\u2003\u2028\u3000\x00\x1b\x7f\x9f\u202a\u202c\u202e\u2066\u2069"
URLS: list[Case] = [
    *((whole, [url(whole)]) for whole in ("http://e.org", "http://1", "http://٣", "http://[", "http://[::1]:80/a")),
    *(
        (whole, [url(whole)])
        for whole in ("https://e.org:8080/", "https://bücher.example/größe", "http://http://e.org")
    ),
    *((whole, [url(whole)]) for whole in ("https://e.org/#part", "https://e.org/@ann", "https://e.org/?to=#a,@ann")),
    *((whole, [url(whole)]) for whole in ("http://a.org,http://b.org", "https://e.org\u200bb", "https://e.org。次")),
    *((f"https://e.org{end}b", [url("https://e.org")]) for end in BLANKS_AND_CONTROLS),
    ("see https://e.org/a?b=c&d=e now", [url("https://e.org/a?b=c&d=e")]),
    ("HTTPS://E.ORG HtTp://e.org", [url("HTTPS://E.ORG"), url("HtTp://e.org")]),
    ("https://ann:pass@e.org/ @ann", [url("https://ann:pass@e.org/"), at("ann")]),
    ("https://例え.jp/道 道", [url("https://例え.jp/道")]),
    ("http://[2001:db8::1].", [url("http://[2001:db8::1]")]),
    ("[http://[::1]]", [url("http://[::1]")]),
    ("éhttp://e.org", [url("http://e.org")]),
    ("見てhttps://e.org", [url("https://e.org")]),
    ("http://a.org)http://b.org", [url("http://a.org"), url("http://b.org")]),
    ("#http://e.org", [url("http://e.org")]),
    ("@https://e.org", [url("https://e.org")]),
    ("#éhttp://e.org", [tag("é"), url("http://e.org")]),
    ("#" + "é" * 100 + "http://e.org", [tag("é" * 100), url("http://e.org")]),
    ("@annéhttp://e.org", [at("ann"), url("http://e.org")]),
]
TAILS = ["(a)", "[a]", "{a}", "<a>", "Press_(printing)", "(", "((a)", "(a[b)c]d", "a.'\",;:!?x"]
URL_ENDINGS: list[Case] = [
    *((f"https://e.org/{tail}", [url(f"https://e.org/{tail}")]) for tail in TAILS),
    *((f"https://e.org/a{inside}b", [url(f"https://e.org/a{inside}b")]) for inside in ".,;:!?'\""),
    *((f"https://e.org/a{sign}", [url(f"https://e.org/a{sign}")]) for sign in "/-_=&#@*~|…"),
    *((f"https://e.org/a{ending}", [url("https://e.org/a")]) for ending in ".,;:!?'\""),
    *((f"https://e.org/a{ending} #b", [url("https://e.org/a"), tag("b")]) for ending in (")", "]", "}", ">")),
    ("(https://en.example/wiki/Press_(printing))", [url("https://en.example/wiki/Press_(printing)")]),
    ("(see https://e.org/a.)", [url("https://e.org/a")]),
    ("[x](https://e.org/a)", [url("https://e.org/a")]),
    ("[https://e.org](https://e.org)", [url("https://e.org"), url("https://e.org")]),
    ("<https://e.org>", [url("https://e.org")]),
    ('<a href="https://e.org">x</a>', [url("https://e.org")]),
    ("https://e.org),#tag", [url("https://e.org"), tag("tag")]),
    ("https://e.org)@ann", [url("https://e.org"), at("ann")]),
    ("https://e.org?!... #a", [url("https://e.org"), tag("a")]),
    ("https://e.org/(a]b", [url("https://e.org/(a")]),
    ("https://e.org/(a))", [url("https://e.org/(a)")]),
    ("https://e.org/a)(b", [url("https://e.org/a")]),
    ("@ann saw #Köln: https://e.org/#a.", [at("ann"), tag("Köln", "köln"), url("https://e.org/#a")]),
    ("#a(@ann)https://e.org #b", [tag("a"), at("ann"), url("https://e.org"), tag("b")]),
]
NOTHING = [
    *("", "plain text", "#", "# a", "@", "@ ann", "@a", "@an", "C# and F#", "＃a", "＠ann", "﹟a ﹫ann"),
    *("#1", "#2026", "#٢٠٢٦", "#_", "#_1_", "#²a", "#Ⅷ", "#①a", "#½", "#\u0301", "#\u0301\u0302_1", "#\u200da"),
    *("a#b", "é#b", "1#b", "_#b", "٣#b", "見て#かな", "a\u0301#b", " \u0301#b", "@\u0131nn", "@ánn", "見@ann", "_@ann"),
    *("/#x", "/@xyz", "//#x", "example.org/#x", "example.org/a#x", "example.org/@ann", "&#39;", "&#x27;", "&@ann"),
    *("ann@example.org", "ann.lee+x@example.org", "ä@example.org", "mailto:ann@example.org", "x/#a/@ann"),
    *("#\U0001f600", "#\U0001f600a", "#\ufe0f\u20e3"),
    *("http://", "http:// e.org", "http:///e.org", "http://-e.org http://.e http://_e", "http://²", "http://\u0301"),
    *("http://#tag", "http://@ann", "http:/e.org https:e.org ://e.org", "ftp://e.org", "httpſ://e.org"),
    *("http\uff1a//e.org", "xhttp://e.org", "1http://e.org", "_http://e.org", "Xhttps://e.org/"),
]
FOUND = SCRIPTS + MARKS_AND_JOINERS + EMOJI + AROUND + FOLDING + MENTIONS + URLS + URL_ENDINGS
CASES: list[Case] = [*FOUND, *((text, []) for text in NOTHING)]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_entities_are_found(text: str, expected: list[Found]) -> None:
    assert [(entity.kind, text[entity.start : entity.end], entity.name) for entity in entities(text)] == expected


def test_the_cases_are_distinct() -> None:
    texts = [text for text, _ in CASES]
    assert len(set(texts)) == len(texts) >= 120


def test_each_name_once_in_order_of_first_appearance() -> None:
    found = entities("#Straße @Bob #b #STRASSE @ann @bOB https://e.org/#c")
    assert hashtags(found) == ["strasse", "b"]
    assert mentions(found) == ["bob", "ann"]
    assert hashtags([]) == mentions([]) == []


# The same rules once more, character by character and without a thought for speed.


def is_word(character: str) -> bool:
    category = unicodedata.category(character)
    return character == "_" or category[0] in "LM" or category == "Nd"


def is_name(character: str) -> bool:
    return character == "_" or (character.isascii() and character.isalnum())


def ends_url(address: str, character: str) -> bool:
    if character.isspace() or unicodedata.category(character) == "Cc":
        return True
    if unicodedata.bidirectional(character) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}:
        return True
    closes = dict(zip(")]}>", "([{<", strict=True))
    return character in closes and address.count(closes[character]) == address.count(character)


def url_at(text: str, start: int) -> int | None:
    begin = text[start : start + 8].lower()
    scheme = next((scheme for scheme in ("http://", "https://") if begin.startswith(scheme)), "")
    host = start + len(scheme)
    begins = text[host : host + 1]
    if not scheme or (start and is_name(text[start - 1])):
        return None
    if not begins or (
        begins != "[" and unicodedata.category(begins)[0] != "L" and unicodedata.category(begins) != "Nd"
    ):
        return None
    end = host
    while end < len(text) and not ends_url(text[host:end], text[end]):
        end += 1
    while text[end - 1] in ".,;:!?'\"":
        end -= 1
    return end


def sign_at(text: str, start: int, end: int) -> int | None:
    """Where the hashtag or mention ends that begins at `start`, given that a URL or nothing begins at `end`."""
    before = text[start - 1] if start else " "
    if before not in "\ufe0f\u20e3" and (is_word(before) or before in "&/"):
        return None
    belongs = is_word if text[start] == "#" else is_name
    name = "".join(takewhile(belongs, text[start + 1 : end]))
    if text[start] == "#":
        fits = len(name) <= 100 and any(unicodedata.category(character)[0] == "L" for character in name)
    else:
        fits = 3 <= len(name) <= 30
    return start + 1 + len(name) if fits else None


def naively(text: str) -> Iterator[tuple[int, int]]:
    urls: list[tuple[int, int]] = []
    position = 0
    while position < len(text):
        end = url_at(text, position)
        if end is not None:
            urls.append((position, end))
        position = end or position + 1
    yield from urls
    for start in (index for index, character in enumerate(text) if character in "#@"):
        if not any(first <= start < last for first, last in urls):
            end = sign_at(text, start, min((first for first, _ in urls if first > start), default=len(text)))
            if end is not None:
                yield start, end


PIECES = [
    *"##@@  \n&/_.,;:!?'\"()[]{}<>a1éß²٣İſ１＃＠\u0301\u200d\u202e\u2067\x00",
    *("http://", "https://", "HTTP://", "http://e", " https://e.org/", "ann", " @ann", " #a", "?!", ").", "://"),
    *("&#", "/#", "/@", "é#", "@" + "x" * 29, "x" * 29, "#" + "é" * 99, "1" * 98),
    *("\U0001f600", "\ufe0f\u20e3", "ﷺ"),
]
SIGNS = {EntityKind.HASHTAG: "#", EntityKind.MENTION: "@", EntityKind.URL: "http"}


@settings(max_examples=500)
@given(st.lists(st.sampled_from(PIECES) | st.characters(exclude_categories=["Cs"]), max_size=40).map("".join))
@example("#éhttp://e.org)@ann")
@example("&#a /#a /@ann é#a é@ann @" + "x" * 31 + " #" + "x" * 101)
def test_the_rules_hold_for_any_text(text: str) -> None:
    found = entities(text)
    assert [(entity.start, entity.end) for entity in found] == sorted(naively(text))
    position = 0
    for entity in found:
        written = text[entity.start : entity.end]
        assert position <= entity.start < entity.end <= len(text)
        assert written.lower().startswith(SIGNS[entity.kind])
        assert entity.name == (tag_identity(written[1:]) if written[0] == "#" else written.removeprefix("@"))
        position = entity.end


FOLDED = "aAßİſKǅÅﬁﷺ한Σςιΐᾳᾼὐẖ\u1112\u1161\u0301\u0308\u0345\u0323"


@given(st.lists(st.sampled_from(FOLDED) | st.characters(exclude_categories=["Cs"])).map("".join))
@example("a" + "\u0315\u0300" * 200)
def test_the_identity_of_an_identity_is_itself(name: str) -> None:
    identity = tag_identity(name)
    assert tag_identity(identity) == tag_identity(unicodedata.normalize("NFD", name)) == identity
    assert identity == unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())[:200]


class Meter:
    """Work done: calls, characters that patterns passed over, characters taken out of the text."""

    def __init__(self) -> None:
        self.work = 0

    def called(self, *_: object) -> None:
        self.work += 1


class MeteredPattern:
    """A pattern that counts the characters it passes over."""

    def __init__(self, pattern: re.Pattern[str], meter: Meter) -> None:
        self.pattern, self.meter = pattern, meter

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        found = self.pattern.search(text, start, end)
        self.meter.work += (found.end() if found else min(end, len(text))) - start
        return found

    def match(self, text: str, start: int, end: int) -> re.Match[str] | None:
        found = self.pattern.match(text, start, end)
        self.meter.work += found.end() - start if found else 1
        return found

    def finditer(self, text: str, start: int, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        while found := self.search(text, start, end):
            yield found
            start = found.end()


class MeteredText(str):
    """A text that counts the characters taken out of it."""

    meter: Meter

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        taken = super().__getitem__(key)
        self.meter.work += len(taken)
        return taken


def work(characters: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The work of finding the entities of a text."""
    meter, text = Meter(), MeteredText(characters)
    text.meter = meter
    outer = sys.getprofile()
    with monkeypatch.context() as patch:
        for name, value in list(vars(module).items()):
            if isinstance(value, re.Pattern):
                patch.setattr(module, name, MeteredPattern(value, meter))
        sys.setprofile(meter.called)
        try:
            entities(text)
        finally:
            sys.setprofile(outer)
    return meter.work


HOSTILE = [
    *(("", unit) for unit in ("#", "@", "(", "#_", "#a", "#é", "@a", "@ann", "/#", "\u0301", "#\u0301", "http", "://")),
    *(("", unit) for unit in ("http://", "http://(", "http://a(", "http://a)", "http://a!", "http://a!)", "http://a ")),
    *(("", unit) for unit in ("#éhttp://", "#éhttp://a ", "#" + "é" * 101, "@" + "a" * 31, "#" + "1" * 100)),
    *(("#", unit) for unit in ("a", "é", "1", "\u0301")),
    *(("http://a", unit) for unit in ("!", "(", ")", "()", "(!", "!)", "#", "@ann")),
    *((head, "[") for head in ("http://", "[http://a](")),
]


@pytest.mark.parametrize(("head", "unit"), HOSTILE)
def test_twice_the_text_is_twice_the_work(head: str, unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = head + unit * 100_000
    assert work(text[:100_000], monkeypatch) < 2.5 * work(text[:50_000], monkeypatch)


def test_text_without_a_sign_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert work("no, plain: text/ http " * 1000, monkeypatch) < 22_000 + 20
