"""How endpoints do: what waits for them and how their latest deliveries went, at a cost that has a bound."""

from typing import Final

from pressroom.db import Tx, sql
from pressroom.domains.webhooks.models import COUNTED, LATEST, Delivery, EndpointFigures, PastDelivery
from pressroom.domains.webhooks.queries.listing import DELIVERIES_OF_ENDPOINT

_OWN: Final = "d.account_id = w.account_id AND d.webhook_id = w.id"
_LATEST: Final = f"(SELECT d.state FROM deliveries d WHERE {_OWN} ORDER BY d.event_id DESC LIMIT {LATEST}) AS latest"

# Each figure is looked up by index for one endpoint at a time, and ends at its bound: without an order, or in a join, a
# planner may walk through all deliveries. Of a closed endpoint only the news of that still goes out: the newest event.
_FIGURES: Final = (
    "SELECT w.id, w.next_due_at, CASE WHEN w.closed_at IS NULL"
    f" THEN (SELECT count(*) FROM (SELECT 1 FROM deliveries d WHERE {_OWN} AND d.state = 'pending'"
    f" ORDER BY d.event_id LIMIT {COUNTED + 1}) AS waiting)"
    f" ELSE (SELECT count(*) FROM (SELECT d.event_type FROM deliveries d WHERE {_OWN} AND d.state = 'pending'"
    " ORDER BY d.event_id DESC LIMIT 1) AS newest WHERE newest.event_type = 'apikey.revoked') END AS waiting,"
    f" (SELECT d.event_id FROM deliveries d WHERE {_OWN} AND d.state = 'pending' ORDER BY d.event_id LIMIT 1)"
    " AS oldest_waiting,"
    f" (SELECT count(*) FROM {_LATEST}) AS latest,"
    f" (SELECT count(*) FROM {_LATEST} WHERE latest.state = 'delivered') AS delivered,"
    f" (SELECT count(*) FROM {_LATEST} WHERE latest.state = 'failed') AS failed"
    " FROM webhooks w WHERE w.account_id = :account_id AND w.key_id = :key_id AND w.removed_at IS NULL"
)


@sql.one(f"{_FIGURES} AND w.id = :webhook_id")
async def find_figures(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> EndpointFigures | None:
    """Returns how an endpoint does."""
    ...


@sql.all(f"{_FIGURES} ORDER BY w.id DESC")
async def list_figures(tx: Tx, account_id: str, key_id: str) -> list[EndpointFigures]:
    """Returns how each endpoint of a key does, newest first."""
    ...


@sql.all(
    "SELECT event_id, event_type, state FROM deliveries WHERE account_id = :account_id AND webhook_id = :webhook_id"
    " AND event_id < :before ORDER BY event_id DESC LIMIT :limit"
)
async def deliveries_before(tx: Tx, account_id: str, webhook_id: str, *, before: str, limit: int) -> list[PastDelivery]:
    """Returns deliveries to an endpoint of events before the id `before`, newest first."""
    ...


@sql.one(f"{DELIVERIES_OF_ENDPOINT} AND d.event_type = 'webhook.test' ORDER BY d.event_id DESC LIMIT 1")
async def find_last_test(tx: Tx, account_id: str, webhook_id: str) -> Delivery | None:
    """Returns the last test that was sent to an endpoint, or is to be sent."""
    ...
