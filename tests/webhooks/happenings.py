"""Events without deliveries, as if they had happened while no endpoint stood."""

import json

from pressroom.db import Tx, Value
from pressroom.domains.events.models import EventType
from pressroom.domains.events.queries import INSERT_EVENT
from pressroom.ids import new_id
from tests.api.actors import Actor


def happen(owner: Actor, times: list[int]) -> None:
    """Has the account publish at these times (milliseconds), as far as its events tell, with nobody told of it."""
    rows: list[dict[str, Value]] = [
        {
            "id": new_id(at),
            "account_id": owner.account.id,
            "key_id": None,
            "type": EventType.POST_CREATED,
            "data": json.dumps({"post": {"id": new_id(at), "content": str(at)}}),
            "now": at,
            "trace": None,
            "counted_for": None,
        }
        for at in times
    ]

    async def insert(tx: Tx) -> None:
        await tx.run_each(INSERT_EVENT, rows)

    owner.server.run(owner.server.runtime.db.transact(insert))
