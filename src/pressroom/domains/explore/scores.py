"""How picks are scored (docs/decisions/0022-explore.md). Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from pressroom.clock import DAY
from pressroom.ids import time_of

FEWEST: Final = 3
"""Accounts that must have used a hashtag within a day before it can rise."""

WEEK: Final = 7
"""Days before the last one that a hashtag is compared with."""


class TagUse(msgspec.Struct):
    """A hashtag in a post. `counts`: its account may be listed."""

    post_id: str
    tag: str
    account_id: str
    counts: bool


class TagUses:
    """The uses of hashtags within a day, gathered a page at a time. `frequent` are those of FEWEST accounts or more."""

    def __init__(self) -> None:
        self.accounts: dict[str, set[str]] = {}
        self.posts: Counter[str] = Counter()
        self.frequent: set[str] = set()

    def add(self, uses: Iterable[TagUse]) -> None:
        """Adds a page of uses."""
        for use in uses:
            if not use.counts:
                continue
            accounts = self.accounts.setdefault(use.tag, set())
            accounts.add(use.account_id)
            self.posts[use.tag] += 1
            if len(accounts) >= FEWEST:
                self.frequent.add(use.tag)


class Reactions:
    """Likes and bounces within a day, gathered a page at a time: how many accounts reacted to each post.

    Bounces come first: an account that bounced a post is not counted again for its like.
    """

    def __init__(self) -> None:
        self.accounts: Counter[str] = Counter()
        self._bounced: set[tuple[str, str]] = set()

    def add_bounce(self, account_id: str, post_id: str) -> None:
        """Counts an account that bounced or quoted a post."""
        if (account_id, post_id) not in self._bounced:
            self._bounced.add((account_id, post_id))
            self.accounts[post_id] += 1

    def add_like(self, account_id: str, post_id: str) -> None:
        """Counts an account that likes a post."""
        if (account_id, post_id) not in self._bounced:
            self.accounts[post_id] += 1

    def has_bounced(self, account_id: str, post_id: str) -> bool:
        """Returns whether an account bounced or quoted a post."""
        return (account_id, post_id) in self._bounced


def daily_average(uses: Iterable[tuple[str, str]], until: int, *, is_cut: bool) -> float:
    """Returns how many accounts used a hashtag on an average day of the week before `until` (milliseconds).

    Args:
        uses: Ids of posts and their accounts, newest first.
        until: The end of that week.
        is_cut: Older uses were left out: the average is that of the days which the uses cover.
    """
    accounts_of_days: set[tuple[int, str]] = set()
    days = 0
    for post_id, account_id in uses:
        day = max(0, until - 1 - time_of(post_id)) // DAY
        days = max(days, day + 1)
        accounts_of_days.add((day, account_id))
    return len(accounts_of_days) / (days if is_cut else WEEK)


def rise(accounts: int, average: float) -> float:
    """Returns how far a hashtag rises: (observed - expected)² / expected, as of a chi-squared test; 0 if it does not.

    Args:
        accounts: Accounts that used it in the last day.
        average: Those of an average day before. At least one account is expected, so that new hashtags have a score.
    """
    # Without a least value, a hashtag that nobody had used would rise without bound by its second use.
    expected = max(average, 1.0)
    return (accounts - expected) ** 2 / expected if accounts > expected else 0.0


def in_ranks(scores: Iterable[tuple[float, str]]) -> Iterator[str]:
    """Yields the subjects with a score above 0, the best first; of equal ones the newest id, or last name, first."""
    for score, subject in sorted(scores, reverse=True):
        if score > 0:
            yield subject
