"""Scores of hashtags and posts: pure functions."""

import pytest

from pressroom.clock import DAY, HOUR
from pressroom.domains.explore.scores import Reactions, TagUse, TagUses, daily_average, in_ranks, rise
from pressroom.ids import new_id

NOW = 1_800_000_000_000


def use(tag: str, account_id: str, *, counts: bool = True) -> TagUse:
    return TagUse(new_id(NOW), tag, account_id, counts)


def test_hashtag_is_frequent_from_three_accounts_on() -> None:
    uses = TagUses()
    uses.add([use("ink", "a"), use("ink", "a"), use("ink", "b"), use("lead", "a")])
    assert uses.frequent == set()

    uses.add([use("ink", "c", counts=False)])
    assert uses.frequent == set()
    uses.add([use("ink", "d")])
    assert uses.frequent == {"ink"}
    assert (uses.posts["ink"], uses.accounts["ink"]) == (4, {"a", "b", "d"})


def test_account_counts_once_for_bounce_and_like() -> None:
    reactions = Reactions()
    for account_id in ("a", "a", "b"):
        reactions.add_bounce(account_id, "post")
    for account_id in ("a", "c"):
        reactions.add_like(account_id, "post")
    reactions.add_like("a", "other")

    assert reactions.accounts == {"post": 3, "other": 1}
    assert reactions.has_bounced("a", "post")
    assert not reactions.has_bounced("c", "post")


@pytest.mark.parametrize(
    ("accounts", "average", "score"),
    [(3, 0.0, 4.0), (3, 1.0, 4.0), (3, 3.0, 0.0), (2, 3.0, 0.0), (100, 50.0, 50.0), (30, 3.0, 243.0)],
)
def test_rise_grows_with_the_distance_from_an_average_day(accounts: int, average: float, score: float) -> None:
    assert rise(accounts, average) == score


def test_average_counts_an_account_once_a_day() -> None:
    uses = [(new_id(NOW - hours * HOUR), account) for hours, account in ((1, "a"), (2, "a"), (3, "b"), (25, "a"))]

    assert daily_average(uses, NOW, is_cut=False) == 3 / 7
    assert daily_average(uses, NOW, is_cut=True) == 3 / 2
    assert daily_average([], NOW, is_cut=False) == 0


def test_average_of_a_use_at_each_end_of_the_week() -> None:
    uses = [(new_id(NOW - 1), "a"), (new_id(NOW - 7 * DAY), "b")]
    assert daily_average(uses, NOW, is_cut=True) == 2 / 7


def test_ranks_begin_with_the_best_and_leave_zero_out() -> None:
    assert list(in_ranks([(1.0, "a"), (0.0, "b"), (2.0, "c"), (1.0, "d")])) == ["c", "d", "a"]
