"""Everything that a call can raise.

    PressroomError
      NoAnswer                  no answer came within the deadline
      ProcessingFailed          a file cannot be decoded
      VerificationFailed        a delivery cannot be trusted (see `webhooks`)
      ApiError                  the server refused: `label`, `status`, `details` …
        MissingApiKey, InvalidApiKey, … one class for each label

A label that this version does not know raises ApiError itself, with the label kept.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypedDict


class FieldFault(TypedDict):
    """One thing wrong with a request: where (`location.latitude`, `media[2]`), which kind, and what to do."""

    field: str
    code: str
    message: str


class PressroomError(Exception):
    """Any failure of a call."""


class NoAnswer(PressroomError):
    """No answer came before the deadline. A write may have happened; sent again with the same key it happens once.

    Attributes:
        idempotency_key: The key of the write, for another try; None for reads.
    """

    def __init__(self, message: str, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key


class ProcessingFailed(PressroomError):
    """A file of a post, or a clip's video, cannot be decoded."""


class ApiError(PressroomError):
    """The server refused the request.

    Attributes:
        status: The HTTP status.
        label: The server's short name of the failure; empty when the answer was not the server's own JSON.
        message: A sentence for people.
        details: Every fault of the request, on 400 and 422.
        request_id: Names the request in the server's log.
        retry_after: Seconds after which one request will pass; None when the server names none.
        limit: The name of the limit that was reached, on 429.
        required_scope: The scope that the key lacks, on 403.
        body: The answer's JSON as it came, with fields that this version does not know.
    """

    known_label: ClassVar[str] = ""

    def __init__(self, status: int, body: dict[str, Any], request_id: str | None, retry_after: float | None) -> None:
        self.status = status
        self.label = str(body.get("error", ""))
        self.message = str(body.get("message", ""))
        self.details: list[FieldFault] = body.get("details") or []
        self.request_id = request_id
        self.retry_after = retry_after
        self.limit: str | None = body.get("limit")
        self.required_scope: str | None = body.get("requiredScope")
        self.body = body
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        faults = "; ".join(f"{fault['field']}: {fault['message']}" for fault in self.details)
        parts = [f"{self.status} {self.label}".strip(), self.message, faults]
        told = ": ".join(part for part in parts if part)
        return f"{told} (request {self.request_id})" if self.request_id else told


class ValidationFailed(ApiError):
    """400: the request is malformed; `details` lists every fault."""

    known_label = "Validation failed"


class MissingApiKey(ApiError):
    """401: the request had no key."""

    known_label = "Missing API key"


class InvalidApiKey(ApiError):
    """401: no such key was issued here."""

    known_label = "Invalid API key"


class ApiKeyRevoked(ApiError):
    """401: the key was revoked."""

    known_label = "API key revoked"


class ApiKeyExpired(ApiError):
    """401: the key reached its expiry."""

    known_label = "API key expired"


class IpAddressNotAllowed(ApiError):
    """403: the request came from outside the key's allowlist."""

    known_label = "IP address not allowed"


class MissingRequiredScope(ApiError):
    """403: the key lacks `required_scope`."""

    known_label = "Missing required scope"


class SessionRequired(ApiError):
    """403: only a signed-in person may do this."""

    known_label = "Session required"


class NotFound(ApiError):
    """404: absent, deleted, or not visible to this account."""

    known_label = "Not found"


class Conflict(ApiError):
    """409: it exists already, a cap is reached, or the version named is not the current one."""

    known_label = "Conflict"


class CursorExpired(ApiError):
    """410: the cursor is older than the events that are kept; `body["oldest"]` is the first that can be read."""

    known_label = "Cursor expired"


class PayloadTooLarge(ApiError):
    """413: the body is larger than the operation takes."""

    known_label = "Payload too large"


class UnsupportedMediaType(ApiError):
    """415: the body is of another type."""

    known_label = "Unsupported media type"


class Unprocessable(ApiError):
    """422: well-formed, but stored state forbids it; `details` says why."""

    known_label = "Unprocessable"


class RateLimitExceeded(ApiError):
    """429: the key made too many requests; it was tried again within the deadline."""

    known_label = "Rate limit exceeded"


class DailyContentQuotaExceeded(ApiError):
    """429: the account has published all that a UTC day allows. Raised at once."""

    known_label = "Daily content quota exceeded"


class InternalError(ApiError):
    """500: something failed in the server."""

    known_label = "Internal error"


class Unavailable(ApiError):
    """503: something that the server depends on is away."""

    known_label = "Unavailable"


_BY_LABEL: dict[str, type[ApiError]] = {kind.known_label: kind for kind in ApiError.__subclasses__()}


def api_error(status: int, body: object, request_id: str | None, retry_after: float | None) -> ApiError:
    """Returns the error of an answer: of the class of its label, or a plain ApiError."""
    fields: dict[str, Any] = dict(body) if isinstance(body, dict) else {}  # pyright: ignore[reportUnknownArgumentType]  # JSON
    kind = _BY_LABEL.get(str(fields.get("error", "")), ApiError)
    return kind(status, fields, request_id, retry_after)
