"""Bounces at the same moment: one plain bounce of a post for each account, counters exact, the quota to the unit."""

from collections.abc import Callable

from tests.harness.crowd import Member, crowd, inconsistencies, made, published, stats, status_counts
from tests.harness.days import stay_within_a_day
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.wire import Request, ask, at_once

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 40
QUOTA = 100
TRIED = 150


def test_forty_accounts_bounce_a_post(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + AT_ONCE)
    post_id = published(author)

    answers = at_once([other.bounce(post_id) for other in others])

    assert status_counts(answers) == {201: AT_ONCE}
    assert {answer.json()["originalPost"]["id"] for answer in answers} == {post_id}
    assert (stats(server, post_id)["shares"], stats(server, post_id)["shareCount"]) == (AT_ONCE, AT_ONCE)
    assert [other.account()["totalPosts"] for other in others[:3]] == [1, 1, 1]
    assert inconsistencies(server) == []


def test_forty_copies_of_a_plain_bounce_make_one(race_server: MakeServer) -> None:
    server = race_server()
    author, other = crowd(server, 2)
    post_id = published(author)

    answers = at_once([other.bounce(post_id)] * AT_ONCE)

    assert status_counts(answers) == {201: 1, 409: AT_ONCE - 1}
    assert {answer.json()["error"] for answer in answers if answer.status == 409} == {"Conflict"}
    assert (stats(server, post_id)["shares"], stats(server, post_id)["shareCount"]) == (1, 1)
    assert other.account()["totalPosts"] == 1
    assert inconsistencies(server) == []


def test_a_bounce_and_bounces_of_it_are_one_plain_bounce_of_the_original(race_server: MakeServer) -> None:
    server = race_server()
    author, first, other = crowd(server, 3)
    post_id = published(author)
    bounce_id = made(ask(first.bounce(post_id)))

    answers = at_once([other.bounce((post_id, bounce_id)[n % 2]) for n in range(AT_ONCE)])

    assert status_counts(answers) == {201: 1, 409: AT_ONCE - 1}
    assert stats(server, post_id)["shares"] == 2
    assert stats(server, bounce_id)["shares"] == 0
    assert inconsistencies(server) == []


def test_everything_at_once_is_done_to_one_post(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + AT_ONCE)
    post_id = published(author, poll={"options": ["Lead", "Ink"]})
    kinds: list[Callable[[Member], Request]] = [
        lambda member: member.bounce(post_id),
        lambda member: member.comment(post_id, "Is it finished?"),
        lambda member: member.like(post_id),
        lambda member: member.vote(post_id, 1),
    ]

    answers = at_once([kinds[n % 4](other) for n, other in enumerate(others)])

    assert [answer.status for answer in answers] == [201, 201, 200, 200] * 10
    assert stats(server, post_id) == {"likes": 10, "comments": 10, "shares": 10, "shareCount": 10, "views": 0}
    assert rows(server, "SELECT total_votes FROM polls") == [(10,)]
    assert rows(server, "SELECT votes FROM poll_options ORDER BY position") == [(0,), (10,)]
    assert inconsistencies(server) == []


def test_creates_and_bounces_share_a_quota_to_the_unit(race_server: MakeServer) -> None:
    stay_within_a_day()
    server = race_server(DAILY_CONTENT_QUOTA=QUOTA)
    author, other = crowd(server, 2)
    posts = [published(author, f"post {n}") for n in range(50)]
    bounces = [other.bounce(post_id) for post_id in posts]
    quotes = [other.bounce(posts[0], f"quote {n}") for n in range(50)]
    creates = [other.publish(f"create {n}") for n in range(50)]

    answers = at_once([request for three in zip(bounces, quotes, creates, strict=True) for request in three])

    assert status_counts(answers) == {201: QUOTA, 429: TRIED - QUOTA}
    assert {answer.json()["error"] for answer in answers if answer.status == 429} == {"Daily content quota exceeded"}
    assert other.account()["totalPosts"] == QUOTA
    assert dict(rows(server, "SELECT account_id, used FROM content_quotas"))[other.id] == QUOTA
    assert inconsistencies(server) == []


def test_an_account_is_renamed_while_it_publishes_and_bounces(race_server: MakeServer) -> None:
    server = race_server()
    author, other = crowd(server, 2)
    post_id = published(author)

    for number in range(3):
        rename = other.signed_in("PATCH", "/api/auth/me", {"username": f"renamed{number}"})
        writes = [other.publish("mine"), other.bounce(post_id, "quoted")] * 10
        answers = at_once([*writes[:10], rename, *writes[10:]])

        assert status_counts(answers) == {201: 20, 200: 1}
    assert rows(server, "SELECT username, total_posts FROM accounts ORDER BY 1") == [("member0", 1), ("renamed2", 60)]
    assert inconsistencies(server) == []


def test_profile_edits_at_once_do_not_wait_in_a_circle(race_server: MakeServer) -> None:
    server = race_server()
    (owner,) = crowd(server, 1)
    edits = [
        Request(
            owner.port,
            "PATCH",
            "/api/auth/me",
            {"Cookie": owner.cookie, "Idempotency-Key": f"edit-{number}"},
            {"bio": f"bio {number}"},
        )
        for number in range(16)
    ]

    assert status_counts(at_once(edits)) == {200: 16}
    if "DATABASE_URL" in server.settings:
        server.stop()  # a connection that ends reports its statistics
        assert rows(server, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == [(0,)]
