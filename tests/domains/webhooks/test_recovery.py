"""A batch that finds its endpoint recovered: by a test, or by a probe."""

import pytest

from pressroom.domains.webhooks.actions.leasing import Lease
from pressroom.domains.webhooks.batch import Batch
from pressroom.domains.webhooks.models import AttemptRecord, AttemptStatus, Endpoint, Speed, State
from pressroom.domains.webhooks.queries.leases import DeliveryOutcome, PendingDelivery

TEST, POST = "webhook.test", "post.created"
SUCCESS, FAILURE = AttemptStatus.SUCCEEDED, AttemptStatus.FAILED


def delivery(kind: str) -> PendingDelivery:
    """Returns a pending delivery of an event of this kind."""
    return PendingDelivery("account", "hook", kind, f"evt_{kind}", kind, "{}", "whsec_", 1, "[]", None)


def begun() -> Batch:
    """Returns a batch of an endpoint that failed once."""
    endpoint = Endpoint("account", "hook", "https://receiver.example/", 1, 0, Speed.QUICK)
    return Batch(Lease(endpoint, [], [], probing=True), [60_000], 0.0)


def end(batch: Batch, kind: str, status: AttemptStatus) -> DeliveryOutcome | None:
    """Ends an attempt of a delivery of this kind; returns the outcome that can be saved before the batch ends."""
    each = delivery(kind)
    batch.attempt_begins(each)
    record = AttemptRecord(1, "2026-11-20T16:08:12.345Z", status, None, None, 1, None)
    return batch.attempt_ended(each, record, None, 0, ours=False)


@pytest.mark.parametrize(
    ("ended", "recovered"),
    [
        ([(TEST, SUCCESS)], True),
        ([(TEST, FAILURE)], False),
        ([(POST, SUCCESS)], False),
        ([(TEST, SUCCESS), (POST, FAILURE)], False),
        ([(POST, FAILURE), (TEST, SUCCESS)], True),
        ([(TEST, SUCCESS), (POST, SUCCESS)], True),
        ([(TEST, SUCCESS), (TEST, FAILURE)], False),
    ],
)
def test_last_attempt_decides_whether_the_endpoint_recovered(
    ended: list[tuple[str, AttemptStatus]], recovered: bool
) -> None:
    batch = begun()

    for kind, status in ended:
        end(batch, kind, status)

    assert batch.result(0).recovered is recovered


def test_successful_probe_is_saved_with_the_health_of_its_endpoint() -> None:
    batch = begun()

    assert end(batch, POST, SUCCESS) is None

    result = batch.result(0)
    assert [outcome.state for outcome in result.outcomes] == [State.DELIVERED]
    assert (result.health.failures, result.health.probe_at) == (0, None)
