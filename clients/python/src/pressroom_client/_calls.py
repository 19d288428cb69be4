"""A call as it is sent, and an answer as it is read: the half of the clients that awaits nothing."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx

from pressroom_client._files import Part
from pressroom_client._retries import Failure
from pressroom_client.errors import api_error

KEY_PREFIX = 15
"""Characters of a key that are no secret: the API shows them as `keyPrefix`."""


@dataclass(frozen=True)
class Call:
    """A request, the same on each of its tries.

    Attributes:
        method: The HTTP method.
        path: The path below the base address.
        json: The body; None: no JSON body.
        query: The query parameters.
        form: The texts of a multipart form.
        files: The files of that form.
        idempotency_key: For writes.
    """

    method: str
    path: str
    json: dict[str, Any] | None = None
    query: dict[str, str] | None = None
    form: dict[str, Any] | None = None
    files: list[Part] | None = None
    idempotency_key: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers beside those of every request."""
        return {} if self.idempotency_key is None else {"Idempotency-Key": self.idempotency_key}


def segment(value: str) -> str:
    """Returns an id as one segment of a path, whatever it holds."""
    return quote(value, safe="")


def write(
    method: str,
    path: str,
    idempotency_key: str | None,
    *,
    json: dict[str, Any] | None = None,
    form: dict[str, Any] | None = None,
    files: list[Part] | None = None,
) -> Call:
    """Returns a write, under the caller's key or a fresh one. Fields of the body that are None are left out."""
    given = None if json is None else {name: value for name, value in json.items() if value is not None}
    texts = None if form is None else {name: _text(value) for name, value in form.items() if value is not None}
    return Call(method, path, given, None, texts, files, idempotency_key or str(uuid.uuid4()))


def _text(value: object) -> object:
    # The form carries objects as serialised JSON; a list is a field that is repeated.
    return json.dumps(value) if isinstance(value, dict) else value


def failure_of(response: httpx.Response) -> Failure:
    """Returns how an answer failed."""
    return Failure(response.status_code, str(_body(response).get("error", "")), _retry_after(response))


def raise_for(response: httpx.Response) -> None:
    """Raises the ApiError of an answer that is no success."""
    raise api_error(response.status_code, _body(response), response.headers.get("x-request-id"), _retry_after(response))


def _body(response: httpx.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        return {}  # A proxy before the server answered in its place.
    return body if isinstance(body, dict) else {}  # pyright: ignore[reportUnknownVariableType]  # JSON has no type


def _retry_after(response: httpx.Response) -> float | None:
    value = response.headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value) - datetime.now(timezone.utc)
    except (TypeError, ValueError):
        return None
    return max(0.0, until.total_seconds())
