"""Deliveries of webhooks: verified, and typed.

    event = webhooks.unwrap(request.body, request.headers, [SECRET, PREVIOUS_SECRET])
    if event["event"] == "post.created":
        print(event["data"]["post"]["content"])

Deliveries come at least once: drop the ids that you know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import cast

from pressroom_client.types import Event
from pressroom_client.verification import TOLERANCE, VerificationFailed, verify

__all__ = ["VerificationFailed", "unwrap"]

SIGNATURE = "x-service-signature"


def unwrap(
    body: bytes,
    headers: Mapping[str, str],
    secrets: str | Iterable[str],
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> Event:
    """Returns the envelope of a delivery.

    Args:
        body: The raw bytes of the request's body.
        headers: The request's headers; upper and lower case do not matter.
        secrets: The endpoint's secret, with `whsec_`; for 24 hours after a rotation the new and the previous one.
        tolerance: Seconds that the signature's time may differ from `now`.
        now: Unix time in seconds; by default that of this machine.

    Raises VerificationFailed when the delivery cannot be trusted, and a plain ValueError when a secret is empty.
    """
    signature = next((value for name, value in headers.items() if name.lower() == SIGNATURE), None)
    verify(body, signature, secrets, tolerance=tolerance, now=now)
    return cast("Event", json.loads(body))
