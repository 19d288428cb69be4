"""One attempt: its request, and the record that the delivery log stores (docs/webhooks.md#delivery-log). Pure."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from pressroom import __version__
from pressroom.clock import SECOND, iso
from pressroom.domains.events.models import envelope
from pressroom.domains.webhooks.envelope import (
    SIGNATURE,
    STANDARD_SIGNATURE,
    request_headers,
    sign,
    sign_standard,
)
from pressroom.domains.webhooks.models import BODIES, LOGGED, SHOWN, AttemptRecord, AttemptStatus, CodeClass
from pressroom.domains.webhooks.queries.leases import PendingDelivery
from pressroom.outbound import OutboundResponse

USER_AGENT: Final = f"Pressroom/{__version__}"

KEPT_HEADERS: Final = ("content-type", "server", "location", "retry-after")
"""Stored headers of a response, in lower case."""

KEPT_BYTES: Final = 256
"""Stored bytes of UTF-8 of each value."""

# Control, invisible and bidirectional characters: on a page they would hide or reorder the text around them.
_HARMFUL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")

_CLASSES: Final = {
    2: CodeClass.SUCCESS,
    3: CodeClass.REDIRECT,
    4: CodeClass.CLIENT_ERROR,
    5: CodeClass.SERVER_ERROR,
}

_decoder = msgspec.json.Decoder(list[AttemptRecord])
_encoder = msgspec.json.Encoder()


def request_of(delivery: PendingDelivery, now: int) -> tuple[dict[str, str], bytes]:
    """Returns headers and body of an attempt at `now` (milliseconds); each has a time and signatures of its own."""
    body = envelope(delivery.envelope_id, delivery.event_id, delivery.event_type, delivery.data)
    at = now // SECOND
    signature = sign(delivery.secret, at, body)
    standard = sign_standard(delivery.secret, delivery.envelope_id, at, body)
    return request_headers(delivery.event_type, delivery.envelope_id, USER_AGENT, signature, standard), body


def attempt_of(
    delivery: PendingDelivery,
    headers: Mapping[str, str],
    response: OutboundResponse | None,
    error: str | None,
    at: int,
    ended_at: int,
) -> AttemptRecord:
    """Returns the attempt with these headers that lasted from `at` to `ended_at` (milliseconds).

    It has a response or the reason why there is none; without headers it failed here, before anything was sent.
    """
    succeeded = response is not None and 200 <= response.status < 300
    return AttemptRecord(
        number=delivery.tries + 1,
        at=iso(at),
        status=AttemptStatus.SUCCEEDED if succeeded else AttemptStatus.FAILED,
        http_code=response.status if response else None,
        error=None if succeeded else error or _refusal(response),
        duration_ms=max(0, ended_at - at),
        response_body=_text(response.body) if response else None,
        signed_with=delivery.secret[:SHOWN] if headers else None,
        signature=headers.get(SIGNATURE),
        standard_signature=headers.get(STANDARD_SIGNATURE),
        user_agent=headers.get("User-Agent"),
        response_headers=kept_headers(response.headers) if response else {},
    )


def _refusal(response: OutboundResponse | None) -> str | None:
    if response is None:
        return None
    if 300 <= response.status < 400:
        return f"The endpoint answered {response.status}: redirects are not followed. Add the address it leads to."
    return f"The endpoint answered {response.status}."


def _text(body: bytes) -> str:
    """Returns the beginning of a response as text for the database."""
    # PostgreSQL refuses a NUL in text: one such response would keep the whole batch from being saved.
    return body.decode("utf-8", "replace").replace("\x00", "\ufffd")


def with_attempt(before: str, attempt: AttemptRecord) -> str:
    """Returns the attempts `before` (JSON) and this one: the latest 20, and the latest 5 with their responses."""
    if before == "[]":
        return _encoder.encode([attempt]).decode()
    earlier = _decoder.decode(before)
    attempt.number = earlier[-1].number + 1
    for old in earlier[: -BODIES + 1]:
        old.response_body, old.response_headers = None, {}
    return _encoder.encode([*earlier, attempt][-LOGGED:]).decode()


def code_class(http_code: int | None) -> CodeClass:
    """Returns the class of a status code; NONE without a response, and for a code outside 200 to 599."""
    return CodeClass.NONE if http_code is None else _CLASSES.get(http_code // 100, CodeClass.NONE)


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Returns the stored part of a response's headers: KEPT_HEADERS, shortened, without harmful characters."""
    return {name: _kept(headers[name]) for name in KEPT_HEADERS if name in headers}


def _kept(value: str) -> str:
    start = value[:KEPT_BYTES]
    if not start.isascii():
        start = start.encode()[:KEPT_BYTES].decode("utf-8", "ignore")
    return start if start.isprintable() and start.isascii() else _HARMFUL.sub("\ufffd", start)
