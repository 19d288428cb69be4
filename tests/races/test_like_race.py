"""Likes at the same moment: an account likes a post once, and the counter equals the rows."""

from collections.abc import Callable

from tests.harness.crowd import crowd, inconsistencies, published, stats, status_counts
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.wire import at_once

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 40
OTHERS = 20
ROUNDS = 5


def test_forty_accounts_like_a_post(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + AT_ONCE)
    post_id = published(author)

    answers = at_once([other.like(post_id) for other in others])

    assert status_counts(answers) == {200: AT_ONCE}
    assert stats(server, post_id)["likes"] == count(server, "likes") == AT_ONCE

    answers = at_once([other.unlike(post_id) for other in others])

    assert status_counts(answers) == {200: AT_ONCE}
    assert stats(server, post_id)["likes"] == count(server, "likes") == 0
    assert inconsistencies(server) == []


def test_forty_copies_of_a_like_are_one(race_server: MakeServer) -> None:
    server = race_server()
    author, other = crowd(server, 2)
    post_id = published(author)

    answers = at_once([other.like(post_id)] * AT_ONCE)

    assert status_counts(answers) == {200: AT_ONCE}
    assert {answer.body for answer in answers} == {b'{"liked":true}'}
    assert stats(server, post_id)["likes"] == count(server, "likes") == 1
    assert inconsistencies(server) == []


def test_a_like_given_and_taken_back_at_once_is_counted_as_it_stands(race_server: MakeServer) -> None:
    server = race_server()
    author, other = crowd(server, 2)
    post_id = published(author)

    for _ in range(ROUNDS):
        answers = at_once([other.like(post_id), other.unlike(post_id)] * (AT_ONCE // 2))

        assert status_counts(answers) == {200: AT_ONCE}
        assert stats(server, post_id)["likes"] == count(server, "likes")
        assert count(server, "likes") in (0, 1)
    assert inconsistencies(server) == []


def test_likes_while_the_post_becomes_private(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + OTHERS)

    for number in range(ROUNDS):
        post_id = published(author, f"post {number}")
        requests = [other.like(post_id) for other in others]
        place = OTHERS * number // ROUNDS
        answers = at_once([*requests[:place], author.edit(post_id, visibility="PRIVATE"), *requests[place:]])
        changed = answers.pop(place)

        assert changed.status == 200
        assert set(status_counts(answers)) <= {200, 404}
        assert dict(rows(server, "SELECT id, likes FROM posts"))[post_id] == status_counts(answers)[200]
        assert status_counts(at_once(requests)) == {404: OTHERS}
    assert inconsistencies(server) == []
