"""Votes at the same moment: an account votes once, and each vote is counted where it was given."""

from collections.abc import Callable

from tests.harness.crowd import crowd, inconsistencies, published, status_counts
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.wire import at_once

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 40
OPTIONS = ["Lead", "Ink", "Patience", "Paper"]


def test_forty_accounts_vote_in_a_poll(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + AT_ONCE)
    post_id = published(author, poll={"options": OPTIONS, "multiple": True})
    choices = [(0, 3), (3, 0), (1, 2, 3), (2,)]

    answers = at_once([other.vote(post_id, *choices[n % 4]) for n, other in enumerate(others)])

    assert status_counts(answers) == {200: AT_ONCE}
    assert sorted(answer.json()["totalVotes"] for answer in answers) == list(range(1, AT_ONCE + 1))
    assert rows(server, "SELECT total_votes FROM polls") == [(AT_ONCE,)]
    assert rows(server, "SELECT votes FROM poll_options ORDER BY position") == [(20,), (10,), (20,), (30,)]
    assert inconsistencies(server) == []


def test_forty_votes_of_an_account_are_one(race_server: MakeServer) -> None:
    server = race_server()
    author, other = crowd(server, 2)
    post_id = published(author, poll={"options": OPTIONS})

    answers = at_once([other.vote(post_id, n % 4) for n in range(AT_ONCE)])

    assert status_counts(answers) == {200: 1, 409: AT_ONCE - 1}
    assert {answer.json()["error"] for answer in answers if answer.status == 409} == {"Conflict"}
    counted = next(answer.json() for answer in answers if answer.status == 200)
    assert rows(server, "SELECT position FROM poll_options WHERE votes = 1") == [(counted["ownVotes"][0],)]
    assert rows(server, "SELECT total_votes FROM polls") == [(1,)]
    assert count(server, "poll_votes") == 1
    assert inconsistencies(server) == []
