"""The error responses of an operation, with an example for each label.

The refusals that routes with the same access have in common are the response 4XX; a refusal that others do not have has
a response of its own. The examples are made by the function that makes the responses to real errors.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
from pressroom.web.access import Access, Anyone, Keyed, Public, SessionOnly
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
from pressroom.web.routing import BAD_LIMIT, Refusal, Route

C = TypeVar("C")

_WORD: Final = re.compile(r"[A-Za-z]+")
_ORDER: Final = sorted([*LABELS.values(), INTERNAL], key=lambda label: label[0])


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
        status, label = self.label
        value = msgspec.json.decode(error_response(self.error).body)
        return {"summary": f"{status} {self.summary}", "description": prose.WHEN[label], "value": value}


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
        usual = sorted(self._usual(route.access), key=lambda shown: _ORDER.index(shown.label))
        labels = {shown.label for shown in usual}
        own = [shown for shown in map(self._declared, route.fails) if shown.label not in labels]
        return {
            **{str(shown.label[0]): self._own(shown) for shown in own},
            "4XX": self._reference("Refused", self._response(usual, headers.of_refusals(), prose.REFUSAL)),
        }

    def reasons(self, route: Route[C]) -> list[str]:
        """Returns the refusals that a route declares beside the usual ones, a line each.

        A wrong `limit` and an unknown id need none.
        """
        return [
            f"- {label_of(fail)[0]} `{label_of(fail)[1]}`: {_sentence(fail)}"
            for fail in route.fails
            if isinstance(fail, PressroomError) and _varies(fail) and fail is not BAD_LIMIT and not _is_usual(fail)
        ]

    def elsewhere(self) -> dict[str, Json]:
        """Returns the responses that belong to no operation, by status: to unknown paths and methods, and failures."""
        wrong = _shown_error(MethodNotAllowed(["GET", "POST", "HEAD"]), shared=False)
        unknown = NotFound("There is nothing at this address. The API reference is at /docs.")
        return {
            "404": self._response([_shown_error(unknown, shared=False)], {}),
            "405": self._response([wrong], headers.allow()),
            "5XX": self._response(
                [replace(shown, shared=False) for shown in (self._internal, self._find(Unavailable))],
                headers.of_refusals(),
                prose.FAILURE,
            ),
        }

    def components(self) -> dict[str, Json]:
        """Returns the responses that operations referred to so far, by name."""
        return {name: response for _, (name, response) in sorted(self._responses.items())}

    def examples(self) -> dict[str, Json]:
        """Returns the examples that the responses made so far refer to."""
        known = [*self._known.values(), self._internal, *self._rates, self._writes]
        known.sort(key=lambda shown: _ORDER.index(shown.label))
        return {shown.name: shown.example() for shown in known if shown.name in self._used}

    def _reference(self, name: str, response: Json) -> Json:
        """Returns a reference to a response, which operations with the same refusals share."""
        text = f"{name}{msgspec.json.encode(response).decode()}"
        if text not in self._responses:
            place = sum(known.rstrip("0123456789") == name for known, _ in self._responses.values()) + 1
            self._responses[text] = (name if place == 1 else f"{name}{place}", response)
        return {"$ref": f"#/components/responses/{self._responses[text][0]}"}

    def _response(self, all_shown: list[ShownError], its_headers: dict[str, Json], description: str = "") -> Json:
        self._used.update(shown.name for shown in all_shown if shown.shared)
        return {
            "description": description or prose.WHEN[all_shown[0].label[1]],
            "headers": its_headers,
            "content": {"application/json": {"schema": self._schema, "examples": _examples(all_shown)}},
        }

    def _declared(self, refusal: Refusal) -> ShownError:
        return self._find(refusal) if isinstance(refusal, type) else _shown_error(refusal, shared=False)

    def _own(self, shown: ShownError) -> Json:
        """Returns a reference to the response of a status that other routes do not have."""
        status, _ = shown.label
        name = "".join(_WORD.findall(HTTPStatus(status).phrase.title()))
        return self._reference(name, self._response([shown], headers.of_refusals()))

    def _usual(self, access: Access) -> Iterator[ShownError]:
        """Yields the errors of all operations with this access, whatever their method and body."""
        yield from map(self._find, _implied(access))
        if not isinstance(access, Public):
            yield from self._rates if isinstance(access, Keyed) else self._rates[:2]
            if not isinstance(access, Anyone):
                yield self._writes

    def _find(self, kind: type[PressroomError]) -> ShownError:
        return next(self._known[base] for base in kind.__mro__ if base in self._known)


def _implied(access: Access) -> Iterator[type[PressroomError]]:
    yield from (Invalid, UriTooLong, RequestTimeout, PayloadTooLarge, UnsupportedMediaType)
    if isinstance(access, Public):
        return
    yield from (InvalidKey, RevokedKey, ExpiredKey, AddressNotAllowed, CrossOrigin, NotFound, Conflict, Unprocessable)
    if isinstance(access, Keyed):
        yield from (MissingKey, MissingScope, QuotaExceeded)
        return
    yield from (SessionRequired, WrongCredentials, TooManyAttempts)
    yield from (NotSignedIn, PasswordRequired) if isinstance(access, SessionOnly) else (AccountSuspended,)


def _varies(error: PressroomError) -> bool:
    """Returns whether the message of such an error follows from the request, so that its reason is worth a line."""
    return isinstance(error, Invalid | NotFound | Conflict | Unprocessable)


def _is_usual(error: PressroomError) -> bool:
    return isinstance(error, NotFound) and error.message.startswith("There is no ")


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
