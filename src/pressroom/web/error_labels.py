"""Status and exact label of every error (docs/errors.md#labels)."""

from typing import Final

from pressroom.errors import (
    AccountSuspended,
    AddressNotAllowed,
    Conflict,
    CrossOrigin,
    ExpiredKey,
    Invalid,
    InvalidKey,
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
    TooManyAttempts,
    Unavailable,
    Unprocessable,
    WrongCredentials,
)


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
