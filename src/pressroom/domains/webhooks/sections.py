"""What pages of other packages show of webhooks: the endpoints on the page of their key."""

import msgspec

from pressroom.db import Tx
from pressroom.domains.webhooks.actions.status import list_statuses
from pressroom.domains.webhooks.schemas import FiguresOut, WebhookOut, figures_shape, webhook_shape


class ListedEndpoint(msgspec.Struct):
    """An endpoint in a list, and how it does."""

    webhook: WebhookOut
    figures: FiguresOut


async def read_endpoints(tx: Tx, account_id: str, key_id: str) -> list[ListedEndpoint]:
    """Returns the `endpoints` that the template `webhooks/_of_key.html` lists, newest first. Raises NotFound."""
    found = await list_statuses(tx, account_id, key_id)
    return [
        ListedEndpoint(webhook_shape(webhook, tx.now), figures_shape(webhook, figures)) for webhook, figures in found
    ]
