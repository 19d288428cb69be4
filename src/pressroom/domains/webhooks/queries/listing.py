"""Listing and finding deliveries of one endpoint."""

from collections.abc import Sequence
from typing import Final

from pressroom.db import Query, Tx, Value, sql
from pressroom.domains.webhooks.filters import FEW_RANGES, MOST_RANGES, Range
from pressroom.domains.webhooks.models import Delivery, DeliveryRecord, Webhook

# "held" and "cancelled" follow from the endpoint, so disabling one costs the same however many deliveries are pending.
_DELIVERY: Final = (
    "d.envelope_id AS id, d.event_type AS event, d.event_id, CASE WHEN d.state <> 'pending' THEN d.state"
    " WHEN w.closed_at IS NOT NULL AND d.event_type <> 'apikey.revoked' THEN 'cancelled'"
    " WHEN w.disabled_at IS NOT NULL THEN 'held' ELSE 'pending' END AS state,"
    " d.redelivery, d.due_at, w.probe_at, w.paused_at IS NOT NULL AS paused, d.attempts"
)
_ENDPOINT: Final = "JOIN webhooks w ON w.account_id = d.account_id AND w.id = d.webhook_id"

DELIVERIES_OF_ENDPOINT: Final = (
    f"SELECT {_DELIVERY} FROM deliveries d {_ENDPOINT} WHERE d.account_id = :account_id AND d.webhook_id = :webhook_id"
)

LIST_DELIVERIES: Final = Query(
    Delivery,
    f"{DELIVERIES_OF_ENDPOINT} AND d.event_id < :before AND d.event_id >= :since ORDER BY d.event_id DESC LIMIT :limit",
)


_PLACE: Final = "(state, event_type, code, event_id)"


def _in_ranges(number: int) -> str:
    """Returns the statement for deliveries in so many ranges of the index, each read from its newest row on.

    A range is written as places between two others, in the order of the index, and its rows are joined with nothing
    but their endpoint: otherwise a planner may walk through all rows of the endpoint, which are in the order wanted.
    """
    ranges = " UNION ALL ".join(
        f"SELECT * FROM (SELECT * FROM deliveries WHERE account_id = :account_id AND webhook_id = :webhook_id"
        f" AND {_PLACE} < (:state{each}, :event{each}, :code{each}, :before)"
        f" AND {_PLACE} >= (:state{each}, :event{each}, :code{each}, :since)"
        f" ORDER BY state DESC, event_type DESC, code DESC, event_id DESC LIMIT :limit) AS range{each}"
        for each in range(number)
    )
    return (
        f"SELECT {_DELIVERY} FROM (SELECT * FROM ({ranges}) AS found ORDER BY event_id DESC LIMIT :limit) AS d"
        " JOIN webhooks w ON w.account_id = :account_id AND w.id = :webhook_id ORDER BY d.event_id DESC"
    )


LIST_IN_FEW_RANGES: Final = Query(Delivery, _in_ranges(FEW_RANGES))

LIST_IN_RANGES: Final = Query(Delivery, _in_ranges(MOST_RANGES))


async def list_deliveries(
    tx: Tx, account_id: str, webhook: Webhook, *, since: str, before: str, limit: int
) -> list[Delivery]:
    """Returns deliveries to an endpoint, newest event first, of events with ids from `since` to before `before`."""
    return await tx.all(
        LIST_DELIVERIES, account_id=account_id, webhook_id=webhook.id, since=since, before=before, limit=limit
    )


async def list_in_ranges(
    tx: Tx, account_id: str, webhook: Webhook, ranges: Sequence[Range], *, since: str, before: str, limit: int
) -> list[Delivery]:
    """Returns the same of the deliveries in these ranges, 30 at most."""
    statement, number = (LIST_IN_FEW_RANGES, FEW_RANGES) if len(ranges) <= FEW_RANGES else (LIST_IN_RANGES, MOST_RANGES)
    values: dict[str, Value] = {}
    for place in range(number):
        each = ranges[place] if place < len(ranges) else None
        values[f"state{place}"] = each.state if each else ""
        values[f"event{place}"] = each.event if each else ""
        values[f"code{place}"] = each.code if each else ""
    return await tx.all(
        statement, account_id=account_id, webhook_id=webhook.id, since=since, before=before, limit=limit, **values
    )


@sql.one(
    f"SELECT {_DELIVERY}, w.url, e.data FROM deliveries d {_ENDPOINT}"
    " LEFT JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id"
    " WHERE d.envelope_id = :delivery_id AND d.account_id = :account_id AND d.webhook_id = :webhook_id"
)
async def find_delivery(tx: Tx, account_id: str, webhook_id: str, delivery_id: str) -> DeliveryRecord | None:
    """Returns a delivery to an endpoint by its envelope's id."""
    ...
