"""The response to every error: its status, label (`error_labels`) and headers, and what is said of it."""

import msgspec

from pressroom.errors import (
    FieldError,
    Invalid,
    Limit,
    MissingScope,
    PressroomError,
    TooMany,
    Unauthenticated,
    Unavailable,
    Unprocessable,
)
from pressroom.web.error_labels import INTERNAL, MethodNotAllowed, label_of
from pressroom.web.response import Response


class Problem(msgspec.Struct, rename="camel", omit_defaults=True):
    """The envelope of every error. Which fields are present depends on the failure."""

    error: str
    message: str | None = None
    retry_after: int | None = None
    limit: Limit | None = None
    required_scope: str | None = None
    details: list[FieldError] | None = None


_encoder = msgspec.json.Encoder()


def error_response(error: BaseException) -> Response:
    """Returns the response to an error. Of an unexpected one it says nothing but that it happened."""
    status, label = label_of(error)
    if (status, label) == INTERNAL or not isinstance(error, PressroomError):
        return _answer(500, Problem(INTERNAL[1], "Something failed here. It is safe to retry with an Idempotency-Key."))
    problem = Problem(label, error.message)
    headers: list[tuple[bytes, bytes]] = []
    match error:
        case Invalid() | Unprocessable():
            problem.details = error.field_errors
        case MissingScope():
            problem.required_scope = error.scope
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
