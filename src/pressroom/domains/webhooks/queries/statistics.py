"""The hourly counts of attempts at endpoints."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from pressroom.clock import HOUR
from pressroom.db import Command, Tx, Value, sql
from pressroom.domains.webhooks.models import CodeClass
from pressroom.domains.webhooks.statistics import BOUNDS, OUTCOMES, Attempts, bucket

_TOOK: Final = tuple(f"took_{bound}" for bound in BOUNDS)
COUNTS: Final = (*OUTCOMES.values(), *_TOOK)
"""The columns of counts."""

# Only under the endpoint's lease, like the outcomes themselves: an attempt whose result is void does not count.
ADD_ATTEMPTS: Final = Command(
    f"INSERT INTO webhook_hours (account_id, webhook_id, hour, {', '.join(COUNTS)})"
    f" SELECT w.account_id, w.id, CAST(:hour AS BIGINT), {', '.join(f'CAST(:{name} AS BIGINT)' for name in COUNTS)}"
    " FROM webhooks w WHERE w.account_id = :account_id AND w.id = :webhook_id AND w.lease_token = :token"
    " ON CONFLICT (account_id, webhook_id, hour) DO UPDATE SET "
    + ", ".join(f"{name} = webhook_hours.{name} + excluded.{name}" for name in COUNTS)
)


class EndedAttempt(msgspec.Struct, frozen=True):
    """An attempt at an endpoint: the class of its answer, and the milliseconds that it took."""

    account_id: str
    webhook_id: str
    code: CodeClass
    took: int


class _Row(msgspec.Struct):
    """The counts of an hour, a day or an endpoint: a number for each of `COUNTS`. None: there were no attempts."""

    of: str
    counts: str | None


# One text holds all sums of a row, so that an endpoint's are one subquery.
_SUMS: Final = " || ' ' || ".join(f"CAST(sum({name}) AS TEXT)" for name in COUNTS)
_OF_ENDPOINT: Final = (
    f"{_SUMS} AS counts FROM webhook_hours WHERE account_id = :account_id AND webhook_id = :webhook_id"
    " AND hour >= :since"
)


async def add_attempts(tx: Tx, ended: Sequence[EndedAttempt], *, token: str) -> None:
    """Adds attempts at endpoints that are still leased to the counts of this hour."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for each in ended:
        counter = counts.setdefault((each.account_id, each.webhook_id), Counter())
        counter[OUTCOMES[each.code]] += 1
        if each.code is not CodeClass.NONE:
            counter[_TOOK[bucket(each.took)]] += 1
    rows: list[Mapping[str, Value]] = [
        {
            "account_id": account_id,
            "webhook_id": webhook_id,
            "hour": tx.now // HOUR,
            "token": token,
            **{name: counter[name] for name in COUNTS},
        }
        for (account_id, webhook_id), counter in sorted(counts.items())
    ]
    await tx.run_each(ADD_ATTEMPTS, rows)


async def read_hours(tx: Tx, account_id: str, webhook_id: str, *, since: int) -> dict[int, Attempts]:
    """Returns the endpoint's attempts by hour, from the hour `since` (since 1970) on."""
    return {int(each.of): _attempts(each) for each in await _list_hours(tx, account_id, webhook_id, since)}


async def read_days(tx: Tx, account_id: str, webhook_id: str, *, since: int) -> dict[int, Attempts]:
    """Returns the endpoint's attempts by UTC day, from the hour `since` (since 1970) on."""
    return {int(each.of): _attempts(each) for each in await _list_days(tx, account_id, webhook_id, since)}


async def read_sums(tx: Tx, account_id: str, *, before: str, limit: int, since: int) -> dict[str, Attempts]:
    """Returns the attempts from the hour `since` on, by endpoint, of the newest endpoints before the id `before`."""
    return {each.of: _attempts(each) for each in await _list_sums(tx, account_id, before, limit, since)}


@sql.all(f"SELECT CAST(hour AS TEXT) AS of, {_OF_ENDPOINT} GROUP BY hour")
async def _list_hours(tx: Tx, account_id: str, webhook_id: str, since: int) -> list[_Row]:
    """Returns the counts of an endpoint by hour."""
    ...


@sql.all(f"SELECT CAST(hour / 24 AS TEXT) AS of, {_OF_ENDPOINT} GROUP BY hour / 24")
async def _list_days(tx: Tx, account_id: str, webhook_id: str, since: int) -> list[_Row]:
    """Returns the counts of an endpoint by UTC day."""
    ...


@sql.all(
    f"SELECT w.id AS of, (SELECT {_SUMS} FROM webhook_hours h WHERE h.account_id = w.account_id"
    " AND h.webhook_id = w.id AND h.hour >= :since) AS counts FROM webhooks w"
    " WHERE w.account_id = :account_id AND w.removed_at IS NULL AND w.id < :before ORDER BY w.id DESC LIMIT :limit"
)
async def _list_sums(tx: Tx, account_id: str, before: str, limit: int, since: int) -> list[_Row]:
    """Returns the counts of endpoints of an account."""
    ...


@sql.run(
    "DELETE FROM webhook_hours WHERE (account_id, webhook_id, hour) IN (SELECT account_id, webhook_id, hour"
    " FROM webhook_hours WHERE hour < :before ORDER BY hour LIMIT :batch)"
)
async def purge_hours(tx: Tx, *, before: int, batch: int) -> int:
    """Removes counts of hours before `before` (since 1970). Returns how many."""
    ...


@sql.run(
    "DELETE FROM webhook_hours WHERE account_id = :account_id AND (webhook_id, hour) IN"
    " (SELECT webhook_id, hour FROM webhook_hours WHERE account_id = :account_id LIMIT :batch)"
)
async def erase_hours(tx: Tx, account_id: str, batch: int) -> int:
    """Removes counts of an account's endpoints. Returns how many."""
    ...


def _attempts(row: _Row) -> Attempts:
    if row.counts is None:
        return Attempts()
    counts = [int(each) for each in row.counts.split(" ")]
    return Attempts(*counts[: len(OUTCOMES)], took=counts[len(OUTCOMES) :])
