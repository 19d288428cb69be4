"""More creates at the same time than the day's quota holds: the quota is met to the unit."""

import math
from collections import Counter
from collections.abc import Callable

from tests.harness.days import seconds_to_midnight, stay_within_a_day
from tests.harness.owners import Owner, publish, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.wire import ask, in_turn

CLIENTS = 50
EACH = 22


def test_1_100_creates_against_a_quota_of_1_000(race_server: Callable[..., ServerProcess]) -> None:
    stay_within_a_day()
    server = race_server(DAILY_CONTENT_QUOTA=1_000)
    owner = Owner(server)
    keys = [owner.key(f"key {n}") for n in range(5)]
    queues = [[publish(server, keys[n % 5], f"{n} {m}", f"{n}-{m}") for m in range(EACH)] for n in range(CLIENTS)]

    most_seconds = math.ceil(seconds_to_midnight())
    answers = in_turn(queues)
    least_seconds = math.ceil(seconds_to_midnight())

    assert Counter(answer.status for answer in answers) == {201: 1_000, 429: 100}
    for refusal in (answer for answer in answers if answer.status == 429):
        problem = refusal.json()
        assert problem["error"] == "Daily content quota exceeded"
        assert least_seconds <= problem["retryAfter"] <= most_seconds
        assert refusal.headers["retry-after"] == str(problem["retryAfter"])
    made = [answer.json()["id"] for answer in answers if answer.status == 201]
    assert {post_id for (post_id,) in rows(server, "SELECT id FROM posts")} == set(made)
    assert count(server, "posts") == count(server, "events") == count(server, "idempotent_answers") == 1_000
    assert rows(server, "SELECT used FROM content_quotas") == [(1_000,)]
    assert ask(who_am_i(server, keys[0])).json()["totalPosts"] == 1_000


def test_the_quota_of_one_account_is_not_that_of_another(race_server: Callable[..., ServerProcess]) -> None:
    stay_within_a_day()
    server = race_server(DAILY_CONTENT_QUOTA=20)
    owners = [Owner(server, name) for name in ("alice", "bob")]
    keys = [owner.key() for owner in owners]

    answers = in_turn([[publish(server, keys[n % 2], f"{n} {m}") for m in range(5)] for n in range(10)])

    assert Counter(answer.status for answer in answers) == {201: 40, 429: 10}
    assert rows(server, "SELECT account_id, used FROM content_quotas ORDER BY 1") == [(it.id, 20) for it in owners]
