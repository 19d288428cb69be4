"""Deliveries on pages: those of an endpoint, one in full, and sending them again (docs/web-app.md#deliveries).

The section of deliveries is filtered by the address of its page, and kept up to date by itself. A page of another
module reads it in its own transaction and includes `webhooks/_deliveries.html`:

    section = await read_section(tx, key, webhook, request.query)    →    {"deliveries": section}
"""

import hashlib
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

import msgspec

from pressroom.clock import DAY, iso, parse_iso
from pressroom.db import Tx
from pressroom.domains.accounts.models import Caller
from pressroom.domains.keys.actions import get_key
from pressroom.domains.keys.models import ApiKey, KeyStatus
from pressroom.domains.webhooks.actions import deliveries
from pressroom.domains.webhooks.actions.deliveries import list_filtered
from pressroom.domains.webhooks.actions.endpoints import get_with_key
from pressroom.domains.webhooks.delivery_filters import CODES, read_filter
from pressroom.domains.webhooks.delivery_schemas import DeliveryDetailOut, as_curl, delivery_detail_shape, preview_shape
from pressroom.domains.webhooks.models import (
    Delivery,
    DeliveryFilter,
    DeliveryRecord,
    Redelivery,
    RedeliveryPreview,
    State,
    Webhook,
)
from pressroom.domains.webhooks.schemas import DeliveryOut, RedeliveredOut, RedeliverEvents, delivery_shape
from pressroom.errors import FieldError
from pressroom.ids import BEYOND
from pressroom.web.access import Page
from pressroom.web.page_form_bodies import with_zone
from pressroom.web.page_forms import ZONE_SUFFIX, FormFields, FormState, NoFields, field_errors_for_people
from pressroom.web.paging import place_of
from pressroom.web.query import parse_filled
from pressroom.web.rendering import redirect, render, unchanged
from pressroom.web.request import Request
from pressroom.web.response import Response
from pressroom.web.routing import Routes

SHOWN: Final = 20
"""Deliveries on one page."""

_FIELDS: Final = ("state", "event", "code", "since", "until")
_TIMES: Final = ("since", "until")
_NAMED: Final = frozenset({*_FIELDS, *(name + ZONE_SUFFIX for name in _TIMES)})

routes: Final = Routes[Caller]()
_ONE: Final = "/settings/keys/{keyId}/webhooks/{webhookId}"
_DELIVERY: Final = _ONE + "/deliveries/{deliveryId}"
_SPAN: Final = FormFields(lists={"eventTypes"}, times={"since", "until"})


class DeliverySection(msgspec.Struct):
    """The values of `webhooks/_deliveries.html`.

    Attributes:
        path: The path of the endpoint's page.
        rows: The deliveries, newest event first.
        form: The filters as they were given, and their errors.
        is_filtered: Whether there is a filter.
        address: The address of the part that the page polls.
        version: The version of the part, which changes with its content.
        next_page: The address of the next page, if there is one.
        first_page: The address of the first page, if this is another.
        is_over: Whether the key has ended and no shown delivery is pending: then the part never changes again.
        states: The choices of the filter by state.
        codes: The choices of the filter by class of codes.
    """

    path: str
    rows: list[DeliveryOut]
    form: FormState
    is_filtered: bool
    address: str
    version: str
    next_page: str | None
    first_page: str | None
    is_over: bool
    states: tuple[str, ...] = tuple(State)
    codes: tuple[str, ...] = CODES


async def read_section(tx: Tx, key: ApiKey, webhook: Webhook, query: str) -> DeliverySection:
    """Returns the deliveries of an endpoint of the key that the query string of a page asks for.

    Empty fields count as not given. An invalid filter is ignored, and its error is shown beside it.
    """
    given = {name: text for name, text in parse_filled(query).items() if name in _NAMED}
    field_errors: list[FieldError] = []
    wanted = _read(given, field_errors)
    cursor = place_of(query, "cursor")
    found = await list_filtered(tx, key.account_id, webhook, wanted, cursor or BEYOND, SHOWN + 1)
    path = page_of(webhook.key_id, webhook.id)
    filters = urlencode(given)
    is_over = key.status(tx.now) is not KeyStatus.ACTIVE and all(each.state is not State.PENDING for each in found)
    last = found[SHOWN - 1].event_id if len(found) > SHOWN else None
    return DeliverySection(
        path=path,
        rows=[delivery_shape(each) for each in found[:SHOWN]],
        form=FormState(
            typed={name: [text] for name, text in given.items()}, field_errors=field_errors_for_people(field_errors)
        ),
        is_filtered=wanted != DeliveryFilter(),
        address=_address(f"{path}/deliveries", filters, cursor),
        version=version_of(found, is_over=is_over),
        next_page=None if last is None else _address(path, filters, last),
        first_page=None if cursor is None else _address(path, filters, None),
        is_over=is_over,
    )


def page_of(key_id: str, webhook_id: str) -> str:
    """Returns the path of an endpoint's page."""
    return f"/settings/keys/{key_id}/webhooks/{webhook_id}"


def version_of(shown: Sequence[Delivery], *, is_over: bool, beside: object = None) -> str:
    """Returns the version of these deliveries, which changes with any shown value, also one `beside` them."""
    return hashlib.blake2b(msgspec.msgpack.encode((shown, is_over, beside)), digest_size=12).hexdigest()


def _read(given: dict[str, str], field_errors: list[FieldError]) -> DeliveryFilter:
    texts = {name: given[name] for name in _FIELDS if name in given}
    for name in _TIMES:
        if name in texts:
            texts[name] = with_zone(texts[name], given.get(name + ZONE_SUFFIX, ""))
    return read_filter(texts, field_errors)


def _address(path: str, filters: str, cursor: str | None) -> str:
    query = "&".join(part for part in (filters, f"cursor={cursor}" if cursor else "") if part)
    return f"{path}?{query}" if query else path


async def read_deliveries(tx: Tx, key: ApiKey, webhook: Webhook, query: str) -> dict[str, object]:
    """Returns the values of the template `webhooks/_deliveries.html` below an endpoint; `query` is that of the page."""
    return {"deliveries": await read_section(tx, key, webhook, query)}


@routes.get(_ONE + "/deliveries", Page(), summary="The part of an endpoint's page that lists its deliveries")
async def show_rows(request: Request[Caller]) -> Response:
    """The endpoint's deliveries by the page's filters; 204 while nothing in them is new."""
    section = await request.db.read(_read_rows, *_named(request), request.query)
    known = unchanged(request, section.version)
    return known or await render(
        request, "webhooks/_delivery_rows.html", {"deliveries": section}, version=section.version
    )


@routes.page(_DELIVERY, Page(), summary="One delivery with all that was sent")
async def show_delivery(request: Request[Caller], form: FormState) -> Response:
    """A delivery: its body and headers, the secret that signed it, and its attempts."""
    values, version = await _read_delivery(request)
    return await render(request, "webhooks/delivery.html", {**values, "version": version}, form=form)


@routes.get(_DELIVERY + "/state", Page(), summary="The part of a delivery's page that tells how it went")
async def show_state(request: Request[Caller]) -> Response:
    """The state and the attempts; 204 while they are unchanged."""
    values, version = await _read_delivery(request)
    return unchanged(request, version) or await render(
        request, "webhooks/_delivery.html", values, form=FormState(), version=version
    )


@routes.submit(_DELIVERY + "/resend", Page(), again=show_delivery, summary="Send a delivery again")
async def resend_delivery(request: Request[Caller], body: NoFields) -> Response:
    """Queues the same envelope once more."""
    delivery_id = request.parameters["deliveryId"]
    answer = await request.once(
        deliveries.resend, lambda resent: {"queued": resent.queued}, *_named(request), delivery_id
    )
    queued = msgspec.json.decode(answer.body, type=dict[str, bool])["queued"]
    path = f"{_page(request)}/deliveries/{delivery_id}"
    return redirect(path, done="delivery-resent" if queued else "delivery-waits")


async def show_form(request: Request[Caller], form: FormState) -> Response:
    """Returns the page with the form, filled in from the address: `since` and `until` are times with a zone."""
    key, webhook = await request.db.read(get_with_key, *_named(request))
    given = parse_filled(request.query) if request.is_safe else {}
    values: dict[str, object] = {
        **_common(request, key, webhook),
        "since": _time(given, "since") or request.clock.now() - DAY,
        "until": _time(given, "until"),
        "kinds": webhook.events.split(),
        "queued": _count(given, "queued"),
        "skipped": _count(given, "skipped"),
    }
    return await render(request, "webhooks/redeliver.html", values, form=form)


@routes.submit(_ONE + "/redeliver/preview", Page(), fields=_SPAN, again=show_form, summary="Preview a redelivery")
async def preview_redelivery(request: Request[Caller], body: RedeliverEvents) -> Response:
    """Shows what would be queued, and asks whether to."""
    wanted = body.redelivery(request.clock.now())
    key, webhook, found = await request.db.read(_read_preview, *_named(request), wanted)
    values: dict[str, object] = {
        **_common(request, key, webhook),
        "preview": preview_shape(found, wanted),
        "since": iso(wanted.since),
        "event_types": body.event_types or (),
    }
    return await render(request, "webhooks/redeliver_preview.html", values, form=FormState())


@routes.form(_ONE + "/redeliver", Page(), fields=_SPAN, show=show_form, summary="Redeliver events")
async def redeliver_events(request: Request[Caller], body: RedeliverEvents) -> Response:
    """Queues the previewed events again, and shows their number."""
    answer = await request.once(
        deliveries.redeliver,
        lambda result: RedeliveredOut(result.queued, result.skipped_duplicates),
        *_named(request),
        body.redelivery(request.clock.now()),
    )
    done = msgspec.json.decode(answer.body, type=RedeliveredOut)
    figures = {"queued": str(done.queued), "skipped": str(done.skipped_duplicates)}
    return redirect(f"{_page(request)}/redeliver", done="events-redelivered", **figures)


async def _read_rows(tx: Tx, account_id: str, key_id: str, webhook_id: str, query: str) -> DeliverySection:
    return await read_section(tx, *await get_with_key(tx, account_id, key_id, webhook_id), query)


async def _read_delivery(request: Request[Caller]) -> tuple[dict[str, object], str]:
    """Returns the values of a delivery's page, and their version."""
    key, webhook, delivery = await request.db.read(_read_record, *_named(request), request.parameters["deliveryId"])
    shown: DeliveryDetailOut = delivery_detail_shape(delivery)
    is_over = key.status(request.clock.now()) is not KeyStatus.ACTIVE and delivery.state is not State.PENDING
    version = version_of([delivery], is_over=is_over, beside=(webhook.status, key.status(request.clock.now())))
    values = {**_common(request, key, webhook), "delivery": shown, "curl": as_curl(shown), "is_over": is_over}
    return values, version


async def _read_record(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, delivery_id: str
) -> tuple[ApiKey, Webhook, DeliveryRecord]:
    key = await get_key(tx, account_id, key_id)
    return key, *await deliveries.get_delivery(tx, account_id, key_id, webhook_id, delivery_id)


async def _read_preview(
    tx: Tx, account_id: str, key_id: str, webhook_id: str, wanted: Redelivery
) -> tuple[ApiKey, Webhook, RedeliveryPreview]:
    found = await deliveries.preview(tx, account_id, key_id, webhook_id, wanted)
    return *await get_with_key(tx, account_id, key_id, webhook_id), found


def _common(request: Request[Caller], key: ApiKey, webhook: Webhook) -> dict[str, object]:
    return {"key": key, "webhook": webhook, "path": _page(request)}


def _named(request: Request[Caller]) -> tuple[str, str, str]:
    return request.caller.account.id, request.parameters["keyId"], request.parameters["webhookId"]


def _page(request: Request[Caller]) -> str:
    return page_of(request.parameters["keyId"], request.parameters["webhookId"])


def _time(given: dict[str, str], name: str) -> int | None:
    """Returns a time of the query in milliseconds; None when it is absent or malformed."""
    try:
        return parse_iso(given.get(name, ""))
    except (ValueError, OverflowError):
        return None


def _count(given: dict[str, str], name: str) -> int | None:
    """Returns a number of the query; None when it is absent or malformed."""
    text = given.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= len("1000") else None
