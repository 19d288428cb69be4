"""Whether a batch found its endpoint recovered: by a test that succeeded, and by nothing that failed after it."""

import pytest

from pressroom.domains.webhooks.actions.leasing import Batch
from pressroom.domains.webhooks.batch import DeliveryBatch
from pressroom.domains.webhooks.models import AttemptRecord, AttemptStatus, Endpoint, Speed
from pressroom.domains.webhooks.queries.leases import PendingDelivery

TEST, POST = "webhook.test", "post.created"
SUCCESS, FAILURE = AttemptStatus.SUCCEEDED, AttemptStatus.FAILED


def delivery(kind: str) -> PendingDelivery:
    """Returns a pending delivery of an event of this kind."""
    return PendingDelivery("account", "hook", kind, f"evt_{kind}", kind, "{}", "whsec_", 1, "[]", None)


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
    endpoint = Endpoint("account", "hook", "https://receiver.example/", 1, 0, Speed.QUICK)
    batch = DeliveryBatch(Batch(endpoint, [], [], probing=True), [60_000], 0.0)

    for kind, status in ended:
        each = delivery(kind)
        batch.attempt_begins(each)
        record = AttemptRecord(1, "2026-11-20T16:08:12.345Z", status, None, None, 1, None)
        batch.attempt_ended(each, record, None, 0, ours=False)

    assert batch.result(0).recovered is recovered
