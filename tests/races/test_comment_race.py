"""Comments at the same moment: none is lost, none is there twice, and each is counted."""

from collections.abc import Callable

from tests.harness.crowd import crowd, inconsistencies, made, published, stats, status_counts
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.wire import ask, at_once

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 40


def test_forty_accounts_comment_on_a_post(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + AT_ONCE)
    post_id = published(author)
    first = made(ask(author.comment(post_id, "first")))
    replies = {"parentId": first}

    answers = at_once([it.comment(post_id, f"said {n}", **(replies if n % 2 else {})) for n, it in enumerate(others)])

    assert status_counts(answers) == {201: AT_ONCE}
    assert stats(server, post_id)["comments"] == count(server, "comments") == AT_ONCE + 1
    told_to_whom = "SELECT account_id, content, parent_id, thread_id = id FROM comments WHERE content <> 'first'"
    assert {(*row[:3], bool(row[3])) for row in rows(server, told_to_whom)} == {
        (it.id, f"said {n}", first if n % 2 else None, n % 2 == 0) for n, it in enumerate(others)
    }
    assert inconsistencies(server) == []


def test_forty_copies_of_a_comment_are_one_under_a_key_and_forty_without(race_server: MakeServer) -> None:
    server = race_server()
    author, other = crowd(server, 2)
    post_id = published(author)

    answers = at_once([other.comment(post_id, "said once", "key")] * AT_ONCE)

    assert status_counts(answers) == {201: 1, 200: AT_ONCE - 1}
    assert {answer.headers.get("idempotent-replayed") for answer in answers if answer.status == 200} == {"true"}
    assert len({answer.body for answer in answers}) == 1
    assert stats(server, post_id)["comments"] == count(server, "comments") == 1

    answers = at_once([other.comment(post_id, "said often")] * AT_ONCE)

    assert status_counts(answers) == {201: AT_ONCE}
    assert len({answer.json()["id"] for answer in answers}) == count(server, "comments") - 1 == AT_ONCE
    assert inconsistencies(server) == []
