"""What a delivery worker that stops does with its results, over a database that says which endpoints are locked."""

import asyncio
import io
from typing import Any, cast

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Database
from pressroom.domains.webhooks.actions.leasing import LeaseResult, Leases
from pressroom.domains.webhooks.delivery import DeliveryWorker, Round
from pressroom.domains.webhooks.models import Endpoint, Speed
from pressroom.domains.webhooks.retries import EndpointHealth
from pressroom.domains.webhooks.slots import AT_ONCE
from pressroom.jobs import lease_loop
from pressroom.logs import Log
from pressroom.outbound import OutboundClient

FEW_SECONDS = 60.0


class Results:
    """Saves results, except those of locked endpoints; each is unlocked once it was postponed."""

    def __init__(self, *locked: str) -> None:
        self.locked = set(locked)
        self.saved: list[str] = []

    def listen(self) -> asyncio.Event:
        """Returns an event that nothing sets."""
        return asyncio.Event()

    async def transact(
        self, _action: object, _outcomes: list[Any], results: list[LeaseResult], lease_too: bool
    ) -> Round:
        """Saves one portion of results and leases nothing."""
        assert not lease_too
        postponed = [result for result in results if result.endpoint.id in self.locked]
        self.locked -= {result.endpoint.id for result in postponed}
        self.saved += [result.endpoint.id for result in results if result not in postponed]
        return Round(Leases([], more=False), None, [], postponed)


def stop_with(db: Results, ids: list[str]) -> None:
    """Stops a worker whose batches have all ended, with these results to be saved."""

    async def stopped() -> None:
        worker = DeliveryWorker(
            cast("Database", db),
            cast("OutboundClient", None),
            SettableClock(0),
            Log(requests=False, stream=io.StringIO()),
            [60_000],
        )
        worker._results = [
            LeaseResult(
                Endpoint("account", each, "https://receiver.example/", 0, None, Speed.QUICK),
                EndpointHealth(0),
                [],
                more=False,
                speed=Speed.QUICK,
                recovered=False,
            )
            for each in ids
        ]
        worker.stop(0)
        async with asyncio.timeout(FEW_SECONDS):
            await worker.run()

    asyncio.run(stopped())


def test_a_stop_saves_any_number_of_results_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop has one second for them: a pause after each portion would cost leases when many batches end together."""
    monkeypatch.setattr(lease_loop, "LOCKED_SECONDS", 10 * FEW_SECONDS)
    db, ids = Results(), [f"{number:03}" for number in range(10 * AT_ONCE)]
    stop_with(db, ids)
    assert db.saved == ids


def test_stop_retries_results_of_locked_endpoints() -> None:
    ids = [f"{number:03}" for number in range(2 * AT_ONCE)]
    db = Results(*ids[: AT_ONCE + 1])
    stop_with(db, ids)
    assert sorted(db.saved) == ids
