"""Polls: their shape, votes and voters, their end, and the counts."""

import httpx
import pytest

from pressroom.clock import DAY, MINUTE, iso
from pressroom.db import Query
from tests.api.actors import (
    Actor,
    Json,
    body_of,
    field_errors,
    follow,
    nobody,
    objections,
    publish,
    read,
    refusal,
    rows,
)
from tests.api.conftest import MakeActor, one_engine
from tests.harness.roomy import ROOMY

SETTINGS = ROOMY

VOTES = Query(str, "SELECT choices FROM poll_votes WHERE post_id = :post_id")
POSTS = Query(int, "SELECT count(*) FROM posts WHERE account_id = :account_id")


def ask(author: Actor, *options: str, **poll: object) -> Json:
    """A post with a poll."""
    return publish(author, "Which one?", poll={"options": options or ("the fox", "the heron", "the owl"), **poll})


def vote(who: Actor, post: Json, *choices: object) -> httpx.Response:
    return who.web.post(f"/api/posts/{post['id']}/poll/votes", json={"choices": choices})


def counts(poll: Json) -> list[int]:
    """Accounts that voted, then the votes of each option."""
    return [poll["totalVotes"], *(option["votes"] for option in poll["options"])]


def test_poll_without_duration_is_open_for_a_day(alice: Actor) -> None:
    now = alice.server.clock.now()

    post = ask(alice, "the fox", "the heron")

    assert post["poll"] == {
        "question": None,
        "multiple": False,
        "closesAt": iso(now + DAY),
        "closed": False,
        "totalVotes": 0,
        "options": [{"index": 0, "text": "the fox", "votes": 0}, {"index": 1, "text": "the heron", "votes": 0}],
        "ownVotes": [],
    }
    assert read(alice, post["id"])["poll"] == post["poll"]


def test_poll_needs_options_and_a_valid_duration(alice: Actor) -> None:
    now = alice.server.clock.now()
    options = [f"number {number}" for number in range(10)]

    for minutes in (5, 43_200):
        post = ask(alice, *options, question="How many?", multiple=True, durationMinutes=minutes)
        assert (post["poll"]["question"], post["poll"]["multiple"]) == ("How many?", True)
        assert post["poll"]["closesAt"] == iso(now + minutes * MINUTE)
        shown = [(option["index"], option["text"]) for option in read(alice, post["id"])["poll"]["options"]]
        assert shown == list(enumerate(options))


def test_a_post_without_a_poll_has_none(alice: Actor) -> None:
    post = publish(alice, poll=None)

    assert post["poll"] is None
    assert read(alice, post["id"])["poll"] is None
    assert refusal(vote(alice, post, 0)) == (404, "Not found")


def test_a_vote_counts_and_shows_to_the_voter_alone(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = ask(alice)

    answer = vote(bob, post, 1)

    assert body_of(answer) == {
        **post["poll"],
        "totalVotes": 1,
        "options": [
            {"index": 0, "text": "the fox", "votes": 0},
            {"index": 1, "text": "the heron", "votes": 1},
            {"index": 2, "text": "the owl", "votes": 0},
        ],
        "ownVotes": [1],
    }
    assert read(bob, post["id"])["poll"] == answer.json()
    assert body_of(vote(carol, post, 2))["ownVotes"] == [2]
    signed_out = body_of(nobody.get(f"{alice.server.base_url}/api/posts/{post['id']}"))
    for poll in (read(alice, post["id"])["poll"], signed_out["poll"]):
        assert (poll["ownVotes"], counts(poll)) == ([], [2, 0, 1, 1])


def test_the_author_votes_like_anybody_else(alice: Actor) -> None:
    post = ask(alice)

    assert counts(body_of(vote(alice, post, 0))) == [1, 1, 0, 0]


def test_a_vote_is_final(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    for multiple in (False, True):
        post = ask(alice, multiple=multiple)
        body_of(vote(bob, post, 1))

        assert [refusal(vote(bob, post, choice)) for choice in (1, 2)] == [(409, "Conflict")] * 2
        assert counts(read(bob, post["id"])["poll"]) == [1, 0, 1, 0]
        assert rows(alice.server, VOTES, post_id=post["id"]) == ["1"]


def test_a_single_choice_is_one(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = ask(alice)

    assert field_errors(vote(bob, post, 0, 1)) == [("choices", "too_many")]
    assert counts(read(bob, post["id"])["poll"]) == [0, 0, 0, 0]
    assert vote(bob, post, 0).status_code == 200, "a refused vote is none"


def test_multiple_choice_counts_accounts_and_choices(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = ask(alice, multiple=True)

    first = body_of(vote(bob, post, 2, 0))
    second = body_of(vote(carol, post, 2))
    last = body_of(vote(alice, post, 0, 1, 2))

    assert [poll["ownVotes"] for poll in (first, second, last)] == [[0, 2], [2], [0, 1, 2]]
    assert [counts(poll) for poll in (first, second, last)] == [[1, 1, 0, 1], [2, 1, 0, 2], [3, 2, 1, 3]]


def test_vote_for_an_unknown_option_is_refused(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    single, multiple = ask(alice, "x", "y"), ask(alice, multiple=True)

    assert field_errors(vote(bob, single, 2)) == [("choices[0]", "out_of_range")]
    assert field_errors(vote(bob, single, 0, 9)) == [("choices[1]", "out_of_range"), ("choices", "too_many")]
    assert field_errors(vote(bob, multiple, 3, 1, 9)) == [
        ("choices[0]", "out_of_range"),
        ("choices[2]", "out_of_range"),
    ]
    for post in (single, multiple):
        assert rows(alice.server, VOTES, post_id=post["id"]) == []


BAD: dict[str, tuple[list[object], list[tuple[str, str]]]] = {
    "nothing": ([], [("choices", "too_few")]),
    "the same twice": ([1, 0, 1], [("choices[2]", "duplicate")]),
    "below zero": ([-1], [("choices[0]", "out_of_range")]),
    "far too high": ([10], [("choices[0]", "out_of_range")]),
    "a text": (["0"], [("choices[0]", "type")]),
    "too many": ([0] * 11, [("choices", "too_many")]),
}


@one_engine
@pytest.mark.parametrize(("choices", "expected"), BAD.values(), ids=BAD)
def test_a_vote_that_makes_no_sense(alice: Actor, choices: list[object], expected: list[tuple[str, str]]) -> None:
    post = ask(alice, multiple=True)

    assert field_errors(vote(alice, post, *choices)) == expected
    assert rows(alice.server, VOTES, post_id=post["id"]) == []


def test_a_poll_closes_to_the_millisecond(actor: MakeActor) -> None:
    alice, bob, carol = actor(), actor(), actor()
    post = ask(alice, durationMinutes=5)

    alice.server.clock.advance(5 * MINUTE - 1)
    last = body_of(vote(bob, post, 0))
    alice.server.clock.advance(1)
    late = vote(carol, post, 0)

    assert last["closed"] is False
    assert post["poll"]["closesAt"] == iso(alice.server.clock.now())
    assert objections(late) == [("body", "not_allowed")]
    assert read(carol, post["id"])["poll"] == {**last, "closed": True, "ownVotes": []}
    assert rows(alice.server, VOTES, post_id=post["id"]) == ["0"]


def test_votes_survive_an_edit(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = ask(alice)
    voted = body_of(vote(bob, post, 1))

    edited = body_of(alice.api.patch(f"/api/posts/{post['id']}", json={"content": "Which one, I ask?"}))

    assert edited["poll"] == {**voted, "ownVotes": []}
    assert read(bob, post["id"])["poll"] == voted
    assert refusal(vote(bob, post, 0)) == (409, "Conflict")


def test_votes_require_that_the_post_is_visible(actor: MakeActor) -> None:
    alice, fan, stranger = actor(), actor(), actor()
    follow(fan, alice)
    post = publish(alice, "Which one?", visibility="FOLLOWERS", poll={"options": ["x", "y"]})
    plain = publish(alice, visibility="FOLLOWERS")

    assert counts(body_of(vote(fan, post, 0))) == [1, 1, 0]
    unseen = [vote(stranger, each, 0) for each in (post, plain, {"id": "no-such-post"})]
    assert [refusal(answer) for answer in unseen] == [(404, "Not found")] * 3
    assert len({answer.content for answer in unseen}) == 1, "not even whether there is a poll"


def test_a_bounce_has_no_poll_of_its_own(actor: MakeActor) -> None:
    alice, bob = actor(), actor()
    post = ask(alice)
    bounce = body_of(bob.web.post(f"/api/posts/{post['id']}/bounce"), 201)
    body_of(vote(bob, post, 1))

    assert refusal(vote(bob, bounce, 1)) == (404, "Not found")
    assert read(bob, bounce["id"])["originalPost"]["poll"]["ownVotes"] == [1]


def test_voting_is_for_people(alice: Actor) -> None:
    post = ask(alice)
    path = f"/api/posts/{post['id']}/poll/votes"

    assert refusal(alice.api.post(path, json={"choices": [0]})) == (403, "Session required")
    answer = nobody.post(f"{alice.server.base_url}{path}", json={"choices": [0]})
    assert refusal(answer) == (401, "Not signed in")
    assert rows(alice.server, VOTES, post_id=post["id"]) == []


UNFIT: dict[str, tuple[Json, list[tuple[str, str]]]] = {
    "one option": ({"options": ["x"]}, [("poll.options", "too_few")]),
    "eleven options": ({"options": list("abcdefghijk")}, [("poll.options", "too_many")]),
    "the same twice": ({"options": ["x", "y", "x"]}, [("poll.options[2]", "duplicate")]),
    "the same, written otherwise": ({"options": ["é", "e\u0301"]}, [("poll.options[1]", "duplicate")]),
    "a blank option": ({"options": ["x", " "]}, [("poll.options[1]", "too_short")]),
    "a long option": ({"options": ["x", "y" * 101]}, [("poll.options[1]", "too_long")]),
    "a blank question": ({"options": ["x", "y"], "question": "\n"}, [("poll.question", "too_short")]),
    "too short": ({"options": ["x", "y"], "durationMinutes": 4}, [("poll.durationMinutes", "out_of_range")]),
    "too long": ({"options": ["x", "y"], "durationMinutes": 43_201}, [("poll.durationMinutes", "out_of_range")]),
    "no options": ({"question": "What?"}, [("poll.options", "required")]),
}


@one_engine
@pytest.mark.parametrize(("poll", "expected"), UNFIT.values(), ids=UNFIT)
def test_a_poll_that_makes_no_sense(alice: Actor, poll: Json, expected: list[tuple[str, str]]) -> None:
    assert field_errors(alice.api.post("/api/posts", json={"content": "Which one?", "poll": poll})) == expected
    assert rows(alice.server, POSTS, account_id=alice.account.id) == [0]


def test_a_poll_does_not_stand_for_text(alice: Actor) -> None:
    for content in ({}, {"content": None}, {"content": " "}):
        answer = alice.api.post("/api/posts", json={**content, "poll": {"options": ["x", "y"], "question": "What?"}})
        assert field_errors(answer) == [("content", "required")]
    assert rows(alice.server, POSTS, account_id=alice.account.id) == [0]
