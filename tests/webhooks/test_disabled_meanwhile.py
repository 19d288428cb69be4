"""An endpoint that is disabled while another change of it is under way: the change sees that, and is refused."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from pressroom.db import Tx
from pressroom.domains.audit.models import UNKNOWN
from pressroom.domains.webhooks.actions.endpoints import disable_webhook, pause
from pressroom.domains.webhooks.models import Webhook
from pressroom.errors import Conflict, PressroomError, Unprocessable
from tests.api.actors import Actor
from tests.harness.locks import WAITING
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING

SETTINGS = DELIVERING

Change = Callable[[Tx, str, str, str], Awaitable[Webhook]]


async def disable(tx: Tx, account_id: str, key_id: str, webhook_id: str) -> Webhook:
    """Disables an endpoint as an operator does."""
    return await disable_webhook(tx, account_id, key_id, webhook_id, "It floods.", UNKNOWN)


@pytest.mark.parametrize("server", ["postgres"], indirect=True)
@pytest.mark.parametrize(("change", "refusal"), [(pause, Unprocessable), (disable, Conflict)])
def test_endpoint_disabled_meanwhile_refuses_change(
    alice: Actor, endpoint: MakeEndpoint, change: Change, refusal: type[PressroomError]
) -> None:
    hook = endpoint("post.created")
    db, ids = alice.server.runtime.db, (alice.account.id, hook.key_id, hook.id)

    async def story() -> None:
        disabled = asyncio.Event()

        async def disable_first(tx: Tx) -> None:
            await disable(tx, *ids)
            disabled.set()
            while not await tx.one(WAITING):
                pass

        first = asyncio.ensure_future(db.transact(disable_first))
        await disabled.wait()
        with pytest.raises(refusal):
            await db.transact(change, *ids)
        await first

    alice.server.run(story())
    assert hook.show()["status"] == "disabled"
