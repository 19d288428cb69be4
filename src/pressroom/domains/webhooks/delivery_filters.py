"""The filters of a list of deliveries, as they stand in a query string."""

from collections.abc import Mapping
from typing import Final

from pressroom.clock import parse_iso
from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.models import CodeClass, DeliveryFilter, State
from pressroom.errors import Code, FieldError, Invalid
from pressroom.web.paging import Page, read_page
from pressroom.web.query import parse_query
from pressroom.web.routing import QueryParameter

CODES: Final = tuple(code for code in CodeClass if code is not CodeClass.UNTRIED)
"""Classes of answers that can be asked for."""

_TIME: Final = {"type": "string", "format": "date-time"}

PARAMETERS: Final = (
    QueryParameter("state", "Those in this state alone.", {"type": "string", "enum": list(State)}),
    QueryParameter("event", "Those of this kind of event alone.", {"type": "string", "enum": list(EventType)}),
    QueryParameter(
        "code",
        "Those whose latest attempt was answered with a code of this class; `none`: without a complete answer.",
        {"type": "string", "enum": list(CODES)},
    ),
    QueryParameter("since", "Those of events from then on, this moment included: ISO 8601 with a zone.", _TIME),
    QueryParameter("until", "Those of events up to then, this moment included.", _TIME),
)


def read_listing(query: str) -> tuple[Page, DeliveryFilter]:
    """Returns the page and the filter that a query string asks for. Raises Invalid with everything that is wrong."""
    given = parse_query(query)
    field_errors: list[FieldError] = []
    page = Page(1)
    try:
        page = read_page(query)
    except Invalid as invalid:
        field_errors += invalid.field_errors
    wanted = read_filter(given, field_errors)
    if field_errors:
        raise Invalid(field_errors)
    return page, wanted


def read_filter(given: Mapping[str, str], field_errors: list[FieldError]) -> DeliveryFilter:
    """Returns the filter of these parameters. Adds their errors to `field_errors` and ignores invalid ones."""
    state = _choice(given, "state", tuple(State), field_errors)
    event = _choice(given, "event", tuple(EventType), field_errors)
    code = _choice(given, "code", CODES, field_errors)
    since, until = (_time(given, field, field_errors) for field in ("since", "until"))
    if since is not None and until is not None and since > until:
        field_errors.append(FieldError("until", Code.OUT_OF_RANGE, "Must not be before since."))
    return DeliveryFilter(
        state=None if state is None else State(state),
        event=None if event is None else EventType(event),
        code=None if code is None else CodeClass(code),
        since=since,
        until=until,
    )


def _choice(
    given: Mapping[str, str], field: str, choices: tuple[str, ...], field_errors: list[FieldError]
) -> str | None:
    value = given.get(field)
    if value is None or value in choices:
        return value
    field_errors.append(FieldError(field, Code.INVALID_CHOICE, f"Must be one of {', '.join(choices)}."))
    return None


def _time(given: Mapping[str, str], field: str, field_errors: list[FieldError]) -> int | None:
    text = given.get(field)
    if text is None:
        return None
    try:
        return parse_iso(text)
    except (ValueError, OverflowError):
        field_errors.append(FieldError(field, Code.INVALID_FORMAT, "Must be an ISO 8601 time with a zone."))
        return None
