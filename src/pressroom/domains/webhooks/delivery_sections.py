"""The deliveries of an endpoint as pages show them: filtered by the page's address, and kept up to date by themselves.

A page of another module reads the section in its own transaction and includes `webhooks/_deliveries.html`:

    section = await read_section(tx, key, webhook, request.query)    →    {"deliveries": section}
"""

import hashlib
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

import msgspec

from pressroom.db import Tx
from pressroom.domains.keys.models import ApiKey, KeyStatus
from pressroom.domains.webhooks.actions.deliveries import list_filtered
from pressroom.domains.webhooks.delivery_filters import CODES, read_filter
from pressroom.domains.webhooks.models import Delivery, DeliveryFilter, State, Webhook
from pressroom.domains.webhooks.schemas import DeliveryOut, delivery_shape
from pressroom.errors import FieldError
from pressroom.ids import BEYOND
from pressroom.web.page_form_bodies import with_zone
from pressroom.web.page_forms import ZONE_SUFFIX, FormState, field_errors_for_people
from pressroom.web.paging import place_of
from pressroom.web.query import parse_filled

SHOWN: Final = 20
"""Deliveries on one page."""

_FIELDS: Final = ("state", "event", "code", "since", "until")
_TIMES: Final = ("since", "until")
_NAMED: Final = frozenset({*_FIELDS, *(name + ZONE_SUFFIX for name in _TIMES)})


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
