"""What pages of other packages show of webhooks: the endpoints on the page of their key."""

from pressroom.db import Tx
from pressroom.domains.webhooks.actions.endpoints import list_webhooks
from pressroom.domains.webhooks.models import ENDPOINTS, Webhook
from pressroom.ids import BEYOND


async def read_endpoints(tx: Tx, account_id: str, key_id: str) -> list[Webhook]:
    """Returns the `endpoints` that the template `webhooks/_of_key.html` lists, newest first. Raises NotFound."""
    return await list_webhooks(tx, account_id, key_id, BEYOND, ENDPOINTS)
