"""Everything that can go wrong, as one tree. It knows no HTTP: `web.error_responses` has status and label of each.

PressroomError
├── Refused                    the request cannot be carried out; trying it again unchanged is no use
│   ├── Invalid                malformed, or breaks a field's own rule; lists every field error
│   ├── Unauthenticated
│   │   ├── MissingKey · InvalidKey · RevokedKey · ExpiredKey
│   │   └── NotSignedIn · WrongCredentials
│   ├── Forbidden
│   │   ├── AddressNotAllowed · MissingScope · CrossOrigin · AccountSuspended
│   │   └── SessionRequired · PasswordRequired
│   ├── NotFound               absent, or not visible to this caller
│   ├── Conflict               it exists already, or a cap is reached
│   │   └── StaleVersion       a change names another version than the present one
│   ├── CursorExpired          events that follow the cursor are no longer kept
│   └── Unprocessable          well-formed, but stored state forbids it
├── TooMany                    allowed again after `retry_after` seconds
│   └── RateLimited · QuotaExceeded · TooManyAttempts
├── Unavailable                a dependency is away; nothing was written, or nothing that was acknowledged
│   ├── Maintenance            the operator closed the service for a while
│   ├── DiskFull (db)
│   ├── DatabaseAway (db)
│   │   └── LockedElsewhere (db)
│   └── BlobsAway (blobs.store)
├── SettingError               a setting that cannot be used; for the operator
│   └── DatabaseNotReached (db)
├── MethodNotAllowed · RequestTimeout · PayloadTooLarge · UriTooLong · UnsupportedMediaType (web.error_responses)
├── UrlRefused · OutboundFailed (outbound.response)
├── BlobMissing (blobs.store)
│
│   The rest is caught inside the program, or a mistake of ours; no client sees it.
├── ConstraintViolated · AwaitedOutsideTransaction (db)
├── ColumnsDoNotFit (db.rows)
├── KeyTaken (domains.idempotency.once)
├── TryAgain · Defer · Postpone · GiveUp (jobs.worker)
├── Superseded (domains.limits.memory)
├── CardUnavailable · CardPostponed (domains.previews.fetching)
└── Busy (domains.previews.slots)

Outside the tree are the errors of decoders in child processes (domains.media.decoding), the one that `verification.py`
raises for receivers, and `threads.Abandoned`.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MAX_FIELD_ERRORS: Final = 100
"""Field errors that a response lists, at most."""


class Code(StrEnum):
    """Every value that `details[].code` can take (docs/errors.md#codes)."""

    REQUIRED = "required"
    TYPE = "type"
    UNKNOWN_FIELD = "unknown_field"
    TOO_LONG = "too_long"
    TOO_SHORT = "too_short"
    TOO_MANY = "too_many"
    TOO_FEW = "too_few"
    OUT_OF_RANGE = "out_of_range"
    INVALID_CHOICE = "invalid_choice"
    INVALID_FORMAT = "invalid_format"
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type"
    TOO_LARGE = "too_large"
    NOT_ALLOWED = "not_allowed"
    DUPLICATE = "duplicate"


class Limit(StrEnum):
    """Every value that `limit` of a 429 can take (docs/limits.md#names)."""

    REQUESTS_PER_MINUTE = "requests_per_minute"
    REQUESTS_PER_DAY = "requests_per_day"
    POSTS_PER_MINUTE = "posts_per_minute"
    CONTENT_PER_DAY = "content_per_day"
    STREAMS_PER_KEY = "streams_per_key"
    SESSION_WRITES_PER_MINUTE = "session_writes_per_minute"
    SESSION_CONTENT_PER_DAY = "session_content_per_day"
    SIGN_INS = "sign_ins"
    SIGNUPS_PER_HOUR = "signups_per_hour"
    RESETS_PER_HOUR = "resets_per_hour"
    MAILS_PER_HOUR = "mails_per_hour"
    EMAIL_CHANGES_PER_HOUR = "email_changes_per_hour"


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with a request: where (`location.latitude`, `media[2]`, `body`), what, and what to do."""

    field: str
    code: Code
    message: str


class PressroomError(Exception):
    """The root of the tree. `message` is for the client that caused the error and never contains a secret."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Refused(PressroomError):
    """The request cannot be carried out as it stands."""


class Invalid(Refused):
    """Malformed, independently of stored state (docs/errors.md#labels). `field_errors` lists every fault.

    When there are more than MAX_FIELD_ERRORS, or `more` than were collected, the last one reports that.
    """

    def __init__(self, field_errors: list[FieldError], *, more: bool = False) -> None:
        if more or len(field_errors) > MAX_FIELD_ERRORS:
            others = f"There are more faults than these {MAX_FIELD_ERRORS - 1}. Mend them, then send it again."
            field_errors = [*field_errors[: MAX_FIELD_ERRORS - 1], FieldError("body", Code.TOO_MANY, others)]
        where = ", ".join(dict.fromkeys(field_error.field for field_error in field_errors))
        super().__init__(f"The request is not valid; see details for {where}.")
        self.field_errors = field_errors


class Unauthenticated(Refused):
    """It is not known who is asking."""


class MissingKey(Unauthenticated):
    """A keyed route without an Authorization header."""


class InvalidKey(Unauthenticated):
    """The Authorization header does not hold a key that we issued."""


class RevokedKey(Unauthenticated):
    """The key was revoked."""


class ExpiredKey(Unauthenticated):
    """The key reached its expiry time."""


class NotSignedIn(Unauthenticated):
    """A session route with neither a live session nor a key."""


class WrongCredentials(Unauthenticated):
    """Unknown login or wrong password; the response does not say which."""


class Forbidden(Refused):
    """It is known who is asking, and they may not."""


class AddressNotAllowed(Forbidden):
    """The client's address is outside the key's allowlist."""


class MissingScope(Forbidden):
    """The key lacks a scope; `scope` names it."""

    def __init__(self, scope: str) -> None:
        super().__init__(f"This key lacks the scope {scope}. Create a key that has it.")
        self.scope = scope


class SessionRequired(Forbidden):
    """An API key was presented where only a signed-in owner may act."""


class PasswordRequired(Forbidden):
    """The owner of the session has to give the password again first (docs/sign-in.md#password-confirmation)."""


class CrossOrigin(Forbidden):
    """An unsafe request with a session came from another site."""


class AccountSuspended(Forbidden):
    """The right password, of an account that the operator suspended."""


class NotFound(Refused):
    """Absent, deleted, or not visible to the caller; the response does not say which."""


class Conflict(Refused):
    """It exists already, or a cap is reached."""


class CursorExpired(Refused):
    """Events that follow the cursor are no longer kept, or it is of a state that the database lost.

    `oldest` is the cursor before the oldest event that is kept.
    """

    def __init__(self, oldest: str) -> None:
        super().__init__("Events that follow this cursor are no longer kept. Go on after `oldest`; some were missed.")
        self.oldest = oldest


class StaleVersion(Conflict):
    """A change to a draft names another version than the present one.

    `draft` is the present one: as the action read it, until its route puts the wire shape there.
    """

    def __init__(self, message: str, draft: object) -> None:
        super().__init__(message)
        self.draft = draft


class Unprocessable(Refused):
    """Well-formed, but stored state forbids it."""

    def __init__(self, field_errors: list[FieldError]) -> None:
        super().__init__(field_errors[0].message)
        self.field_errors = field_errors


class TooMany(PressroomError):
    """Too much, too soon; `retry_after` is in whole seconds, and `limit` is the name of the limit, for programs."""

    def __init__(self, message: str, retry_after: int, limit: Limit) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.limit = limit


class RateLimited(TooMany):
    """A request rate of the key (docs/limits.md#rolling-windows)."""


class QuotaExceeded(TooMany):
    """The account's daily content quota (docs/limits.md#daily-content)."""


class TooManyAttempts(TooMany):
    """Failed sign-ins, sign-ups from one address, or mails to one (docs/limits.md#signing-in-and-up)."""

    def __init__(self, message: str, retry_after: int, limit: Limit = Limit.SIGN_INS) -> None:
        super().__init__(message, retry_after, limit)


class Unavailable(PressroomError):
    """A dependency is away or full; the same request is safe to send again after `retry_after` seconds."""

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Maintenance(Unavailable):
    """The operator closed the service for a while (docs/operations.md#maintenance-mode)."""


class SettingError(PressroomError):
    """A setting, or the file, host or service that it names, cannot be used. One line for the operator."""
