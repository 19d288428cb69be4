"""Texts of the server as admins publish them and everybody reads them: routes and pages (docs/moderation.md#texts)."""

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from pressroom.clock import iso, iso_or_none, parse_iso
from pressroom.domains.accounts.models import Caller
from pressroom.domains.administration.schemas import end_errors
from pressroom.domains.moderation.routes import TAG, admin_of
from pressroom.domains.site_texts import actions
from pressroom.domains.site_texts.models import LONGEST, LONGEST_ANNOUNCEMENT, SiteText, TextName, rendered
from pressroom.errors import Code, FieldError, Invalid, NotFound
from pressroom.settings.values import Signup
from pressroom.text import is_invisible
from pressroom.web.access import AdminOnly, AdminPage, Visitor
from pressroom.web.json_bodies import Body
from pressroom.web.page_forms import FormFields, FormState
from pressroom.web.rendering import redirect, render
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import Routes
from pressroom.web.wire import Time

routes: Final = Routes[Caller](TAG)

ALL: Final = "/api/admin/texts"
PAGE: Final = "/admin/texts"

_NO_TEXT: Final = NotFound("There is no such text.")


class PublishText(Body):
    """A text to publish."""

    text: Annotated[
        str, Meta(max_length=LONGEST, description="CommonMark without HTML and pictures; empty withdraws the text.")
    ]

    ends_at: (
        Annotated[
            str,
            Meta(
                max_length=40,
                description="Of the announcement alone: it is shown until then.",
                extra_json_schema={"format": "date-time"},
            ),
        ]
        | None
    ) = None

    def field_errors(self, now: int) -> Iterator[FieldError]:
        if self.ends_at is not None:
            yield from end_errors("endsAt", self.ends_at, now)

    @property
    def source(self) -> str:
        """The text, or nothing when none of it shows."""
        return "" if is_invisible(self.text) else self.text

    @classmethod
    def example(cls) -> Self:
        return cls(text="News of the harbour, run by the ferry cooperative.")


class SiteTextOut(msgspec.Struct, rename="camel"):
    """A text of the server."""

    name: TextName
    text: Annotated[str, Meta(description="Its Markdown; empty while nothing is published.")]
    updated_at: Annotated[Time | None, Meta(description="When it was published.")]
    ends_at: Annotated[Time | None, Meta(description="Until when the announcement is shown.")]

    @classmethod
    def example(cls) -> Self:
        return cls(TextName.ABOUT, PublishText.example().text, "2026-11-20T16:08:12.345Z", None)


class SiteTextList(msgspec.Struct):
    """All texts of the server."""

    texts: list[SiteTextOut]


def text_shape(text: SiteText) -> SiteTextOut:
    """Returns a text as admins see it."""
    published_at = iso(text.updated_at) if text.source else None
    return SiteTextOut(TextName(text.name), text.source, published_at, iso_or_none(text.ends_at))


@routes.get(
    ALL,
    AdminOnly(),
    summary="List the texts of the server",
    gives=SiteTextList,
    response_example=SiteTextList([SiteTextOut.example()]),
)
async def list_texts(request: Request[Caller]) -> Response:
    """The texts of /about, /terms and /privacy; the rules, which /about, sign-up and reports show; the announcement on
    every page."""
    return json_response(SiteTextList(await _read_all(request)))


@routes.put(
    f"{ALL}/{{name}}",
    AdminOnly(recent=True),
    summary="Publish a text of the server",
    gives=SiteTextOut,
    fails=(_NO_TEXT,),
)
async def publish_text(request: Request[Caller], body: PublishText) -> Response:
    """Replaces the text from the next read on. An empty one is withdrawn."""
    return await _publish(request, body)


@routes.get(PAGE, AdminPage(), summary="Texts of the server")
async def show_texts(request: Request[Caller]) -> Response:
    """The texts, published or not."""
    return await render(request, "administration/texts.html", {"texts": await _read_all(request)})


async def show_editor(request: Request[Caller], form: FormState) -> Response:
    """Renders the form of a text."""
    name = _name(request)
    text = next(each for each in await _read_all(request) if each.name is name)
    longest = LONGEST_ANNOUNCEMENT if name is TextName.ANNOUNCEMENT else LONGEST
    return await render(request, "administration/text.html", {"text": text, "longest": longest}, form=form)


@routes.form(
    f"{PAGE}/{{name}}",
    AdminPage(recent=True),
    fields=FormFields(times={"endsAt"}),
    show=show_editor,
    summary="Publish a text of the server",
)
async def publish_by_form(request: Request[Caller], body: PublishText) -> Response:
    """Publishes like PUT /api/admin/texts/{name}."""
    await _publish(request, body)
    return redirect(PAGE, done="text-published" if body.source else "text-withdrawn")


@routes.get("/about", Visitor(), summary="About this server")
async def show_about(request: Request[Caller]) -> Response:
    """The purpose of this server, and its rules."""
    return await _show(request, TextName.ABOUT, TextName.RULES)


@routes.get("/terms", Visitor(), summary="Terms of this server")
async def show_terms(request: Request[Caller]) -> Response:
    """The terms, as the operator wrote them."""
    return await _show(request, TextName.TERMS)


@routes.get("/privacy", Visitor(), summary="Privacy on this server")
async def show_privacy(request: Request[Caller]) -> Response:
    """The privacy policy, as the operator wrote it."""
    return await _show(request, TextName.PRIVACY)


async def _show(request: Request[Caller], *shown: TextName) -> Response:
    texts = await request.db.read(actions.read_texts)
    values = {
        "page": shown[0].value,
        "shown": {name.value: texts[name] for name in shown if name in texts},
        "updated_at": texts[shown[0]].updated_at if shown[0] in texts else None,
        "published": {name.value for name in texts},
        "may_sign_up": request.settings.signup is Signup.OPEN,
    }
    return await render(request, "administration/site_text.html", values, script=False)


async def _publish(request: Request[Caller], body: PublishText) -> Response:
    name = _name(request)
    _check_announcement(name, body)
    # In a thread: a hostile text of this length takes 0.2 s.
    html = await asyncio.to_thread(partial(rendered, body.source))
    ends_at = None if body.ends_at is None else parse_iso(body.ends_at)
    return await request.once(actions.publish_text, text_shape, admin_of(request), name, body.source, html, ends_at)


def _check_announcement(name: TextName, body: PublishText) -> None:
    """Raises Invalid for an announcement that is too long, and for another text that has an end."""
    if name is not TextName.ANNOUNCEMENT and body.ends_at is not None:
        raise Invalid([FieldError("endsAt", Code.NOT_ALLOWED, "Only the announcement has an end.")])
    if name is TextName.ANNOUNCEMENT and len(body.text) > LONGEST_ANNOUNCEMENT:
        raise Invalid([FieldError("text", Code.TOO_LONG, f"At most {LONGEST_ANNOUNCEMENT:,} characters.")])


async def _read_all(request: Request[Caller]) -> list[SiteTextOut]:
    texts = await request.db.read(actions.read_texts)
    return [text_shape(texts.get(name, SiteText(name, "", "", 0))) for name in TextName]


def _name(request: Request[Caller]) -> TextName:
    """Returns the text that the path names. Raises NotFound."""
    try:
        return TextName(request.parameters["name"])
    except ValueError:
        raise _NO_TEXT from None
