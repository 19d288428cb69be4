"""Search of posts over HTTP: results for each reader, and refusals."""

from typing import Final

import httpx
import pytest

from pressroom.domains.follows.queries import delete_block, delete_mute, insert_block, insert_mute
from pressroom.domains.posts.visibility import Visibility
from tests.api.actors import Actor, body_of, field_errors, follow, publish, refusal
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY
from tests.services.process import wait_until

SETTINGS = ROOMY

PICTURE: Final = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89"
    b"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
)


def search(reader: Actor, text: str, **more: str | int) -> httpx.Response:
    return reader.web.get("/api/search", params={"q": text, **more})


def found(reader: Actor, text: str, **more: str | int) -> list[str]:
    """The ids of the posts that a search finds, once all posts are indexed."""
    reader.server.index()
    answer = body_of(search(reader, text, **more))
    assert (answer["kind"], answer["complete"]) == ("posts", True)
    return [post["id"] for post in answer["posts"]]


@pytest.fixture
def bob(actor: MakeActor) -> Actor:
    """Somebody else."""
    return actor()


WORDS = {
    "Setting type by lamplight": ["lamplight", "LAMPLIGHT", '"type by lamplight"', "setting -daylight"],
    "Crème brûlée at the café": ["creme brulee", "CAFÉ", "Crème"],
    "今日は東京タワーを見ました": ["東京", "東京タワー", '"今日は"'],
    "สวัสดีชาวโลกทุกคน": ["ชาวโลก", "ทุ"],
    "서울에서 만나요": ["서울"],
    "Ships #Halftone today": ["#halftone", "halftone", "#HALFTONE"],
    "Don't e-mail x@example.org": ["don't", "e-mail", "example.org"],
}


@pytest.mark.parametrize("content", WORDS)
def test_post_is_found_by_its_words(alice: Actor, bob: Actor, content: str) -> None:
    mine = f" from:{alice.account.username}"
    post_id = publish(alice, content)["id"]

    assert {text: found(bob, text + mine) for text in WORDS[content]} == {text: [post_id] for text in WORDS[content]}
    absent = ["absentword", '"lamplight type"', f"{WORDS[content][0]} absentword", "大阪", "#absenttag"]
    assert {text: found(bob, text + mine) for text in absent} == {text: [] for text in absent}


def test_new_post_is_found_once_the_server_has_indexed_it(alice: Actor) -> None:
    post_id = publish(alice, "Quoinkey")["id"]

    assert wait_until(lambda: bool(body_of(search(alice, "quoinkey"))["posts"]))
    assert body_of(search(alice, "quoinkey"))["posts"] == [body_of(alice.web.get(f"/api/posts/{post_id}"))]


def test_results_come_newest_first_page_by_page(alice: Actor, bob: Actor) -> None:
    made = [publish(alice, f"Pagination number {number}")["id"] for number in range(7)]
    assert found(bob, "pagination") == made[::-1]

    pages: list[list[str]] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = body_of(search(bob, "pagination", limit=3, **({"cursor": cursor} if cursor else {})))
        pages.append([post["id"] for post in answer["posts"]])
        cursor = answer["nextCursor"]
    assert pages == [made[6:3:-1], made[3:0:-1], made[:1]]


def test_page_goes_on_where_its_last_post_was_deleted(alice: Actor, bob: Actor) -> None:
    made = [publish(alice, f"Vanishing number {number}")["id"] for number in range(4)]
    bob.server.index()
    cursor = body_of(search(bob, "vanishing", limit=2))["nextCursor"]
    body_of(alice.api.delete(f"/api/posts/{made[2]}"))

    assert found(bob, "vanishing", cursor=cursor) == [made[1], made[0]]


def test_operators_choose_posts(alice: Actor, bob: Actor) -> None:
    word, name = "Operatorword", alice.account.username
    plain = publish(alice, f"{word} plain")["id"]
    link = publish(alice, f"{word} https://example.org/page")["id"]
    poll = publish(alice, f"{word} poll", poll={"options": ["a", "b"]})["id"]
    other = publish(bob, f"{word} #Spring")["id"]
    files = {"media": ("a.png", PICTURE, "image/png")}
    media = body_of(alice.api.post("/api/posts/upload", data={"content": word}, files=files), 201)["id"]

    expected = {
        word: [media, other, poll, link, plain],
        f"{word} from:{name}": [media, poll, link, plain],
        f"{word} from:@{name.upper()}": [media, poll, link, plain],
        f"{word} -from:{name}": [other],
        f"{word} from:nobody_at_all": [],
        f"{word} -from:nobody_at_all": [media, other, poll, link, plain],
        f"{word} from:{name} from:{bob.account.username}": [],
        f"{word} has:media": [media],
        f"{word} HAS:Poll": [poll],
        f"{word} has:link": [link],
        f"{word} -has:link -has:poll -has:media": [other, plain],
        f"{word} #spring": [other],
        f"{word} -#spring": [media, poll, link, plain],
        f"from:{name} has:poll": [poll],
        f"-{word} from:{name}": [],
    }
    assert {text: found(alice, text) for text in expected} == expected


def test_days_bound_results(alice: Actor) -> None:
    post_id = publish(alice, "Calendarword")["id"]
    day = body_of(alice.web.get(f"/api/posts/{post_id}"))["createdAt"][:10]

    within = ["since:2020-01-01", f"since:{day}", f"until:{day}", f"since:{day} until:{day}", "until:9999-12-31"]
    outside = ["since:9999-12-31", "until:2020-01-01", "until:0001-01-01", f"since:{day} until:2020-01-01"]
    assert {text: found(alice, f"calendarword {text}") for text in within} == {text: [post_id] for text in within}
    assert {text: found(alice, f"calendarword {text}") for text in outside} == {text: [] for text in outside}


NO_OPERATORS = ["has:everything", "since:yesterday", "since:2026-02-30", "from:!", "from:", "to:you", '"quoted', "#!a"]


@pytest.mark.parametrize("text", NO_OPERATORS)
def test_text_that_is_no_operator_is_words(alice: Actor, text: str) -> None:
    post_id = publish(alice, f"Literalword {text}")["id"]

    assert found(alice, f"literalword {text} from:{alice.account.username}") == [post_id]


def test_audience_decides_the_results(alice: Actor, bob: Actor, actor: MakeActor) -> None:
    stranger, carol = actor(), actor()
    follow(bob, alice)
    follow(carol, alice)
    follow(alice, carol)
    word = "Audienceword"
    made = {each: publish(alice, word, visibility=each)["id"] for each in Visibility}
    body_of(alice.web.put(f"/api/posts/{made[Visibility.CUSTOM]}/audience", json={"usernames": [bob.account.username]}))

    expected = {
        alice: set(Visibility),
        bob: {Visibility.PUBLIC, Visibility.FOLLOWERS, Visibility.CUSTOM},
        carol: {Visibility.PUBLIC, Visibility.FOLLOWERS, Visibility.CONNECTIONS},
        stranger: {Visibility.PUBLIC},
    }
    for reader, visibilities in expected.items():
        assert set(found(reader, word)) == {made[each] for each in visibilities}


def test_change_shows_at_once(alice: Actor, bob: Actor) -> None:
    edited, narrowed, deleted = (publish(alice, f"Changeword {number}")["id"] for number in range(3))
    assert found(bob, "changeword") == [deleted, narrowed, edited]

    # Nothing is indexed between a change and the search after it.
    body_of(alice.api.patch(f"/api/posts/{edited}", json={"content": "Another text"}))
    body_of(alice.api.patch(f"/api/posts/{narrowed}", json={"visibility": "PRIVATE"}))
    body_of(alice.api.delete(f"/api/posts/{deleted}"))
    assert body_of(search(bob, "changeword"))["posts"] == []

    assert found(bob, f"another from:{alice.account.username}") == [edited]
    assert found(alice, "changeword") == [narrowed]
    body_of(alice.api.patch(f"/api/posts/{narrowed}", json={"visibility": "PUBLIC"}))
    assert found(bob, "changeword") == [narrowed]


def test_muted_blocked_and_suspended_authors_are_not_found(alice: Actor, bob: Actor, actor: MakeActor) -> None:
    name, admin = alice.account.username, actor().become_admin()
    post_id = publish(alice, "Silencedword")["id"]
    assert found(bob, "silencedword") == [post_id]

    transact = bob.server.runtime.db.transact
    bob.server.run(transact(insert_mute, account_id=bob.account.id, muted_id=alice.account.id))
    assert (found(bob, "silencedword"), found(alice, "silencedword")) == ([], [post_id])
    bob.server.run(transact(delete_mute, account_id=bob.account.id, muted_id=alice.account.id))
    assert found(bob, "silencedword") == [post_id]
    bob.server.run(transact(insert_block, account_id=alice.account.id, other_id=bob.account.id))
    assert (found(bob, "silencedword"), found(alice, "silencedword")) == ([], [post_id])
    bob.server.run(transact(delete_block, account_id=alice.account.id, other_id=bob.account.id))
    assert found(bob, "silencedword") == [post_id]
    body_of(admin.web.post(f"/api/admin/accounts/{name}/suspend", json={"reason": "Spam."}))
    assert found(bob, "silencedword") == []
    body_of(admin.web.post(f"/api/admin/accounts/{name}/restore", json={"reason": "A mistake."}))
    assert found(bob, "silencedword") == [post_id]


def test_plain_bounce_is_not_found_and_a_quote_is(alice: Actor, bob: Actor) -> None:
    post_id = publish(alice, "Originalword")["id"]
    body_of(bob.api.post(f"/api/posts/{post_id}/bounce", json={}), 201)
    quote = body_of(bob.api.post(f"/api/posts/{post_id}/bounce", json={"content": "Commentaryword"}), 201)["id"]

    assert found(alice, "originalword") == [post_id]
    assert found(alice, "commentaryword") == [quote]
    assert found(alice, f"from:{bob.account.username}") == [quote]


BAD: Final[dict[str, tuple[dict[str, str], list[tuple[str, str]]]]] = {
    "no text": ({}, [("q", "required")]),
    "empty": ({"q": ""}, [("q", "required")]),
    "white space": ({"q": " \t "}, [("q", "too_short")]),
    "punctuation": ({"q": "?!… -- ()"}, [("q", "too_short")]),
    "emoji": ({"q": "🎉"}, [("q", "too_short")]),
    "two hundred quotes": ({"q": '"' * 200}, [("q", "too_short")]),
    "thousands of quotes": ({"q": '"' * 2_500}, [("q", "too_long")]),
    "too long": ({"q": "a" * 201}, [("q", "too_long")]),
    "too many words": ({"q": " ".join(f"w{number}" for number in range(25))}, [("q", "too_many")]),
    "too long a sentence": ({"q": "字" * 26}, [("q", "too_many")]),
    "bad kind": ({"q": "word", "kind": "everything"}, [("kind", "invalid_choice")]),
    "bad page": ({"q": "word", "limit": "0", "cursor": "x"}, [("limit", "out_of_range"), ("cursor", "invalid_format")]),
    "all at once": (
        {"limit": "0", "kind": ""},
        [("kind", "invalid_choice"), ("limit", "out_of_range"), ("q", "required")],
    ),
}


@one_engine
@pytest.mark.parametrize("case", BAD)
def test_bad_search_is_refused_with_every_fault(alice: Actor, case: str) -> None:
    given, faults = BAD[case]
    assert field_errors(alice.web.get("/api/search", params=given)) == faults


@one_engine
@pytest.mark.parametrize("raw", ["q=%00", "q=a%00b"])
def test_nul_is_refused(alice: Actor, raw: str) -> None:
    assert field_errors(alice.web.get(f"/api/search?{raw}")) == [("q", "invalid_format")]


HOSTILE = [
    "' OR 1=1 --",
    "'; DROP TABLE indexed_posts; --",
    '" OR "',
    'NEAR("a" "b", 10)',
    "words : a",
    "a AND b OR NOT c",
    "a & b | !c <-> d",
    "a:* b:ABCD",
    "(a+)+$ .* [^]] \\d{1000}",
    "the a an of",
    "~0 @1 :media ~1",
    "^a a* a+b {c}",
    "%C3%28 %u0041 \\' \\\\",
    "\ud7ff\ue000\uffff\U0010ffff a",
    "a" + "\u0301" * 190,
    "\ufdfa" * 6,
    "字" * 25,
    "a " * 100,
    " ".join(f"-{letter}" for letter in "abcdefghijklmnopqrstuvw"),
    "\u202eabc\u2066 \u200b \u00ad b",
    "İ ß ﬁ Ǆ ŉ",
    "from:a from:b since:0000-00-00 until:99999-01-01 has: #",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_finds_the_post_that_holds_it_or_nothing(alice: Actor, text: str) -> None:
    post_id = publish(alice, f"Hostileword {text}")["id"]

    assert search(alice, text).status_code == 200
    assert found(alice, f"hostileword from:{alice.account.username}") == [post_id]


@one_engine
def test_lone_surrogate_is_refused_or_found_nowhere(alice: Actor) -> None:
    assert alice.web.get("/api/search?q=%ED%A0%80").status_code == 400
    assert body_of(alice.web.get("/api/search?q=zzz%ED%A0%80zzz"))["posts"] == []


@one_engine
def test_search_needs_a_session(alice: Actor) -> None:
    assert refusal(alice.api.get("/api/search", params={"q": "word"})) == (403, "Session required")
