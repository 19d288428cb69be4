"""The response to every error: its status and exact label (docs/errors.md#labels), its headers and its message."""

from typing import Final

import msgspec

from pressroom.errors import (
    AccountSuspended,
    AddressNotAllowed,
    Conflict,
    CrossOrigin,
    CursorExpired,
    ExpiredKey,
    FieldError,
    Invalid,
    InvalidKey,
    Limit,
    MissingKey,
    MissingScope,
    NotFound,
    NotSignedIn,
    PasswordRequired,
    PressroomError,
    QuotaExceeded,
    RateLimited,
    RevokedKey,
    SessionRequired,
    StaleVersion,
    TooMany,
    TooManyAttempts,
    Unauthenticated,
    Unavailable,
    Unprocessable,
    WrongCredentials,
)
from pressroom.web.response import Response


class Problem(msgspec.Struct, rename="camel", omit_defaults=True):
    """The envelope of every error. Which fields are present depends on the failure."""

    error: str
    message: str | None = None
    retry_after: int | None = None
    limit: Limit | None = None
    required_scope: str | None = None
    oldest: str | None = None
    details: list[FieldError] | None = None
    draft: object | None = None


_encoder = msgspec.json.Encoder()


def error_response(error: BaseException) -> Response:
    """Returns the response to an error. That of an unexpected one has no details."""
    status, label = label_of(error)
    if (status, label) == INTERNAL or not isinstance(error, PressroomError):
        return _answer(500, Problem(INTERNAL[1], "Something failed here. It is safe to retry with an Idempotency-Key."))
    problem = Problem(label, error.message)
    headers: list[tuple[bytes, bytes]] = []
    match error:
        case Invalid() | Unprocessable():
            problem.details = error.field_errors
        case StaleVersion():
            problem.draft = error.draft
        case MissingScope():
            problem.required_scope = error.scope
        case CursorExpired():
            problem.oldest = error.oldest
        case TooMany():
            problem.retry_after, problem.limit = error.retry_after, error.limit
            headers.append((b"retry-after", b"%d" % error.retry_after))
        case Unavailable():
            headers.append((b"retry-after", b"%d" % error.retry_after))
        case MethodNotAllowed():
            headers.append((b"allow", ", ".join(error.allowed).encode()))
        case Unauthenticated():
            headers.append((b"www-authenticate", b"Bearer"))
        case _:
            pass
    return _answer(status, problem, headers)


def _answer(status: int, problem: Problem, headers: list[tuple[bytes, bytes]] | None = None) -> Response:
    return Response(status, _encoder.encode(problem), headers=headers or [], label=problem.error)


class MethodNotAllowed(PressroomError):
    """The path exists, but not for this method; `allowed` lists the methods that it takes."""

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(f"This path takes {', '.join(allowed)}.")
        self.allowed = allowed


class RequestTimeout(PressroomError):
    """The body did not arrive in time."""


class PayloadTooLarge(PressroomError):
    """The body is larger than the route can ever take."""


LONGEST_TARGET: Final = 8_192
"""Bytes of a request target, path and query, at most."""

TARGET_TOO_LONG: Final = f"Path and query together have at most {LONGEST_TARGET:,} bytes."


class UriTooLong(PressroomError):
    """The request target, path and query, is longer than any of ours."""


class UnsupportedMediaType(PressroomError):
    """The body is of a type that the route does not take."""


LABELS: Final[dict[type[PressroomError], tuple[int, str]]] = {
    Invalid: (400, "Validation failed"),
    MissingKey: (401, "Missing API key"),
    InvalidKey: (401, "Invalid API key"),
    RevokedKey: (401, "API key revoked"),
    ExpiredKey: (401, "API key expired"),
    NotSignedIn: (401, "Not signed in"),
    WrongCredentials: (401, "Invalid credentials"),
    AddressNotAllowed: (403, "IP address not allowed"),
    MissingScope: (403, "Missing required scope"),
    SessionRequired: (403, "Session required"),
    PasswordRequired: (403, "Password required"),
    AccountSuspended: (403, "Account suspended"),
    CrossOrigin: (403, "Cross-origin request refused"),
    NotFound: (404, "Not found"),
    MethodNotAllowed: (405, "Method not allowed"),
    RequestTimeout: (408, "Request timeout"),
    Conflict: (409, "Conflict"),
    CursorExpired: (410, "Cursor expired"),
    PayloadTooLarge: (413, "Payload too large"),
    UriTooLong: (414, "URI too long"),
    UnsupportedMediaType: (415, "Unsupported media type"),
    Unprocessable: (422, "Unprocessable"),
    RateLimited: (429, "Rate limit exceeded"),
    QuotaExceeded: (429, "Daily content quota exceeded"),
    TooManyAttempts: (429, "Too many attempts"),
    Unavailable: (503, "Unavailable"),
}
INTERNAL: Final = (500, "Internal error")


def label_of(error: BaseException) -> tuple[int, str]:
    """Returns status and label of an error: those of the nearest class that has any."""
    for kind in type(error).__mro__:
        if kind in LABELS:
            return LABELS[kind]
    return INTERNAL
