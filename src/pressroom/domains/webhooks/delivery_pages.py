"""The pages of deliveries, and the list of them on the page of an endpoint."""

from pressroom.db import Tx
from pressroom.domains.webhooks.models import Webhook


async def read_deliveries(tx: Tx, account_id: str, webhook: Webhook, query: str) -> dict[str, object]:
    """Returns what the template `webhooks/_deliveries.html` shows below an endpoint; `query` is that of the page."""
    return {}
