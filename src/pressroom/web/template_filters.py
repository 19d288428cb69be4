"""Filters of templates: numbers, times, names of fields."""

import re
from datetime import datetime
from typing import Final

import msgspec

from pressroom.clock import iso

_ITEM: Final = re.compile(r"\[(\d{1,4})\]")
_NO_ID: Final = re.compile(r"[^\w-]", re.ASCII)


def number(value: int) -> str:
    """`12345` → `12,345`."""
    return f"{value:,}"


def iso_time(at: int | str) -> str:
    """Returns a time of the wire as it is, one in milliseconds as the wire has it."""
    return iso(at) if isinstance(at, int) else at


def shown_time(at: int | str, seconds: bool = False) -> str:
    """`2026-11-20T16:08:12.345Z` → `20 November 2026, 16:08 UTC`, with `seconds` `20 November 2026, 16:08:12 UTC`."""
    moment = datetime.fromisoformat(iso_time(at))
    return f"{moment.day} {moment:%B %Y, %H:%M}{f':{moment:%S}' if seconds else ''} UTC"


def clock_time(at: int | str) -> str:
    """`2026-11-20T16:08:12.345Z` → `16:08`."""
    return f"{datetime.fromisoformat(iso_time(at)):%H:%M}"


def shown_day(at: int | str) -> str:
    """`2026-11-20T16:08:12.345Z` → `20 November`."""
    moment = datetime.fromisoformat(iso_time(at))
    return f"{moment.day} {moment:%B}"


def short_age(at: int | str, now: int) -> str:
    """`5 min`, `5 h`, `3 d`, then the date: `20 Nov`, and of another year `20 Nov 2025`. `now` is in milliseconds."""
    moment, today = datetime.fromisoformat(iso_time(at)), datetime.fromisoformat(iso(now))
    seconds = int((today - moment).total_seconds())
    if seconds < 60:
        return "now"
    for size, most, unit in ((60, 60, "min"), (3_600, 24, "h"), (86_400, 7, "d")):
        if seconds < size * most:
            return f"{seconds // size} {unit}"
    return f"{moment.day} {moment:%b}" + ("" if moment.year == today.year else f" {moment.year}")


def duration(seconds: int) -> str:
    """`45` → `45 seconds`, `150` → `3 minutes`: rounded up, so that waiting so long is enough."""
    for unit, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds > unit:
            return _counted(-(-seconds // unit), name)
    return _counted(seconds, "second")


def laid_out(text: str) -> str:
    """Returns JSON with a line for each value, numbers and strings as they were; any other text as it is."""
    try:
        lines = msgspec.json.format(text, indent=2)
    except (msgspec.DecodeError, RecursionError):
        return text
    # Deep nesting is mostly indentation.
    return lines if len(lines) <= 4 * len(text) + 1_000 else text


def item_number(field: str) -> str:
    """`media[1]` → `2`: which item of a list an error is about, counted from one; empty: none."""
    found = _ITEM.search(field)
    return str(int(found[1]) + 1) if found else ""


def field_id(name: str) -> str:
    """`location.name` → `f-location-name`: the id of a form's field on the page."""
    return "f-" + _NO_ID.sub("-", name)


def _counted(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"
