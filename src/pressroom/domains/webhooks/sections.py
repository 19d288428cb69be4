"""What pages of other packages show of webhooks: the endpoints on the page of their key."""

import msgspec

from pressroom.db import Tx
from pressroom.domains.webhooks.actions.status import list_statuses
from pressroom.domains.webhooks.models import EndpointFigures, Webhook
from pressroom.domains.webhooks.schemas import FiguresOut, WebhookOut, figures_shape, webhook_shape


class ListedEndpoint(WebhookOut, FiguresOut):
    """An endpoint in a list, and how it does."""


async def read_endpoints(tx: Tx, account_id: str, key_id: str) -> list[ListedEndpoint]:
    """Returns the `endpoints` that the template `webhooks/_of_key.html` lists, newest first. Raises NotFound."""
    found = await list_statuses(tx, account_id, key_id)
    return [_listed(webhook, figures, tx.now) for webhook, figures in found]


def _listed(webhook: Webhook, figures: EndpointFigures, now: int) -> ListedEndpoint:
    shown, counted = webhook_shape(webhook, now), figures_shape(webhook, figures)
    return ListedEndpoint(**msgspec.structs.asdict(shown), **msgspec.structs.asdict(counted))
