"""Routes: path, access, body and response of an operation, and the function that carries it out.

Each module registers its routes as they are declared; `pressroom.server.routes` puts the modules together, and the
OpenAPI document follows.

    routes: Final = Routes[Caller](Tag("Posts", "…"))

    @routes.post("/api/posts", Keyed("posts:write"), gives=PostOut, location="/api/posts/{made}", summary="…")
    async def create_post(request: Request[Caller], body: CreatePost) -> Response: ...

The body's struct is the annotation of the second parameter. A form of a page takes the same struct as the JSON route of
the same act (docs/web-app.md#forms):

    @routes.form("/settings/keys/new", Page(), show=show_new_key, summary="…")
    async def make_key(request: Request[Caller], body: CreateKey) -> Response: ...

GET shows the form by `show`. A page with several forms or buttons declares itself, and each of them names it:

    @routes.page("/settings/keys/{keyId}", Page(), summary="…")
    async def show_key(request: Request[Caller], form: FormState) -> Response: ...

    @routes.submit("/settings/keys/{keyId}/revoke", Page(), again=show_key, summary="…")
    async def revoke_key(request: Request[Caller], body: NoFields) -> Response: ...

A route takes its database, settings and services from its request (`web.request`), above all in `request.services`.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Required, TypedDict, TypeVar, Unpack, cast

import msgspec

from pressroom.errors import Code, FieldError, Invalid, PressroomError
from pressroom.web.access import Access, Page, Visitor
from pressroom.web.json_bodies import check_rules, struct_info
from pressroom.web.multipart_rules import Form, FormRules, FormSpec
from pressroom.web.page_forms import FormFields, FormState
from pressroom.web.request import Request
from pressroom.web.response import Response

C = TypeVar("C")
B = TypeVar("B", bound=msgspec.Struct)


Run = Callable[[Request[C], msgspec.Struct | None], Awaitable[Response]]


ShowForm = Callable[[Request[C], FormState], Awaitable[Response]]
"""Renders the page with its form in a state: new, or as it was sent, with errors."""


@dataclass(frozen=True, slots=True)
class PageForm(Generic[C]):
    """The form of a page.

    Attributes:
        fields: How its fields become the struct of the route.
        again: Renders the page with the form in a state: new, or as it was sent, with its errors.
        files: The files that it takes; None: none.
    """

    fields: FormFields
    again: ShowForm[C]
    files: "FormFiles | None" = None


@dataclass(frozen=True, slots=True)
class FormFiles:
    """The files that the form of a page takes. They come as multipart/form-data.

    Attributes:
        rules: In which field, how many and how large.
        field_errors: Finds the faults of the form as a whole.
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
    """The declaration of a route beside method, path and access.

    Attributes:
        summary: One line for the API reference.
        gives: The struct of a successful response.
        status: The status of a successful response; when not given, 201 with a `location`, else 200.
        fails: The route's refusals beyond those that its access and paging imply.
        tag: The chapter of the API reference, if not that of the module.
        form: The body comes as multipart/form-data of this kind.
        body_optional: An empty body counts as `{}`.
        idempotent: Whether the route takes an Idempotency-Key (docs/idempotency.md): unless given, all but GET do.
        paged: The route takes `limit` and `cursor`, and refuses wrong ones.
        query: Its other parameters in the query string.
        content_type: The type of a successful response; JSON when not given.
        stream: An example of the response as server-sent events, if clients may accept these instead.
        example: A body, for the API reference; unless given, the `example()` of its struct, if that has one.
        response_example: The response to that body; unless given, the `example()` of `gives`.
        cookie: The change of the session's cookie by the response.
        location: The path of the created resource, for the header Location; `{made}` in it is the id in the response.
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
    stream: str
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
    stream: str = ""
    example: msgspec.Struct | None = None
    response_example: object = None
    cookie: str = ""
    location: str | None = None
    page_form: PageForm[C] | None = None

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters that it takes in the query string."""
        return [*(("limit", "cursor") if self.paged else ()), *(each.name for each in self.query)]


BAD_LIMIT: Final = Invalid([FieldError("limit", Code.OUT_OF_RANGE, "Must be a whole number from 1 to 100.")])
"""The refusal of a wrong page in the API reference, for paged routes that declare no other `Invalid`."""

NO_FIELDS: Final = FormFields()

Handler = Callable[[Request[C]], Awaitable[Response]] | Callable[[Request[C], B], Awaitable[Response]]
"""Carries out an operation. Its docstring is the operation's description in the API reference."""


class FormDeclaration(TypedDict, total=False):
    """The declaration of a form beside path, access and the page that shows it; see `PageForm`."""

    summary: Required[str]
    fields: FormFields
    files: FormFiles


class Routes(list[Route[C]]):
    """The routes of a module, in the order in which they are declared. `tag` is their chapter of the API reference."""

    def __init__(self, tag: Tag | None = None) -> None:
        super().__init__()
        self._tag = tag

    def get(
        self, path: str, access: Access, **declared: Unpack[Declaration]
    ) -> Callable[[Callable[[Request[C]], Awaitable[Response]]], Route[C]]:
        """Declares a GET operation."""
        return lambda handler: self._add("GET", path, access, handler, declared)

    def post(self, path: str, access: Access, **declared: Unpack[Declaration]) -> Callable[[Handler[C, B]], Route[C]]:
        """Declares a POST operation."""
        return lambda handler: self._add("POST", path, access, handler, declared)

    def put(self, path: str, access: Access, **declared: Unpack[Declaration]) -> Callable[[Handler[C, B]], Route[C]]:
        """Declares a PUT operation."""
        return lambda handler: self._add("PUT", path, access, handler, declared)

    def patch(self, path: str, access: Access, **declared: Unpack[Declaration]) -> Callable[[Handler[C, B]], Route[C]]:
        """Declares a PATCH operation."""
        return lambda handler: self._add("PATCH", path, access, handler, declared)

    def delete(self, path: str, access: Access, **declared: Unpack[Declaration]) -> Callable[[Handler[C, B]], Route[C]]:
        """Declares a DELETE operation."""
        return lambda handler: self._add("DELETE", path, access, handler, declared)

    def page(self, path: str, access: Access, *, summary: str) -> Callable[[ShowForm[C]], ShowForm[C]]:
        """Declares a page with forms: GET shows them new by the function, refused ones name it as `again`."""

        def declare(show: ShowForm[C]) -> ShowForm[C]:
            async def shown_new(request: Request[C]) -> Response:
                return await show(request, FormState())

            self._add("GET", path, access, shown_new, {"summary": summary})
            return show

        return declare

    def form(
        self, path: str, access: Page | Visitor, *, show: ShowForm[C], **declared: Unpack[FormDeclaration]
    ) -> Callable[[Callable[[Request[C], B], Awaitable[Response]]], Route[C]]:
        """Declares a form with a page of its own: GET shows it new by `show`, POST sends it."""
        self.page(path, access, summary=declared["summary"])(show)
        return self.submit(path, access, again=show, **declared)

    def submit(
        self, path: str, access: Page | Visitor, *, again: ShowForm[C], **declared: Unpack[FormDeclaration]
    ) -> Callable[[Callable[[Request[C], B], Awaitable[Response]]], Route[C]]:
        """Declares a form, or a button, that another page shows: `again` renders that page with errors."""
        form = PageForm(declared.get("fields", NO_FIELDS), again, declared.get("files"))
        return lambda handler: self._add("POST", path, access, handler, {"summary": declared["summary"]}, form)

    def _add(
        self,
        method: str,
        path: str,
        access: Access,
        handler: Handler[C, B],
        declared: Declaration,
        form: PageForm[C] | None = None,
    ) -> Route[C]:
        takes = _body_of(handler)
        implied: Declaration = {
            "summary": declared["summary"],
            "idempotent": method != "GET",
            "status": 201 if "location" in declared else 200,
        }
        if self._tag is not None:
            implied["tag"] = self._tag
        if form is None:
            implied["response_example"] = _example_of(declared.get("gives"))
            if takes is not None:
                implied["example"] = cast("msgspec.Struct", _example_of(takes))
        fails = declared.get("fails", ())
        if declared.get("paged") and not any(isinstance(refusal, Invalid) for refusal in fails):
            declared["fails"] = (BAD_LIMIT, *fails)
        run, name, description = _runner(handler, takes), handler.__name__, _description(handler)
        route = Route(method, path, access, run, name, description, takes, page_form=form, **(implied | declared))
        self.append(route)
        return route


def _body_of(handler: Callable[..., object]) -> type[msgspec.Struct] | None:
    """Returns the struct of the body that a handler takes, if any. Raises TypeError when a rule of it is wrong."""
    _, *rest = inspect.signature(handler).parameters.values()
    if not rest:
        return None
    takes: type[msgspec.Struct] = rest[0].annotation
    check_rules(struct_info(takes), takes.__name__)
    return takes


def _runner(handler: Handler[C, B], takes: type[msgspec.Struct] | None) -> Run[C]:
    """Returns a function that calls the handler with the body or, if it takes none, without."""
    if takes is not None:
        return cast("Run[C]", handler)
    alone = cast("Callable[[Request[C]], Awaitable[Response]]", handler)
    return lambda request, _body: alone(request)


def _example_of(kind: type[object] | None) -> object:
    """Returns the example that a struct has for the API reference, if any; its parent's would lack fields."""
    make = cast("Callable[[], object] | None", getattr(kind, "example", None))
    return make() if make is not None and "example" in vars(kind) else None


def _description(function: Callable[..., object]) -> str:
    return " ".join(line.strip() for line in (function.__doc__ or "").splitlines()).strip()
