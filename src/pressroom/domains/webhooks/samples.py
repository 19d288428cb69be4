"""Sample messages to an endpoint, one of each kind of event (docs/webhooks.md#samples)."""

import msgspec

from pressroom.clock import SECOND
from pressroom.db import Tx
from pressroom.domains.events.models import envelope
from pressroom.domains.keys.models import ApiKey
from pressroom.domains.webhooks.actions.endpoints import get_with_key
from pressroom.domains.webhooks.attempts import USER_AGENT
from pressroom.domains.webhooks.envelope import new_envelope_id, request_headers, sign, sign_standard
from pressroom.domains.webhooks.events import EVENT_DATA
from pressroom.domains.webhooks.models import Webhook
from pressroom.domains.webhooks.overview_schemas import SampleOut
from pressroom.domains.webhooks.queries.endpoints import find_secret
from pressroom.ids import new_id


async def read_samples(
    tx: Tx, account_id: str, key_id: str, webhook_id: str
) -> tuple[ApiKey, Webhook, list[SampleOut]]:
    """Returns an endpoint with its key, and a message of each kind with example data, signed now. Raises NotFound."""
    key, webhook = await get_with_key(tx, account_id, key_id, webhook_id)
    secret = await find_secret(tx, account_id, webhook_id)
    return key, webhook, samples(secret or "", account_id, tx.now)


def samples(secret: str, account_id: str, now: int) -> list[SampleOut]:
    """Returns a message of each kind of event with example data, signed at `now` (milliseconds)."""
    found: list[SampleOut] = []
    at = now // SECOND
    for data in EVENT_DATA:
        envelope_id = new_envelope_id()
        body = envelope(envelope_id, new_id(now, account_id), data.event, msgspec.json.encode(data.example()).decode())
        signatures = sign(secret, at, body), sign_standard(secret, envelope_id, at, body)
        headers = request_headers(data.event, envelope_id, USER_AGENT, *signatures)
        found.append(SampleOut(data.event, headers, body.decode()))
    return found
