"""Who may see a post, and who may do something with it; and the allowlist of CUSTOM posts."""

import httpx
import pytest

from pressroom.domains.accounts.queries import free_username
from tests.api.actors import NOTHING, Actor, Json, body_of, field_errors, nobody, objections, publish, read, refusal
from tests.api.audiences import READERS, SEEN_BY, SIGNED_OUT, crowd, set_audience
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY

VERBS: dict[str, tuple[str, str, Json | None, int]] = {
    "read": ("GET", "", None, 200),
    "read the comments": ("GET", "/comments", None, 200),
    "comment": ("POST", "/comments", {"content": "Hm"}, 201),
    "like": ("POST", "/like", None, 200),
    "save": ("POST", "/save", None, 200),
    "vote": ("POST", "/poll/votes", {"choices": [0]}, 200),
    "bounce": ("POST", "/bounce", None, 201),
    "quote": ("POST", "/bounce", {"content": "Look"}, 201),
}

every_visibility = pytest.mark.parametrize("visibility", SEEN_BY)


def carry_out(verb: str, post_id: str, author: Actor, who: Actor | None) -> httpx.Response:
    method, path, body, _ = VERBS[verb]
    client = who.web if who else nobody
    return client.request(method, f"{author.server.base_url}/api/posts/{post_id}{path}", json=body)


def expected(verb: str, visibility: str, kind: str) -> int:
    """The status that a reader of this kind has to see."""
    method, _, _, success = VERBS[verb]
    if kind == SIGNED_OUT and method != "GET":
        return 401
    if kind not in SEEN_BY[visibility]:
        return 404
    return 422 if verb in ("bounce", "quote") and visibility != "PUBLIC" else success


@every_visibility
def test_everything_is_for_those_who_may_see_the_post(actor: MakeActor, visibility: str) -> None:
    people = crowd(actor)
    author = people["author"]
    post = publish(author, visibility=visibility, poll={"options": ["x", "y"]})
    set_audience(author, post, people["listed"])

    answers = {
        (verb, kind): carry_out(verb, post["id"], author, people.get(kind)) for verb in VERBS for kind in READERS
    }

    assert {case: answer.status_code for case, answer in answers.items()} == {
        (verb, kind): expected(verb, visibility, kind) for verb, kind in answers
    }
    acting = len(SEEN_BY[visibility] - {SIGNED_OUT})
    bounces = acting if visibility == "PUBLIC" else 0
    stats = {"likes": acting, "comments": acting, "shares": bounces, "shareCount": 2 * bounces, "views": 0}
    assert read(author, post["id"])["stats"] == stats
    assert read(author, post["id"])["poll"]["totalVotes"] == acting


@every_visibility
def test_hidden_is_answered_like_unknown(actor: MakeActor, visibility: str) -> None:
    people = crowd(actor)
    author = people["author"]
    post = publish(author, visibility=visibility, poll={"options": ["x", "y"]})
    set_audience(author, post, people["listed"])

    for kind in set(READERS) - SEEN_BY[visibility]:
        for verb in VERBS:
            hidden, unknown = (
                carry_out(verb, post_id, author, people.get(kind)) for post_id in (post["id"], "no-such-post")
            )
            assert (hidden.status_code, hidden.content) == (unknown.status_code, unknown.content)


@every_visibility
def test_permitted_readers_get_the_whole_post(actor: MakeActor, visibility: str) -> None:
    people = crowd(actor)
    author = people["author"]
    post = publish(author, visibility=visibility, location={"name": "Köln"}, poll={"options": ["x", "y"]})
    set_audience(author, post, people["listed"])

    for kind in SEEN_BY[visibility]:
        assert body_of(carry_out("read", post["id"], author, people.get(kind))) == post


@every_visibility
def test_the_audience_counts_for_custom_posts_alone(actor: MakeActor, visibility: str) -> None:
    people = crowd(actor)
    author = people["author"]
    post = publish(author, visibility="PRIVATE")
    set_audience(author, post, people["listed"])

    body_of(author.api.patch(f"/api/posts/{post['id']}", json={"visibility": visibility}))

    seeing = {kind for kind in READERS if carry_out("read", post["id"], author, people.get(kind)).is_success}
    assert seeing == SEEN_BY[visibility]


def test_a_custom_post_without_a_list_is_private(actor: MakeActor) -> None:
    people = crowd(actor)
    author = people["author"]
    bare, emptied = publish(author, visibility="CUSTOM"), publish(author, visibility="CUSTOM")
    other = publish(author, visibility="CUSTOM")
    set_audience(author, other, *(who for kind, who in people.items() if kind != "author"))
    set_audience(author, emptied, people["mutual"])
    set_audience(author, emptied)

    for post in (bare, emptied):
        seeing = {kind for kind in READERS if carry_out("read", post["id"], author, people.get(kind)).is_success}
        assert seeing == SEEN_BY["PRIVATE"]


def test_a_list_replaces_the_list_before(actor: MakeActor) -> None:
    alice, bob, carol, dave = (actor() for _ in range(4))
    post, other = publish(alice, visibility="CUSTOM"), publish(alice, visibility="CUSTOM")
    set_audience(alice, other, bob)

    def seeing() -> list[bool]:
        return [who.web.get(f"/api/posts/{post['id']}").is_success for who in (alice, bob, carol, dave)]

    assert set_audience(alice, post, bob, carol) == {"count": 2}
    assert seeing() == [True, True, True, False]
    assert set_audience(alice, post, carol, dave) == {"count": 2}
    assert seeing() == [True, False, True, True]
    assert set_audience(alice, post) == {"count": 0}
    assert seeing() == [True, False, False, False]
    assert read(alice, post["id"]) == post, "a list is no edit"
    assert read(bob, other["id"]) == other, "another post has a list of its own"


def test_unknown_names_are_all_listed_and_nothing_changes(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = publish(alice, visibility="CUSTOM")
    set_audience(alice, post, bob)

    names = ["no_such_account", carol.account.username, "", "x y", carol.account.email]
    answer = alice.web.put(f"/api/posts/{post['id']}/audience", json={"usernames": names})

    assert objections(answer) == [(f"usernames[{place}]", "invalid_choice") for place in (0, 2, 3, 4)]
    assert "no_such_account" in answer.json()["details"][0]["message"]
    assert read(bob, post["id"]) == post
    assert refusal(carol.web.get(f"/api/posts/{post['id']}")) == (404, "Not found")


def test_a_list_names_accounts_in_any_case(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, visibility="CUSTOM")
    path, name = f"/api/posts/{post['id']}/audience", bob.account.username

    assert body_of(alice.web.put(path, json={"usernames": [name.upper()]})) == {"count": 1}
    assert read(bob, post["id"]) == post
    twice = alice.web.put(path, json={"usernames": [name, name.upper()]})
    assert field_errors(twice) == [("usernames[1]", "duplicate")]


def test_a_long_list_is_kept_whole(actor: MakeActor) -> None:
    alice, last = actor(), actor()
    server, post = alice.server, publish(alice, visibility="CUSTOM")
    names = [server.account().username for _ in range(120)]

    answer = alice.web.put(f"/api/posts/{post['id']}/audience", json={"usernames": [*names, last.account.username]})

    assert body_of(answer) == {"count": 121}
    assert read(last, post["id"]) == post
    unknown = alice.web.put(f"/api/posts/{post['id']}/audience", json={"usernames": [*names, "nobody"]})
    assert objections(unknown) == [("usernames[120]", "invalid_choice")]


def test_the_list_follows_the_account_and_not_its_name(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    old, post = bob.account.username, publish(alice, visibility="CUSTOM")
    set_audience(alice, post, bob)

    body_of(bob.web.patch("/api/auth/me", json={"username": f"{old}_new"}))
    carol = actor()
    alice.server.run(alice.server.runtime.db.transact(free_username, old))
    body_of(carol.web.patch("/api/auth/me", json={"username": old}))

    assert read(bob, post["id"]) == post
    assert refusal(carol.web.get(f"/api/posts/{post['id']}")) == (404, "Not found")


def test_only_the_author_sets_the_list_of_a_post_of_their_own(actor: MakeActor) -> None:
    alice, mallory = actor(), actor()
    public, custom = publish(alice), publish(alice, visibility="CUSTOM")
    usernames = {"usernames": [mallory.account.username]}

    answers = [
        mallory.web.put(f"/api/posts/{post_id}/audience", json=usernames)
        for post_id in (public["id"], custom["id"], "no-such-post")
    ]

    assert [refusal(answer) for answer in answers] == [(404, "Not found")] * 3
    assert refusal(mallory.web.get(f"/api/posts/{custom['id']}")) == (404, "Not found")
    path = f"/api/posts/{custom['id']}/audience"
    assert refusal(alice.api.put(path, json=usernames)) == (403, "Session required")
    assert refusal(nobody.put(f"{alice.server.base_url}{path}", json=usernames)) == (401, "Not signed in")


def test_a_bounce_has_no_list(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    original = publish(alice)

    for content in (None, "Look"):
        bounce = body_of(bob.web.post(f"/api/posts/{original['id']}/bounce", json={"content": content}), 201)
        answer = bob.web.put(f"/api/posts/{bounce['id']}/audience", json={"usernames": [alice.account.username]})
        assert objections(answer) == [("body", "not_allowed")]


BAD: dict[str, tuple[Json, list[tuple[str, str]]]] = {
    "nothing": ({}, [("usernames", "required")]),
    "one name": ({"usernames": "alice"}, [("usernames", "type")]),
    "a long name": ({"usernames": ["x" * 31]}, [("usernames[0]", "too_long")]),
    "too many": ({"usernames": [f"name{number}" for number in range(1001)]}, [("usernames", "too_many")]),
    "the same twice": ({"usernames": ["abc", "def", "ABC"]}, [("usernames[2]", "duplicate")]),
}


@one_engine
@pytest.mark.parametrize(("body", "wrong"), BAD.values(), ids=BAD)
def test_a_list_that_makes_no_sense(alice: Actor, body: Json, wrong: list[tuple[str, str]]) -> None:
    post = publish(alice, visibility="CUSTOM")

    assert field_errors(alice.web.put(f"/api/posts/{post['id']}/audience", json=body)) == wrong


def test_a_private_account_s_posts_go_by_their_own_visibility(actor: MakeActor) -> None:
    alice, stranger = actor(), actor()
    body_of(alice.web.patch("/api/auth/me", json={"isPrivate": True}))
    public, hidden = publish(alice), publish(alice, visibility="FOLLOWERS")

    assert read(stranger, public["id"]) == public
    assert refusal(stranger.web.get(f"/api/posts/{hidden['id']}")) == (404, "Not found")


def test_unknown_visibility_is_400(alice: Actor) -> None:
    for unknown in ("public", "FRIENDS", "", "PUBLIC "):
        answer = alice.api.post("/api/posts", json={"content": "x", "visibility": unknown})
        assert field_errors(answer) == [("visibility", "invalid_choice")]
    assert alice.written() == NOTHING
    assert publish(alice, visibility=None)["visibility"] == "PUBLIC"
