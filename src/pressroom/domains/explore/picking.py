"""The job that makes the picks of explore, every five minutes (docs/decisions/0022-explore.md).

It reads recent rows in small pages with pauses between them, so that it holds neither the event loop nor SQLite's
writer for long, and replaces all picks in one transaction: a killed job leaves the picks before.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from heapq import nlargest
from itertools import islice
from typing import Concatenate, Final, ParamSpec, TypeVar

from pressroom.clock import DAY, Clock
from pressroom.db import Database, Tx, Value
from pressroom.db.params import batches
from pressroom.domains.explore import queries
from pressroom.domains.explore.models import HUBS, PEOPLE, POSTS, SPARE, TAGS, Pick, PickKind
from pressroom.domains.explore.scores import WEEK, Reactions, TagUses, daily_average, in_ranks, rise
from pressroom.ids import BEYOND, LATEST, first_id

PAGE: Final = 200
"""Rows that one statement reads."""

PAUSE: Final = 0.004
"""Seconds between two statements, in which requests are answered (docs/decisions/0004-retention-batches.md)."""

USES: Final = 50_000
"""Uses of hashtags in the last day that are looked at: the newest."""

LIKES: Final = 100_000
BOUNCES: Final = 20_000
"""Likes, and bounces, of the last day that are looked at: the newest."""

NEWEST: Final = 2_000
"""Posts among whose authors people are looked for."""

COMPARED: Final = 100
"""Hashtags, those of the most accounts, that are compared with the week before."""

USES_BEFORE: Final = 1_000
"""Uses of one hashtag in that week that are looked at: the newest."""

LOOKED_AT: Final = 500
"""Posts, those with the most reactions, among which the picks are looked for."""

CHUNK: Final = 2_000
"""Counts that are compared without a pause."""

Row = TypeVar("Row")
R = TypeVar("R")
P = ParamSpec("P")

Place = dict[str, Value]
"""The parameters of a statement that name the row behind which a page begins."""


class Picker:
    """Makes the picks.

    Args:
        db: The database.
        clock: The time of a run.
        page: Rows that one statement reads.
    """

    def __init__(self, db: Database, clock: Clock, page: int = PAGE) -> None:
        self._db = db
        self._clock = clock
        self._page = page

    async def run(self) -> None:
        """Replaces the picks."""
        now = self._clock.now()
        tags, posts = await self._pick_tags(now), await self._pick_posts(now)
        people = await self._pick_people([pick.account_id or "" for pick in posts])
        hubs = await self._read(queries.list_largest_hubs, limit=HUBS + SPARE)
        # In one transaction at the end: readers see the earlier picks until then, also when a run is killed.
        await self._db.transact(replace_picks, [*tags, *posts, *people, *(Pick(PickKind.HUB, hub) for hub in hubs)])

    async def _pick_tags(self, now: int) -> list[Pick]:
        """Returns the hashtags that rise most."""
        uses, since = TagUses(), first_id(now - DAY)
        async for page in self._walk(
            USES,
            queries.list_tag_uses,
            {"before": BEYOND, "tag": ""},
            lambda use: {"before": use.post_id, "tag": use.tag},
            since=since,
        ):
            uses.add(page)
        accounts = {tag: len(uses.accounts[tag]) for tag in uses.frequent}
        scores: list[tuple[float, str]] = []
        for batch in batches(await _most(accounts, COMPARED)):
            for tag in set(batch).difference(await self._read(queries.find_excluded_tags, batch)):
                average = await self._average_before(tag, now - DAY)
                scores.append((rise(accounts[tag], average), tag))
        return [
            Pick(PickKind.TAG, tag, posts=uses.posts[tag], accounts=accounts[tag])
            for tag in islice(in_ranks(scores), TAGS + SPARE)
        ]

    async def _average_before(self, tag: str, until: int) -> float:
        """Returns how many accounts used a hashtag on an average day of the week before `until`."""
        found: list[tuple[str, str]] = []
        async for page in self._walk(
            USES_BEFORE,
            queries.list_uses_of,
            {"before": first_id(until)},
            lambda use: {"before": use.post_id},
            tag=tag,
            since=first_id(until - WEEK * DAY),
        ):
            found += ((use.post_id, use.account_id) for use in page)
        return daily_average(found, until, is_cut=len(found) >= USES_BEFORE)

    async def _pick_posts(self, now: int) -> list[Pick]:
        """Returns the posts that the most accounts liked or bounced."""
        reactions = await self._gather_reactions(now - DAY)
        found: dict[str, tuple[int, str]] = {}
        for batch in batches(await _most(reactions.accounts, LOOKED_AT)):
            for post in await self._read(queries.find_liked, batch, since=now - DAY):
                # An author's own like or bounce is no reaction.
                is_own = post.is_own or reactions.has_bounced(post.account_id, post.id)
                found[post.id] = (reactions.accounts[post.id] - is_own, post.account_id)
            # In batches, the most liked first: most runs need only the first batch.
            if len(found) >= POSTS + SPARE:
                break
        ranks = in_ranks((accounts, post_id) for post_id, (accounts, _) in found.items())
        return [
            Pick(PickKind.POST, post_id, account_id=found[post_id][1], accounts=found[post_id][0])
            for post_id in islice(ranks, POSTS + SPARE)
        ]

    async def _gather_reactions(self, since: int) -> Reactions:
        """Returns the likes and bounces since `since` (milliseconds)."""
        reactions = Reactions()
        async for bounces in self._walk(
            BOUNCES,
            queries.list_bounces,
            {"before": BEYOND},
            lambda bounce: {"before": bounce.id},
            since=first_id(since),
        ):
            for bounce in bounces:
                if bounce.counts:
                    reactions.add_bounce(bounce.account_id, bounce.post_id)
        async for likes in self._walk(
            LIKES,
            queries.list_likes,
            {"created_at": LATEST, "post_id": "", "account_id": ""},
            lambda like: {"created_at": like.created_at, "post_id": like.post_id, "account_id": like.account_id},
            since=since,
        ):
            for like in likes:
                if like.counts:
                    reactions.add_like(like.account_id, like.post_id)
        return reactions

    async def _pick_people(self, also: Sequence[str]) -> list[Pick]:
        """Returns the most followed of the accounts that published lately, and of those in `also`."""
        authors = dict.fromkeys(also)
        async for page in self._walk(NEWEST, queries.list_newest, {"before": BEYOND}, lambda post: {"before": post.id}):
            authors |= dict.fromkeys(post.account_id for post in page if post.counts)
        found: list[tuple[float, str]] = []
        for batch in batches(list(authors)):
            listed = await self._read(queries.find_listed, batch)
            found += ((account.total_followers + 1, account.id) for account in listed)
        return [Pick(PickKind.ACCOUNT, account_id) for account_id in islice(in_ranks(found), PEOPLE + SPARE)]

    async def _walk(
        self,
        most: int,
        list_: Callable[..., Awaitable[list[Row]]],
        place: Place,
        place_of: Callable[[Row], Place],
        **values: Value,
    ) -> AsyncIterator[list[Row]]:
        """Yields pages of at most `most` rows: from `place`, each page behind the last row of the page before."""
        for _ in range(most // self._page):
            page = await self._read(list_, **place, **values, limit=self._page)
            yield page
            if len(page) < self._page:
                return
            # By the last row and not by an offset, which would read all earlier rows again.
            place = place_of(page[-1])

    async def _read(self, list_: Callable[Concatenate[Tx, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs one statement, and pauses."""
        found = await self._db.read(list_, *args, **kwargs)
        # Requests are answered between two statements: on SQLite each reads on the event loop's thread.
        await asyncio.sleep(PAUSE)
        return found


async def _most(counts: Mapping[str, int], number: int) -> list[str]:
    """Returns the `number` subjects with the highest counts, highest first, and pauses now and then."""
    best: list[tuple[int, str]] = []
    rest = iter(counts.items())
    while chunk := [(count, subject) for subject, count in islice(rest, CHUNK)]:
        # By chunks: to sort a hundred thousand at once would hold the event loop.
        best = nlargest(number, best + chunk)
        await asyncio.sleep(0)
    return [subject for _, subject in best]


async def replace_picks(tx: Tx, picks: Sequence[Pick]) -> None:
    """Replaces all picks."""
    await queries.delete_picks(tx)
    await queries.insert_picks(tx, picks)
