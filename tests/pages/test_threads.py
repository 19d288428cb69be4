"""Comments on a post's page: as threads, page by page."""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import parse_qs, quote

import pytest

from pressroom.clock import SECOND
from pressroom.domains.moderation import actions as moderation
from tests.api.actors import Actor, Json, body_of, publish
from tests.api.conftest import MakeActor, one_engine
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.markup import FOREIGN
from tests.pages.reader import Page, fetch, permalink, told, turned, visit

SETTINGS = ROOMY

A_PAGE = 100
DEEPEST = 5
GIF = {"type": "gif", "url": "https://images.example.org:8443/heron.gif?x=1&y"}


class Said(NamedTuple):
    """A comment on a page: its words, how far it is indented, and whom it says that it answers."""

    words: str
    indent: int
    answers: str = ""


def commented(who: Actor, post: Json, content: str, parent: Json | None = None, **more: object) -> Json:
    """A comment, made a millisecond after the one before."""
    who.server.clock.advance(1)
    body = {"content": content, "parentId": parent and parent["id"], **more}
    return body_of(who.web.post(f"/api/posts/{post['id']}/comments", json=body), 201)


def said(page: Page) -> list[Said]:
    """The comments of a page, in their order."""
    found: list[Said] = []
    for item in page.tree.css("li.comment"):
        entry = Page(item.html or "")
        indents = [name for name in entry.values("li", "class")[0].split() if name.startswith("depth-")]
        answers = entry.lines(".answers")
        found.append(Said(entry.line(".text"), int(indents[0].removeprefix("depth-")), *answers))
    return found


def test_replies_stand_below_their_parents(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    first = commented(bob, post, "first")
    second = commented(alice, post, "second")
    reply = commented(alice, post, "reply to first", first)
    commented(bob, post, "reply to second", second)
    commented(bob, post, "reply to the reply", reply)
    commented(bob, post, "another reply to first", first)

    page = visit(alice.server, permalink(post))

    assert said(page) == [
        Said("first", 0),
        Said("reply to first", 1),
        Said("reply to the reply", 2),
        Said("another reply to first", 1),
        Said("second", 0),
        Said("reply to second", 1),
    ]
    assert page.line("#comments-heading") == "6 comments"
    assert page.values("li.has-replies", "id") == [f"comment-{each['id']}" for each in (first, reply, second)]


def test_comment_shows_author_time_and_text(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    body_of(bob.web.patch("/api/auth/me", json={"displayName": "Bob Ö."}))
    words = f"See #Heron, @{alice.account.username}\nand https://e.org/?a&b."
    answer = bob.api.post(f"/api/posts/{post['id']}/comments", json={"content": words, "media": GIF})
    comment = body_of(answer, 201)

    page = visit(alice.server, permalink(post))

    assert page.texts(".comment .text") == [words]
    linked = [href for _, href in page.links(".comment .text")]
    assert linked == ["/tag/heron", f"/@{alice.account.username}", "https://e.org/?a&b"]
    assert page.line(".comment .who") == f"Bob Ö. @{bob.account.username}"
    assert page.values(".comment time", "datetime") == [comment["createdAt"]]
    assert page.values(".comment a.permalink", "href") == [f"#comment-{comment['id']}"]
    assert page.line(".comment .via") == "via test key"
    assert page.links(".comment .media") == [("GIF: images.example.org:8443", GIF["url"])]
    assert page.values(".comment .media a", "rel") == [FOREIGN]


def test_a_comment_of_media_alone(alice: Actor) -> None:
    post = publish(alice)
    body = {"media": {"type": "image", "url": "HTTPS://E.ORG"}}
    body_of(alice.web.post(f"/api/posts/{post['id']}/comments", json=body), 201)

    page = visit(alice.server, permalink(post))

    assert page.links(".comment .media") == [("Image: E.ORG", "HTTPS://E.ORG")]
    assert not page.has(".comment .text, .comment .via")


def test_there_are_none(alice: Actor) -> None:
    page = visit(alice.server, permalink(publish(alice)))

    assert page.line("#comments .empty") == "No comments yet."
    assert not page.has(".pager, .thread")


def test_deep_reply_names_its_parents_author(actor: MakeActor) -> None:
    people = [actor() for _ in range(3)]
    post = publish(people[0])
    chain = [commented(people[0], post, "0")]
    for depth in range(1, 10):
        chain.append(commented(people[depth % 3], post, str(depth), chain[-1]))

    page = visit(people[0].server, permalink(post))

    names = [people[depth % 3].account.username for depth in range(10)]
    assert said(page) == [
        Said(str(depth), min(depth, DEEPEST), *([f"in reply to {names[depth - 1]}"] if depth > DEEPEST else []))
        for depth in range(10)
    ]
    answered = [f"#comment-{each['id']}" for each in chain[DEEPEST:9]]
    assert page.values(".answers a", "href") == answered


def test_reply_on_a_later_page_names_its_parents_author(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    first = commented(bob, post, "first")
    second = commented(alice, post, "second", first)
    for number in range(A_PAGE - 2):
        commented(alice, post, f"filler {number}", first)
    late = [commented(alice, post, "to the first", first), commented(bob, post, "to the second", second)]
    commented(alice, post, "to the late one", late[1])
    commented(bob, post, "a thread of its own")

    _, page = turned(alice.server, post)

    assert said(page) == [
        Said("to the first", 0, f"in reply to {bob.account.username}"),
        Said("to the second", 0, f"in reply to {alice.account.username}"),
        Said("to the late one", 1),
        Said("a thread of its own", 0),
    ]
    assert not page.has(".answers a"), "what they answer is not on this page"


def talk(people: Sequence[Actor], post: Json) -> list[Json]:
    """250 comments: some begin a thread, most answer one of those before, some go deep. In time order."""
    dice, made = random.Random(7), list[Json]()
    for number in range(250):
        parent = dice.choice([None, *made[:10], *made[-10:]])
        made.append(commented(people[number % len(people)], post, f"number {number}", parent))
    return made


def parts(made: Sequence[Json]) -> list[list[Json]]:
    """The comments thread after thread, each thread in time order, cut into pages."""
    by_id = {each["id"]: each for each in made}

    def top(comment: Json) -> str:
        return top(by_id[comment["parentId"]]) if comment["parentId"] else str(comment["id"])

    threads = [each for first in made if not first["parentId"] for each in made if top(each) == first["id"]]
    return [threads[start : start + A_PAGE] for start in range(0, len(threads), A_PAGE)]


def below(part: Sequence[Json], names: dict[str, str], parent: str | None = None, depth: int = 0) -> Iterator[Said]:
    """Those of a page's comments that answer `parent` there, in time order, each with what stands below it."""
    there = {each["id"] for each in part}
    for each in part:
        if (each["parentId"] if each["parentId"] in there else None) == parent:
            told_of = each["parentId"] and (depth == 0 or depth > DEEPEST)
            answers = [f"in reply to {names[each['parentId']]}"] if told_of else []
            yield Said(each["content"], min(depth, DEEPEST), *answers)
            yield from below(part, names, each["id"], depth + 1)


def test_every_comment_is_shown_once_over_all_pages(actor: MakeActor) -> None:
    people = [actor() for _ in range(3)]
    server, post = people[0].server, publish(people[0])
    made = talk(people, post)
    names = {each["id"]: each["author"]["displayName"] for each in made}

    pages = list(turned(server, post))

    shown = [said(page) for page in pages]
    assert shown == [list(below(part, names)) for part in parts(made)]
    assert sorted(each.words for page in shown for each in page) == sorted(f"number {number}" for number in range(250))
    first_links = [page.values(".pager a:not([rel])", "href") for page in pages]
    assert first_links == [[], [permalink(post)], [permalink(post)]]
    assert {page.line("#comments-heading") for page in pages} == {"250 comments"}


def test_a_place_that_was_never_given_out_is_the_beginning(alice: Actor) -> None:
    post = publish(alice)
    for number in range(A_PAGE + 1):
        commented(alice, post, f"number {number}")
    first, last = turned(alice.server, post, alice)
    (link,) = first.values("a[rel=next]", "href")
    after = parse_qs(link.partition("?")[2])["after"][0]
    beginning = told(fetch(alice.server, permalink(post), alice))
    malformed = [
        *("", "x", "-", "~", after[:-1], f"{after}0", after.lower(), after[:26], f"{after}-{after[:26]}", f" {after}"),
        *(f"{after}\n", "é" * 53, "'" + after[1:], "0" * 26, after.replace("-", "_"), "%" * 53),
    ]

    for place in malformed:
        assert fetch(alice.server, f"{permalink(post)}?after={quote(place)}", alice).status_code == 400, place
    for query in ("after", "after=%FF", f"{link.partition('?')[2]}&after=x"):
        assert fetch(alice.server, f"{permalink(post)}?{query}", alice).status_code == 400, query
    for query in ("&&=", "before=x", "AFTER=x"):
        assert told(fetch(alice.server, f"{permalink(post)}?{query}", alice)) == beginning, query
    assert said(last) == [Said("number 100", 0)]


@one_engine
def test_a_place_behind_the_end_is_empty(alice: Actor) -> None:
    post = publish(alice)
    commented(alice, post, "first")

    page = visit(alice.server, f"{permalink(post)}?after={'Z' * 26}-{'Z' * 26}")

    assert page.line("#comments .empty") == "There are no further comments."
    assert page.values(".pager a", "href") == [permalink(post)]
    assert said(visit(alice.server, f"{permalink(post)}?after={'0' * 26}-{'0' * 26}")) == [Said("first", 0)]


def test_a_later_page_of_a_post_for_some_is_for_them_alone(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, visibility="PRIVATE")
    for number in range(A_PAGE + 1):
        commented(alice, post, f"number {number}")
    pages = list(turned(alice.server, post, alice))
    assert [len(said(page)) for page in pages] == [A_PAGE, 1]

    for path in (permalink(post), *pages[0].values("a[rel=next]", "href")):
        for reader in (None, bob):
            assert fetch(alice.server, path, reader).status_code == 404


@pytest.mark.parametrize("engine_settings", ["postgres"], indirect=True)
def test_replies_follow_their_parents_when_a_clock_is_ahead(twins: tuple[LocalServer, LocalServer]) -> None:
    ahead, behind = twins
    ahead.clock.advance(SECOND)
    alice = Actor(ahead)
    post = publish(alice)
    chain = [commented(alice, post, "0")]
    for depth in range(1, 4):
        behind.clock.advance(1)
        body = {"content": str(depth), "parentId": chain[-1]["id"]}
        url = f"{behind.base_url}/api/posts/{post['id']}/comments"
        chain.append(body_of(alice.web.post(url, json=body), 201))

    comments = body_of(alice.web.get(f"/api/posts/{post['id']}/comments"))["comments"]

    alice.web.close()
    alice.api.close()
    assert [each["content"] for each in comments] == ["0", "1", "2", "3"]


def test_an_account_that_is_renamed_keeps_its_words(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post, renamed = publish(alice), f"{bob.account.username}_too"
    commented(bob, post, "Hm")
    body_of(bob.web.patch("/api/auth/me", json={"displayName": "Robert", "username": renamed}))

    page = visit(alice.server, permalink(post))

    assert page.line(".comment .who") == f"Robert @{renamed}"
    assert page.values(".comment .who a", "href") == [f"/@{renamed}"]


def test_omitted_rows_are_counted(actor: MakeActor) -> None:
    alice, bob, eve = actor(), actor(), actor()
    db, post = alice.server.runtime.db, publish(alice)
    kept = commented(bob, post, "from bob")
    commented(eve, post, "from eve", kept)

    alice.server.run(db.transact(moderation.suspend_account, eve.account.username))
    some = visit(alice.server, permalink(post))
    assert [each.words for each in said(some)] == ["from bob"]
    assert some.line("#comments-heading") == "2 comments"
    assert some.line("#comments .empty") == "One comment is not shown, because an account is suspended."

    alice.server.run(db.transact(moderation.suspend_account, bob.account.username))
    none = visit(alice.server, permalink(post))
    assert (said(none), none.line("#comments .empty")) == (
        [],
        "2 comments are not shown, because an account is suspended.",
    )

    for each in (bob, eve):
        alice.server.run(db.transact(moderation.restore_account, each.account.username))
    assert not visit(alice.server, permalink(post)).has("#comments .empty")
