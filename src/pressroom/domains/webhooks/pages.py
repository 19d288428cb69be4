"""The pages of endpoints: adding, watching, testing, rotating, replacing, removing, and the list of all
(docs/web-app.md#endpoints).
"""

from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Final

import msgspec

from pressroom.clock import SECOND
from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.keys.actions import get_key
from pressroom.domains.keys.models import ApiKey
from pressroom.domains.webhooks import delivery_pages
from pressroom.domains.webhooks.actions import deliveries, endpoints
from pressroom.domains.webhooks.actions.endpoints import read_statistics
from pressroom.domains.webhooks.delivery_schemas import curl_of
from pressroom.domains.webhooks.events import EVENT_DATA
from pressroom.domains.webhooks.models import ENDPOINTS, EndpointReport, Webhook
from pressroom.domains.webhooks.overview_schemas import overview_shape, statistics_shape
from pressroom.domains.webhooks.routes import add_vetted, named, replace_vetted
from pressroom.domains.webhooks.samples import read_samples
from pressroom.domains.webhooks.schemas import (
    CreateWebhook,
    EditWebhook,
    TestSentOut,
    status_shape,
    webhook_shape,
)
from pressroom.domains.webhooks.statistics import Statistics
from pressroom.errors import Code, FieldError, Invalid
from pressroom.ids import BEYOND
from pressroom.web import template_filters
from pressroom.web.access import Page
from pressroom.web.page_forms import FormFields, FormState, NoFields
from pressroom.web.paging import place_of
from pressroom.web.query import parse_query
from pressroom.web.rendering import own_path, redirect, render, unchanged
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

routes: Final = Routes[Caller]()


_KEY: Final = "/settings/keys/{keyId}"
_NEW: Final = f"{_KEY}/webhooks/new"
_ONE: Final = f"{_KEY}/webhooks/{{webhookId}}"
_ENDPOINT: Final = FormFields(lists={"events"})
_EDIT: Final = FormFields(lists={"events"}, empties={"label"})

ALL: Final = "/settings/webhooks"
SHOWN: Final = 25
"""Endpoints on one page: as many as five active keys can have."""


class MadeSecret(msgspec.Struct, rename="camel"):
    """A secret as its page shows it; None when it was shown before. `expires_at`: of the one before, milliseconds."""

    id: str
    secret: str | None
    missed_since: str | None = None
    expires_at: int | None = None


class NewEndpointPage(msgspec.Struct):
    """The values of the form of a new endpoint."""

    key: ApiKey
    number: int


async def show_new_endpoint(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the form in its state."""
    found = await request.db.read(_read_new, request.caller.account.id, request.parameters["keyId"])
    values: dict[str, object] = {
        "key": found.key,
        "number": found.number,
        "most": ENDPOINTS,
        "replaced": None,
        "in_development": request.settings.dev,
    }
    return await render(request, "webhooks/new.html", values, form=form)


@routes.form(_NEW, Page(recent=True), fields=_ENDPOINT, show=show_new_endpoint, summary="Add a webhook endpoint")
async def add_endpoint(request: Request[Caller], body: CreateWebhook) -> Response:
    """Adds the endpoint and shows its secret, this once."""
    answer = await add_vetted(request, request.once.hiding("secret"), body)
    return await _show_secret(request, answer, "added")


@routes.page(_ONE, Page(), summary="A webhook endpoint")
async def show_endpoint(request: Request[Caller], form: FormState) -> Response:
    """Returns the page of an endpoint, whose form is that of a test."""
    report, deliveries, found = await request.db.read(_read_endpoint, *named(request), request.query)
    values = {
        **_head_of(request, report),
        **deliveries,
        "statistics": statistics_shape(found),
        "was_sent": found.last_month.total > 0,
    }
    return await render(request, "webhooks/endpoint.html", values, form=form)


@routes.get(f"{_ONE}/head", Page(), summary="How a webhook endpoint does, as part of its page")
async def endpoint_head(request: Request[Caller]) -> Response:
    """The head of the endpoint's page; 204 while nothing in it has changed."""
    values = _head_of(request, await request.db.read(endpoints.get_status, *named(request)))
    version = str(values["version"])
    return unchanged(request, version) or await render(
        request, "webhooks/_head.html", values, form=FormState(), version=version
    )


@routes.submit(f"{_ONE}/test", Page(), again=show_endpoint, summary="Send a test")
async def send_test(request: Request[Caller], body: NoFields) -> Response:
    """Queues a test; its outcome appears in the head of the endpoint's page."""
    await request.once(deliveries.send_test, TestSentOut, *named(request))
    return redirect(_path(request, _ONE), done="test-sent")


@routes.submit(f"{_ONE}/pause", Page(), again=show_endpoint, summary="Pause a webhook endpoint")
async def pause(request: Request[Caller], body: NoFields) -> Response:
    """Pauses the endpoint."""
    await request.once(endpoints.pause, _id_of, *named(request), request.caller.source)
    return _led_back(request, "endpoint-paused")


@routes.submit(f"{_ONE}/resume", Page(), again=show_endpoint, summary="Resume a webhook endpoint")
async def resume(request: Request[Caller], body: NoFields) -> Response:
    """Resumes the endpoint."""
    await request.once(endpoints.resume, _id_of, *named(request), request.caller.source)
    return _led_back(request, "endpoint-resumed")


async def show_edit(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the form in its state."""
    report = await request.db.read(endpoints.get_status, *named(request))
    return await render(request, "webhooks/edit.html", _head_of(request, report), form=form)


@routes.form(f"{_ONE}/edit", Page(), fields=_EDIT, show=show_edit, summary="Change the events or label of an endpoint")
async def edit_endpoint(request: Request[Caller], body: EditWebhook) -> Response:
    """Changes the endpoint's event types and its label."""
    kinds, source = body.kinds(), request.caller.source
    if kinds is None:  # The form has the boxes: none of them is ticked.
        raise Invalid([FieldError("events", Code.TOO_FEW, "Choose at least one.")])
    await request.once(endpoints.change_webhook, _id_of, *named(request), kinds, body.label, source)
    return _led_back(request, "endpoint-changed")


async def show_rotation(request: Request[Caller], form: FormState) -> Response:
    """Returns the page that asks whether the secret is to be rotated."""
    report = await request.db.read(endpoints.get_status, *named(request))
    return await render(request, "webhooks/rotate.html", _head_of(request, report), form=form)


@routes.form(f"{_ONE}/rotate", Page(recent=True), show=show_rotation, summary="Rotate a signing secret")
async def rotate_secret(request: Request[Caller], body: NoFields) -> Response:
    """Makes a new secret and shows it, this once."""
    webhook_id = request.parameters["webhookId"]
    answer = await request.once.hiding("secret")(
        endpoints.rotate_secret,
        lambda rotated: MadeSecret(webhook_id, rotated[0], expires_at=rotated[1]),
        *named(request),
        request.caller.source,
    )
    return await _show_secret(request, answer, "rotated")


@routes.get(f"{_ONE}/replace", Page(recent=True), summary="The form of an endpoint that takes the place of another")
async def replacement(request: Request[Caller]) -> Response:
    """The form, filled in from the endpoint that is to be replaced."""
    return await show_replacement(request, None)


async def show_replacement(request: Request[Caller], form: FormState | None) -> Response:
    """Returns the page with the form in its state; None: filled in from the endpoint that is to be replaced."""
    report = await request.db.read(endpoints.get_status, *named(request))
    webhook = report.webhook
    if form is None:
        form = FormState(typed={"url": [webhook.url], "events": webhook.events.split()})
    figures = status_shape(report)
    values: dict[str, object] = {
        "key": report.key,
        "replaced": webhook,
        "in_development": request.settings.dev,
        "waiting": figures.waiting,
        "more_waiting": figures.more_waiting,
    }
    return await render(request, "webhooks/new.html", values, form=form)


@routes.submit(
    f"{_ONE}/replace", Page(recent=True), fields=_ENDPOINT, again=show_replacement, summary="Replace a webhook endpoint"
)
async def replace_endpoint(request: Request[Caller], body: CreateWebhook) -> Response:
    """Puts another endpoint in the place of this one, shows its secret, and offers the events since."""
    answer = await replace_vetted(request, request.once.hiding("secret"), body)
    return await _show_secret(request, answer, "replaced")


async def show_removal(request: Request[Caller], form: FormState) -> Response:
    """Returns the page that asks whether the endpoint is to be removed."""
    report = await request.db.read(endpoints.get_status, *named(request))
    return await render(request, "webhooks/remove.html", _head_of(request, report), form=form)


@routes.form(f"{_ONE}/remove", Page(), show=show_removal, summary="Remove a webhook endpoint")
async def remove_endpoint(request: Request[Caller], body: NoFields) -> Response:
    """Removes the endpoint."""
    webhook_id = request.parameters["webhookId"]
    source = request.caller.source
    await request.once(endpoints.remove_webhook, lambda _: {"id": webhook_id}, *named(request), source)
    return redirect(_path(request, _KEY), done="endpoint-removed")


@cache
def receiver_code() -> dict[str, str]:
    """Returns the programs with which receivers verify deliveries, by name (docs/webhooks.md#signatures)."""
    shown, modules = files("pressroom.web") / "templates" / "webhooks" / "code", files("pressroom.receivers")
    programs = {file.name.removesuffix(".txt"): file for file in shown.iterdir() if file.name.endswith(".txt")}
    programs |= {name: modules / name for name in ("verification.py", "verification.mjs")}
    return {name: file.read_text("utf-8") for name, file in programs.items()}


async def _read_new(tx: Tx, account_id: str, key_id: str) -> NewEndpointPage:
    key = await get_key(tx, account_id, key_id)
    return NewEndpointPage(key, len(await endpoints.list_webhooks(tx, account_id, key_id, BEYOND, ENDPOINTS)))


async def _read_endpoint(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, query: str
) -> tuple[EndpointReport, dict[str, object], Statistics]:
    report = await endpoints.get_status(tx, account_id, key_id, webhook_id)
    deliveries = await delivery_pages.read_deliveries(tx, report.key, report.webhook, query)
    return report, deliveries, await read_statistics(tx, account_id, report.webhook)


def _head_of(request: Request[Caller], report: EndpointReport) -> dict[str, object]:
    """Returns the values of the head of an endpoint's page. `version` changes with any of them."""
    now = request.clock.now()
    until = report.webhook.previous_secret_expires_at
    values: dict[str, object] = {
        "key": report.key,
        "endpoint": webhook_shape(report.webhook, now),
        "report": status_shape(report),
        "overlap": None if until is None or until <= now else -(-(until - now) // SECOND),
    }
    overlap = values["overlap"]
    shown = [values["endpoint"], values["report"], report.key.status(now)]
    text = template_filters.duration(overlap) if isinstance(overlap, int) else ""
    digest = blake2b(msgspec.json.encode([*shown, text]), digest_size=8).hexdigest()
    return {**values, "version": digest}


async def _show_secret(request: Request[Caller], answer: Response, act: str) -> Response:
    """Returns the page of a new secret, or of one that was shown before."""
    made = msgspec.json.decode(answer.body, type=MadeSecret)
    account_id, key_id = request.caller.account.id, request.parameters["keyId"]
    key = await request.db.read(get_key, account_id, key_id)
    values = {"key": key, "made": made, "act": act, "code": receiver_code()}
    return await render(request, "webhooks/secret.html", values, secret=True)


def _id_of(webhook: Webhook) -> dict[str, str]:
    return {"id": webhook.id}


def _led_back(request: Request[Caller], done: str) -> Response:
    """Returns the redirection to the page that the form stood on: `next`, or the endpoint's own."""
    return redirect(own_path(parse_query(request.query).get("next"), _path(request, _ONE)), done=done)


def _path(request: Request[Caller], pattern: str) -> str:
    return pattern.format(**request.parameters)


@routes.get(ALL, Page(), summary="The webhook endpoints of all keys")
async def show_all(request: Request[Caller]) -> Response:
    """The endpoints of all keys with their health, newest first; `edit` names the one whose form is open."""
    return await render(request, "webhooks/all.html", await _all_of(request), form=FormState())


@routes.get(f"{ALL}/list", Page(), summary="The webhook endpoints of all keys, as part of their page")
async def list_all(request: Request[Caller]) -> Response:
    """The list of that page; 204 while nothing in it has changed."""
    values = await _all_of(request)
    version = str(values["version"])
    return unchanged(request, version) or await render(
        request, "webhooks/_all.html", values, form=FormState(), version=version
    )


async def _all_of(request: Request[Caller]) -> dict[str, object]:
    """Returns the values of the list of all endpoints. `version` changes with any endpoint shown."""
    before, now = place_of(request.query), request.clock.now()
    found = await request.db.read(endpoints.list_all, request.caller.account.id, before or BEYOND, SHOWN + 1)
    shown = [overview_shape(each, now) for each in found[:SHOWN]]
    return {
        "endpoints": shown,
        "edited": parse_query(request.query).get("edit", ""),
        "next_page": f"{ALL}?before={found[SHOWN - 1].webhook.id}" if len(found) > SHOWN else None,
        "first_page": ALL if before else None,
        "version": blake2b(msgspec.json.encode(shown), digest_size=8).hexdigest(),
    }


@routes.get("/settings/keys/{keyId}/webhooks/{webhookId}/samples", Page(), summary="Sample messages of an endpoint")
async def show_samples(request: Request[Caller]) -> Response:
    """A message of the chosen kind of event, as the endpoint would receive it."""
    key, webhook, samples = await request.db.read(read_samples, *named(request))
    wanted = parse_query(request.query).get("event", "")
    sample = next((each for each in samples if each.event == wanted), samples[0])
    values: dict[str, object] = {
        "key": key,
        "endpoint": webhook,
        "sample": sample,
        "curl": curl_of(webhook.url, sample.headers, sample.body),
        "kinds": [data.event for data in EVENT_DATA],
    }
    return await render(request, "webhooks/samples.html", values, form=FormState(typed={"event": [sample.event]}))
