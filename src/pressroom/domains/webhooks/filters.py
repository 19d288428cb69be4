"""The rows that a filter of deliveries selects (docs/webhooks.md#delivery-log). Pure.

Rows are found by state, kind of event and class of the latest answer, all three for equality, newest first: one range
of an index for each combination that can occur. So a filter that matches nothing reads nothing, however long the list.
"""

from typing import Final

import msgspec

from pressroom.domains.events.models import EventType
from pressroom.domains.webhooks.models import CodeClass, DeliveryFilter, State
from pressroom.ids import BEYOND, first_id

MOST_RANGES: Final = 30
"""Ranges of the widest filter: all pending deliveries."""

FEW_RANGES: Final = 6
"""Ranges of most filters; a statement of its own spares them empty ones."""

_CODES: Final = {
    State.DELIVERED: (CodeClass.SUCCESS,),
    State.FAILED: (CodeClass.NONE, CodeClass.REDIRECT, CodeClass.CLIENT_ERROR, CodeClass.SERVER_ERROR),
    State.PENDING: tuple(CodeClass),
}
"""The states of a row, and the classes of the latest response that a row in this state can have."""


class Range(msgspec.Struct, frozen=True):
    """Rows of one state, one kind of event and one class of answers."""

    state: State
    event: EventType
    code: CodeClass


def is_of_all(wanted: DeliveryFilter) -> bool:
    """Returns whether the filter, but for its times, takes every delivery."""
    return wanted.state is None and wanted.event is None and wanted.code is None


def ranges_of(wanted: DeliveryFilter, *, closed: bool, disabled: bool) -> list[Range]:
    """Returns the ranges of an endpoint's rows that a filter takes; an empty list when no row can match.

    `held` and `cancelled` follow from the endpoint: whether its key has ended, and whether it was disabled.
    """
    return [
        Range(state, event, code)
        for state, codes in _CODES.items()
        for event in EventType
        for code in codes
        if wanted.event in (None, event)
        and wanted.code in (None, code)
        and wanted.state in (None, shown_state(state, event, closed=closed, disabled=disabled))
    ]


def shown_state(state: State, event: EventType, *, closed: bool, disabled: bool) -> State:
    """Returns the state in which a row is shown, given that of its endpoint."""
    if state is not State.PENDING:
        return state
    if closed and event is not EventType.APIKEY_REVOKED:
        return State.CANCELLED
    return State.HELD if disabled else State.PENDING


def bounds_of(wanted: DeliveryFilter, before: str) -> tuple[str, str]:
    """Returns the bounds of the event ids that a filter takes: the lower one included, the upper one excluded.

    `before` is that of the page: all of its events have smaller ids.
    """
    end = BEYOND if wanted.until is None else first_id(wanted.until + 1)
    return ("" if wanted.since is None else first_id(wanted.since)), min(before, end)
