"""Routes as data: path, demands, what goes in and what comes out, and the function that does it.

A route is declared where it is written and listed in `app`; the OpenAPI document is made from the same data.

    @declare_with_body("POST", "/api/posts", Keyed("posts:write"), takes=CreatePost, gives=PostOut, summary="…")
    async def create_post(request: Request[Caller], body: CreatePost) -> Response: ...
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Concatenate, Final, Generic, ParamSpec, Protocol, Required, TypedDict, TypeVar, Unpack, cast

import msgspec

from pressroom.blobs import Blobs
from pressroom.clock import Clock
from pressroom.db import Database, Tx
from pressroom.errors import FieldError, NotSignedIn, PressroomError
from pressroom.outbound import OutboundClient
from pressroom.settings import Settings
from pressroom.web.access import Access
from pressroom.web.asgi import HeaderList
from pressroom.web.form_data import Form, FormRules, IncomingFile
from pressroom.web.slices import Slices


@dataclass(frozen=True, slots=True)
class FormSpec:
    """What a multipart route takes: the rules of the form (for a request by key, and for one signed in), which of its
    texts hold serialised JSON, and what else can be wrong with a form as a whole."""

    by_key: FormRules
    signed_in: FormRules
    json_texts: frozenset[str]
    field_errors: Callable[[Form], Iterator[FieldError]]


C = TypeVar("C")
B = TypeVar("B", bound=msgspec.Struct)
R = TypeVar("R")
P = ParamSpec("P")

JSON: Final = b"application/json"
_encoder = msgspec.json.Encoder()


class Response(msgspec.Struct):
    """An answer: status, body, and headers beyond those that every answer bears.

    A `stream` of `length` bytes takes the place of a body that is not to be held in memory as a whole.
    """

    status: int
    body: bytes
    content_type: bytes = JSON
    headers: HeaderList = msgspec.field(default_factory=HeaderList)
    stream: AsyncIterator[bytes] | None = None
    length: int = 0


def json(shape: object, status: int = 200) -> Response:
    """A struct as a JSON answer."""
    return Response(status, _encoder.encode(shape))


class Headers(msgspec.Struct):
    """The request headers that anything here reads, found in one pass. Values are Latin-1 text."""

    authorization: str | None
    cookie: str
    content_type: str | None
    content_encoding: str | None
    content_length: int | None
    chunked: bool
    idempotency_key: str | None
    forwarded_for: str | None
    fetch_site: str | None
    origin: str | None
    host: str
    range: str | None = None
    if_range: str | None = None
    if_none_match: str | None = None


class Once(Protocol):
    """Runs a write in one transaction, at most once per Idempotency-Key."""

    def hiding(self, *fields: str) -> "Once":
        """The same, but stored answers have null in place of `fields`: what is shown once is not stored."""
        ...

    def locking(self, lock: Callable[[Tx], Awaitable[None]]) -> "Once":
        """The same, but `lock` is awaited first in the transaction, before its Idempotency-Key is looked at."""
        ...

    async def stored(self) -> Response | None:
        """The answer of an earlier request with this key: for routes that would do costly work beforehand."""
        ...

    async def __call__(
        self,
        action: Callable[Concatenate[Tx, P], Awaitable[R]],
        shape: Callable[[R], object],
        status: int,
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Response:
        """Runs `action(tx, *args)`; the answer is `shape(result)` as JSON with `status`, or the stored one."""
        ...


class Services(msgspec.Struct):
    """What routes work with beside the database: the way out, the store of media, cards of pages that posts bear (to
    be waited for a little), the secret that signs addresses of media in pages, and what renders pages in slices."""

    outbound: OutboundClient
    blobs: Blobs
    await_card: Callable[[str, str], Awaitable[None]]
    media_secret: str
    slices: Slices


class Request(msgspec.Struct, Generic[C]):
    """One request on its way through a route: who calls, with what, and the means to answer."""

    db: Database
    settings: Settings
    clock: Clock
    method: str
    path: str
    query: str
    parameters: Mapping[str, str]
    headers: Headers
    client: str
    request_id: str
    once: Once
    services: Services
    files: Sequence[IncomingFile] = ()
    who: C | None = None
    session_token: str | None = None

    @property
    def caller(self) -> C:
        """Who calls. Raises NotSignedIn where nobody was demanded and nobody is there."""
        if self.who is None:
            raise NotSignedIn("Sign in first.")
        return self.who


Run = Callable[[Request[C], msgspec.Struct | None], Awaitable[Response]]
Refusal = type[PressroomError] | PressroomError
"""A kind of error, or one of its kind as the reference is to show it."""


@dataclass(frozen=True, slots=True)
class Tag:
    """The chapter of the API reference that an operation stands in."""

    name: str
    description: str


class Declaration(TypedDict, total=False):
    """What is said of an operation beside method, path and access.

    `gives` is the struct of its success, `fails` what it may refuse with beyond what its access already implies.
    `form` has the body come as multipart/form-data. `body_optional` takes no body for an empty one. `idempotent` takes
    an Idempotency-Key, `paged` takes `limit` and `cursor`. `example` and `response_example` show a body and its answer;
    `cookie` says what the answer does to the session's cookie. `location` is the path at which what was made is found,
    `{made}` in it the id in the answer.
    """

    summary: Required[str]
    gives: type[object]
    status: int
    fails: tuple[Refusal, ...]
    tag: Tag
    form: FormSpec
    body_optional: bool
    idempotent: bool
    paged: bool
    content_type: str
    example: msgspec.Struct
    response_example: object
    cookie: str
    location: str


@dataclass(frozen=True, slots=True)
class Route(Generic[C]):
    """One operation, as declared. `takes` is the struct of its JSON body."""

    method: str
    path: str
    access: Access
    run: Run[C]
    name: str
    description: str
    takes: type[msgspec.Struct] | None
    summary: str
    gives: type[object] | None = None
    status: int = 200
    fails: tuple[Refusal, ...] = ()
    tag: Tag | None = None
    form: FormSpec | None = None
    body_optional: bool = False
    idempotent: bool = False
    paged: bool = False
    content_type: str = "application/json"
    example: msgspec.Struct | None = None
    response_example: object = None
    cookie: str = ""
    location: str | None = None


def declare(
    method: str, path: str, access: Access, **said: Unpack[Declaration]
) -> Callable[[Callable[[Request[C]], Awaitable[Response]]], Route[C]]:
    """Declares an operation without a body; the function's docstring is its description."""

    def decorate(function: Callable[[Request[C]], Awaitable[Response]]) -> Route[C]:
        async def run(request: Request[C], _body: msgspec.Struct | None) -> Response:
            return await function(request)

        return Route(method, path, access, run, function.__name__, _prose(function), None, **said)

    return decorate


def declare_with_body(
    method: str, path: str, access: Access, *, takes: type[B], **said: Unpack[Declaration]
) -> Callable[[Callable[[Request[C], B], Awaitable[Response]]], Route[C]]:
    """Declares an operation whose JSON body is a `takes`."""

    def decorate(function: Callable[[Request[C], B], Awaitable[Response]]) -> Route[C]:
        async def run(request: Request[C], body: msgspec.Struct | None) -> Response:
            return await function(request, cast("B", body))

        return Route(method, path, access, run, function.__name__, _prose(function), takes, **said)

    return decorate


def _prose(function: Callable[..., object]) -> str:
    return " ".join(line.strip() for line in (function.__doc__ or "").splitlines()).strip()
