"""The error responses of an operation: one for each status, with an example for each label.

The examples are made by the function that makes the responses to real errors.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeVar

import msgspec

from pressroom.errors import (
    AccountSuspended,
    AddressNotAllowed,
    Code,
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
    TooManyAttempts,
    Unavailable,
    Unprocessable,
    WrongCredentials,
)
from pressroom.settings import Settings
from pressroom.web.access import AdminOnly, Anyone, Keyed, Public, SessionOnly
from pressroom.web.error_responses import (
    INTERNAL,
    LABELS,
    TARGET_TOO_LONG,
    MethodNotAllowed,
    PayloadTooLarge,
    Problem,
    RequestTimeout,
    UnsupportedMediaType,
    UriTooLong,
    error_response,
    label_of,
)
from pressroom.web.incoming_body import JSON_LIMIT
from pressroom.web.openapi import headers, prose
from pressroom.web.openapi.schemas import Json, Schemas
from pressroom.web.request import SAFE_METHODS
from pressroom.web.routing import Route

C = TypeVar("C")

_WORD: Final = re.compile(r"[A-Za-z]+")
_ORDER: Final = sorted([*LABELS.values(), INTERNAL], key=lambda label: label[0])
_KEY_NEEDED: Final = (InvalidKey, RevokedKey, ExpiredKey)


@dataclass(frozen=True, slots=True)
class ShownError:
    """An error as the document shows it. `name` names its example; `shared`: other operations show it too."""

    name: str
    error: Exception
    summary: str
    shared: bool = True

    @property
    def label(self) -> tuple[int, str]:
        """Status and label."""
        return label_of(self.error)

    def example(self) -> Json:
        """Returns the example: the response that the service itself gives to this error."""
        return {"summary": self.summary, "value": msgspec.json.decode(error_response(self.error).body)}


class Refusals:
    """The error responses of all operations under these settings."""

    def __init__(self, settings: Settings, schemas: Schemas) -> None:
        self._schema = schemas.reference(Problem)
        self._known: dict[type, ShownError] = {type(error): _shown_error(error) for error in _typical(settings)}
        self._internal = _shown_error(RuntimeError())
        self._rates = _rates(settings)
        self._writes = _rate(
            "writes", Limit.SESSION_WRITES_PER_MINUTE, f"{settings.session_writes_per_minute:,} writes per minute", 9
        )
        self._used: set[str] = set()
        self._responses: dict[str, tuple[str, Json]] = {}

    def responses(self, route: Route[C]) -> dict[str, Json]:
        """Returns the error responses of one operation, by status, as references to `components`."""
        by_status: defaultdict[int, list[ShownError]] = defaultdict(list)
        for shown in sorted(self._of(route), key=lambda shown: _ORDER.index(shown.label)):
            by_status[shown.label[0]].append(shown)
        return {
            str(status): self._reference(
                status, self._response(by_status[status], headers.of_response(status, route.access))
            )
            for status in sorted(by_status)
        }

    def reasons(self, route: Route[C]) -> list[str]:
        """Returns the refusals that a route declares beside the usual ones, a line each."""
        return [
            f"- {label_of(fail)[0]} `{label_of(fail)[1]}`: {_sentence(fail)}"
            for fail in route.fails
            if isinstance(fail, PressroomError) and _varies(fail)
        ]

    def elsewhere(self) -> dict[str, Json]:
        """Returns the responses to unknown paths and methods, which belong to no operation, by status."""
        wrong = _shown_error(MethodNotAllowed(["GET", "POST", "HEAD"]), shared=False)
        unknown = NotFound("There is nothing at this address. The API reference is at /docs.")
        return {
            "404": self._response([_shown_error(unknown, shared=False)], headers.of_response(404, Anyone())),
            "405": self._response([wrong], headers.of_response(405, Anyone()) | headers.allow()),
        }

    def components(self) -> dict[str, Json]:
        """Returns the responses that operations referred to so far, by name."""
        return {name: response for _, (name, response) in sorted(self._responses.items())}

    def examples(self) -> dict[str, Json]:
        """Returns the examples that the responses made so far refer to."""
        known = [*self._known.values(), self._internal, *self._rates, self._writes]
        known.sort(key=lambda shown: _ORDER.index(shown.label))
        return {shown.name: shown.example() for shown in known if shown.name in self._used}

    def _reference(self, status: int, response: Json) -> Json:
        """Returns a reference to a response, which operations with the same refusals share."""
        text = f"{status}{msgspec.json.encode(response).decode()}"
        if text not in self._responses:
            phrase = "".join(_WORD.findall(HTTPStatus(status).phrase.title()))
            place = sum(name.rstrip("0123456789") == phrase for name, _ in self._responses.values()) + 1
            self._responses[text] = (phrase if place == 1 else f"{phrase}{place}", response)
        return {"$ref": f"#/components/responses/{self._responses[text][0]}"}

    def _response(self, all_shown: list[ShownError], its_headers: dict[str, Json]) -> Json:
        self._used.update(shown.name for shown in all_shown if shown.shared)
        labels = dict.fromkeys(shown.label[1] for shown in all_shown)
        return {
            "description": "\n".join(
                f"{'- ' if len(labels) > 1 else ''}`{label}`: {prose.WHEN[label]}" for label in labels
            ),
            "headers": its_headers,
            "content": {"application/json": {"schema": self._schema, "examples": _examples(all_shown)}},
        }

    def _of(self, route: Route[C]) -> Iterator[ShownError]:
        declared = [
            _shown_error(fail, shared=False)
            for fail in route.fails
            if isinstance(fail, PressroomError) and not _varies(fail)
        ]
        kinds = [*self._implied(route), *(fail if isinstance(fail, type) else type(fail) for fail in route.fails)]
        labels = {shown.label for shown in declared}
        yield from dict.fromkeys(shown for shown in map(self._usual, kinds) if shown.label not in labels)
        yield from declared
        if not isinstance(route.access, Public):
            counts_as_post = isinstance(route.access, Keyed) and route.access.counts_as_post
            yield from self._rates if counts_as_post else self._rates[:2]
            if route.method not in SAFE_METHODS and not isinstance(route.access, Anyone):
                yield self._writes
        yield self._internal

    def _usual(self, kind: type[PressroomError]) -> ShownError:
        return next(self._known[base] for base in kind.__mro__ if base in self._known)

    def _implied(self, route: Route[C]) -> Iterator[type[PressroomError]]:
        yield from (Invalid, UriTooLong)
        if route.takes:
            yield from (RequestTimeout, PayloadTooLarge, UnsupportedMediaType)
        if not isinstance(route.access, Public):
            if isinstance(route.access, Keyed) and not route.access.anyone:
                yield MissingKey
            if isinstance(route.access, Keyed) and route.access.scope:
                yield MissingScope
            yield from _KEY_NEEDED
            if isinstance(route.access, SessionOnly):
                yield NotSignedIn
                if route.access.recent:
                    yield PasswordRequired
                if isinstance(route.access, AdminOnly):
                    yield NotFound
            yield AddressNotAllowed
            if not isinstance(route.access, Keyed):
                yield SessionRequired
            if route.method not in SAFE_METHODS:
                yield CrossOrigin
        yield Unavailable


def _varies(error: PressroomError) -> bool:
    """Returns whether the message of such an error follows from the request, so that its reason is worth a line."""
    return isinstance(error, Invalid | NotFound | Conflict | Unprocessable)


def _sentence(error: PressroomError) -> str:
    if isinstance(error, Invalid | Unprocessable):
        return " ".join(f"`{each.field}`: {each.message}" for each in error.field_errors)
    return error.message


def _examples(all_shown: list[ShownError]) -> dict[str, Json]:
    examples: dict[str, Json] = {}
    for shown in all_shown:
        place = sum(name.rstrip("0123456789") == shown.name for name in examples) + 1
        name = shown.name if place == 1 else f"{shown.name}{place}"
        examples[name] = {"$ref": f"#/components/examples/{shown.name}"} if shown.shared else shown.example()
    return examples


def _shown_error(error: Exception, *, shared: bool = True, more: str = "") -> ShownError:
    label = label_of(error)[1]
    first, *rest = _WORD.findall(f"{label} {more}")
    name = first.lower() + "".join(word.capitalize() for word in rest)
    return ShownError(name, error, f"{label}: {more}" if more else label, shared)


def _typical(settings: Settings) -> list[PressroomError]:
    """Returns an error of each kind that an operation can name, with a typical message."""
    return [
        Invalid([FieldError("body", Code.INVALID_FORMAT, "The body is not JSON.")]),
        MissingKey("Send the header Authorization: Bearer <API key>."),
        InvalidKey("This is not a valid API key. Send the header Authorization: Bearer svc_live_…"),
        RevokedKey("This key was revoked. Create another one, signed in: POST /api/auth/api-keys."),
        ExpiredKey("This key has expired. Create another one, signed in: POST /api/auth/api-keys."),
        NotSignedIn("Sign in first: this is done with a session, not with an API key."),
        WrongCredentials(
            "The user name, e-mail address, password or code is wrong. After several failures, even the right ones"
            " are refused for up to 15 minutes."
        ),
        MissingScope("posts:write"),
        AddressNotAllowed("The address 198.51.100.7 is not in this key's allowlist."),
        SessionRequired("Only a session may do this: sign in (POST /api/auth/login). No API key may."),
        PasswordRequired("Confirm your password first: POST /api/auth/confirm"),
        AccountSuspended("This account is suspended. Ask the operator of this server."),
        CrossOrigin(
            "A signed-in request must come from this site itself: the browser sent the origin"
            f" 'https://elsewhere.example', and the base address of this server is {settings.base_url}. If that is not"
            " how browsers reach it, its operator sets PRESSROOM_BASE_URL."
        ),
        NotFound("There is no such thing."),
        RequestTimeout(f"The body did not arrive within {settings.body_timeout_seconds} s."),
        Conflict("It exists already."),
        CursorExpired("AAAAAAAAACkAAAAAAAAAAA"),
        PayloadTooLarge(f"A JSON body has at most {JSON_LIMIT:,} bytes."),
        UriTooLong(TARGET_TOO_LONG),
        UnsupportedMediaType("This route takes application/json, not 'text/plain'."),
        Unprocessable([FieldError("body", Code.NOT_ALLOWED, "This cannot be done as things stand.")]),
        QuotaExceeded(
            f"The account has published {settings.daily_content_quota:,} posts and clips by API key today; "
            "the quota resets at UTC midnight.",
            28_308,
            Limit.CONTENT_PER_DAY,
        ),
        TooManyAttempts("Too many attempts to sign in; try again in 540 s.", 540),
        Unavailable("The database does not answer."),
    ]


def _rates(settings: Settings) -> list[ShownError]:
    """Returns the errors for each limit of a key; the last limit is for posts alone."""
    limits = [
        ("minute", Limit.REQUESTS_PER_MINUTE, f"{settings.requests_per_minute:,} requests per minute", 12),
        ("day", Limit.REQUESTS_PER_DAY, f"{settings.requests_per_day:,} requests per 24 hours", 5_040),
        ("posts", Limit.POSTS_PER_MINUTE, f"{settings.posts_per_minute:,} posts per minute", 31),
    ]
    return [_rate(name, limit, sentence, wait) for name, limit, sentence, wait in limits]


def _rate(name: str, limit: Limit, sentence: str, wait: int) -> ShownError:
    message = f"The limit of {sentence} is reached; try again in {wait} s, not before."
    return _shown_error(RateLimited(message, wait, limit), more=name)
