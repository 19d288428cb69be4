"""A form of every kind of field, behind the server's own checks: what tests of forms send to."""

from typing import Annotated, ClassVar, Final

import msgspec
from msgspec import Meta

from pressroom.domains.accounts.models import Caller
from pressroom.errors import (
    Code,
    Conflict,
    FieldError,
    Limit,
    RateLimited,
    Unavailable,
    Unprocessable,
    WrongCredentials,
)
from pressroom.web.access import Page, Visitor
from pressroom.web.json_bodies import Body
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.rendering import redirect, render, unchanged
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


class Place(Body):
    """Somewhere."""

    name: Annotated[str, Meta(min_length=1, max_length=20)]
    latitude: Annotated[float, Meta(ge=-90, le=90)]


class Example(Body):
    """One field of each kind."""

    label: Annotated[str, Meta(min_length=1, max_length=10)]
    scopes: Annotated[list[str], Meta(min_length=1, max_length=3)]
    networks: Annotated[list[Annotated[str, Meta(max_length=5)]], Meta(max_length=3)] | None = None
    password: Annotated[str, Meta(min_length=3)] | None = None
    count: Annotated[int, Meta(ge=0, le=9)] | None = None
    is_private: bool | None = None
    since: str | None = None
    expiry: str | None = None
    bio: str | None | msgspec.UnsetType = msgspec.UNSET
    place: Place | None = None


FIELDS: Final = FormFields(
    lists={"scopes"},
    lines={"networks"},
    secrets={"password"},
    times={"since", "expiryAt"},
    others={"expiry": "expiryAt"},
)
EDIT: Final = FormFields(lists={"scopes"}, lines={"networks"}, empty_clears={"bio", "isPrivate", "networks", "label"})


async def show(request: Request[Caller], form: FormState) -> Response:
    """The page as plain data: a template's view of the form."""
    seen = {
        "typed": form.typed,
        "errors": {
            name: form.errors(name)
            for name in (*Example.__struct_encode_fields__, "place.name", "place.latitude", "body")
        },
        "faults": len(form.field_errors),
        "message": form.message,
        "retryAfter": form.retry_after,
        "key": form.idempotency_key,
        "label": form.value("label", "New"),
    }
    return Response(200, msgspec.json.encode(seen))


@routes.get("/example", Page(), summary="A form")
async def get(request: Request[Caller]) -> Response:
    return await show(request, FormState())


@routes.submit("/example", Page(), fields=FIELDS, again=show, summary="Send it")
async def send(request: Request[Caller], body: Example) -> Response:
    return Response(200, msgspec.json.encode(body))


@routes.post("/api/example", Visitor(), summary="The same as JSON")
async def send_json(request: Request[Caller], body: Example) -> Response:
    return Response(200, msgspec.json.encode(body))


@routes.submit("/example/edit", Page(), fields=EDIT, again=show, summary="Edit it")
async def edit(request: Request[Caller], body: Example) -> Response:
    return Response(200, msgspec.json.encode(body))


@routes.submit("/example/visitor", Visitor(), again=show, summary="For anybody")
async def visit(request: Request[Caller], body: NoFields) -> Response:
    return redirect("/example", done="signed-out")


FORM: Final = """{% extends "settings.html" %}
{% from "macros/forms.html" import button, checkboxes, field, hidden_key, local_time, summary_of_errors, textarea %}
{% from "macros/ui.html" import copyable, live, time %}
{% block content %}<h1>Example</h1>
{{ summary_of_errors(form, {"label": "Label", "scopes": "Scopes"}) }}
<form class="stack" method="post" action="/example/page">
{{ hidden_key(form) }}{{ field(form, "label", "Label", count=10, autocomplete="username") }}
{{ field(form, "password", "Password", type="password", required=false, autocomplete="current-password") }}
{{ checkboxes(form, "scopes", "Scopes", [("a", "A"), ("b", "B")]) }}
{{ textarea(form, "networks", "Networks", required=false) }}
{{ local_time(form, "since", "Since", required=false) }}
{{ button("Send", busy="Sending…") }}</form>
{{ copyable("to be copied", "the text") }}
<p id="when">{{ time(1_800_000_000_000) }}</p>
{% call live("part", "/example/part", version) %}{% include "example_part" %}{% endcall %}
{% endblock %}"""
PART: Final = """<details id="more"><summary>More</summary>{{ version }}</details><input id="in" aria-label="In">
<p id="state">{{ version }}</p>"""
TEMPLATES: Final = {"example_form": FORM, "example_part": PART}


class Seen:
    """The texts of the pages, and their submitted forms."""

    version = "1"
    polls: ClassVar[list[str | None]] = []
    sent: ClassVar[list[Example]] = []


async def show_page(request: Request[Caller], form: FormState) -> Response:
    """The page with the form, as a package's would be."""
    return await render(request, "example_form", {"version": Seen.version}, form=form)


@routes.get("/example/page", Page(), summary="A page with a form")
async def get_page(request: Request[Caller]) -> Response:
    return await show_page(request, FormState())


@routes.submit("/example/page", Page(), fields=FIELDS, again=show_page, summary="Send it")
async def send_page(request: Request[Caller], body: Example) -> Response:
    Seen.sent.append(body)
    return redirect("/example/page", done="signed-out")


@routes.get("/example/part", Page(), summary="A part that is kept up to date")
async def part(request: Request[Caller]) -> Response:
    Seen.polls.append(request.headers.if_none_match)
    values = {"version": Seen.version}
    return unchanged(request, Seen.version) or await render(request, "example_part", values, version=Seen.version)


ERRORS: Final = {
    "conflict": Conflict("There are five."),
    "unprocessable": Unprocessable([FieldError("label", Code.NOT_ALLOWED, "Not now.")]),
    "many": RateLimited("Too many.", 90, Limit.SESSION_WRITES_PER_MINUTE),
    "wrong": WrongCredentials("Wrong."),
    "away": Unavailable("Away.", 7),
    "bug": KeyError("secret cause"),
}


@routes.submit("/example/{error}/failing", Page(), again=show, summary="Fails")
async def fail(request: Request[Caller], body: NoFields) -> Response:
    raise ERRORS[request.parameters["error"]]
