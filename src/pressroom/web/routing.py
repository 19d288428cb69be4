"""Routes as constants: path, access, body and response of an operation, and the function that carries it out.

Every package has one tuple `ROUTES`; `pressroom.server.routes` puts them together, and the OpenAPI document follows.

    @declare_with_body("POST", "/api/posts", Keyed("posts:write"), takes=CreatePost, gives=PostOut, summary="…")
    async def create_post(request: Request[Caller], body: CreatePost) -> Response: ...

    ROUTES = (create_post,)

A form of a page takes the same struct as the JSON route of the same act (docs/web-app.md#forms):

    @declare_form("/settings/keys/new", Page(), takes=CreateKey, again=show_new_key, summary="…")
    async def make_key(request: Request[Caller], body: CreateKey) -> Response: ...

What a route needs at run time is in its request (`web.request`), above all in `request.services`.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Required, TypedDict, TypeVar, Unpack, cast

import msgspec

from pressroom.errors import FieldError, PressroomError
from pressroom.web.access import Access, Page, Visitor
from pressroom.web.json_bodies import check_rules, struct_info
from pressroom.web.multipart_rules import Form, FormRules
from pressroom.web.page_forms import FormFields, FormState
from pressroom.web.request import Request
from pressroom.web.response import Response

C = TypeVar("C")
B = TypeVar("B", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class FormSpec:
    """What a route takes as multipart/form-data.

    Attributes:
        by_key: The rules of the form in a request by key.
        signed_in: The rules in a request by session.
        json_texts: Those of its texts that are serialised JSON.
        field_errors: Finds what else can be wrong with a form as a whole.
    """

    by_key: FormRules
    signed_in: FormRules
    json_texts: frozenset[str]
    field_errors: Callable[[Form], Iterator[FieldError]]


Run = Callable[[Request[C], msgspec.Struct | None], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class PageForm(Generic[C]):
    """The form of a page.

    Attributes:
        fields: How its fields become the struct of the route.
        again: Renders the page with the form in a state: new, or as it was sent, with what is wrong.
        files: The files that it takes; None: none.
    """

    fields: FormFields
    again: Callable[[Request[C], FormState], Awaitable[Response]]
    files: "FormFiles | None" = None


@dataclass(frozen=True, slots=True)
class FormFiles:
    """The files that the form of a page takes. They come as multipart/form-data.

    Attributes:
        rules: In which field, how many and how large.
        field_errors: Finds what else can be wrong with the form as a whole.
    """

    rules: FormRules
    field_errors: Callable[[Form], Iterator[FieldError]]


Refusal = type[PressroomError] | PressroomError
"""A kind of error, or one error of that kind as the API reference shows it."""


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A parameter that a route takes in the query string, beside those of a page; `schema` is JSON Schema."""

    name: str
    description: str
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag of the OpenAPI document: the chapter of the API reference that an operation is in."""

    name: str
    description: str


class Declaration(TypedDict, total=False):
    """What a route declares beside method, path and access.

    Attributes:
        summary: One line for the API reference.
        gives: The struct of a successful response.
        status: The status of a successful response; 200 when not given.
        fails: What the route may refuse with beyond what its access implies.
        tag: The chapter of the API reference.
        form: The body comes as multipart/form-data of this kind.
        body_optional: An empty body counts as `{}`.
        idempotent: The route takes an Idempotency-Key (docs/idempotency.md).
        paged: The route takes `limit` and `cursor`.
        query: What else it takes in the query string.
        content_type: The type of a successful response; JSON when not given.
        example: A body, for the API reference.
        response_example: The response to that body.
        cookie: What the response does to the session's cookie.
        location: The path of what was created, for the header Location; `{made}` in it is the id in the response.
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
    query: tuple[QueryParameter, ...]
    content_type: str
    example: msgspec.Struct
    response_example: object
    cookie: str
    location: str


@dataclass(frozen=True, slots=True)
class Route(Generic[C]):
    """One operation, as declared. `takes` is the struct of its JSON body; the rest is as in `Declaration`."""

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
    query: tuple[QueryParameter, ...] = ()
    content_type: str = "application/json"
    example: msgspec.Struct | None = None
    response_example: object = None
    cookie: str = ""
    location: str | None = None
    page_form: PageForm[C] | None = None

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters that it takes in the query string."""
        return [*(("limit", "cursor") if self.paged else ()), *(each.name for each in self.query)]


def declare(
    method: str, path: str, access: Access, **declared: Unpack[Declaration]
) -> Callable[[Callable[[Request[C]], Awaitable[Response]]], Route[C]]:
    """Declares an operation without a body. The function's docstring is its description in the API reference."""

    def decorate(function: Callable[[Request[C]], Awaitable[Response]]) -> Route[C]:
        def run(request: Request[C], _body: msgspec.Struct | None) -> Awaitable[Response]:
            return function(request)

        return Route(method, path, access, run, function.__name__, _description(function), None, **declared)

    return decorate


def declare_with_body(
    method: str, path: str, access: Access, *, takes: type[B], **declared: Unpack[Declaration]
) -> Callable[[Callable[[Request[C], B], Awaitable[Response]]], Route[C]]:
    """Declares an operation whose JSON body is a `takes`. The function's docstring is its description."""

    check_rules(struct_info(takes), takes.__name__)

    def decorate(function: Callable[[Request[C], B], Awaitable[Response]]) -> Route[C]:
        def run(request: Request[C], body: msgspec.Struct | None) -> Awaitable[Response]:
            return function(request, cast("B", body))

        return Route(method, path, access, run, function.__name__, _description(function), takes, **declared)

    return decorate


NO_FIELDS: Final = FormFields()


def declare_form(
    path: str,
    access: Page | Visitor,
    *,
    takes: type[B],
    again: Callable[[Request[C], FormState], Awaitable[Response]],
    summary: str,
    fields: FormFields = NO_FIELDS,
    files: FormFiles | None = None,
) -> Callable[[Callable[[Request[C], B], Awaitable[Response]]], Route[C]]:
    """Declares what a form does that is sent to `path`; see `PageForm` for the rest."""
    check_rules(struct_info(takes), takes.__name__)

    def decorate(function: Callable[[Request[C], B], Awaitable[Response]]) -> Route[C]:
        def run(request: Request[C], body: msgspec.Struct | None) -> Awaitable[Response]:
            return function(request, cast("B", body))

        form = PageForm(fields, again, files)
        description = _description(function)
        return Route(
            "POST", path, access, run, function.__name__, description, takes, summary, page_form=form, idempotent=True
        )

    return decorate


def _description(function: Callable[..., object]) -> str:
    return " ".join(line.strip() for line in (function.__doc__ or "").splitlines()).strip()
