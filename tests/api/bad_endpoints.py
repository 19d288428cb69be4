"""Accepted and refused bodies for webhook endpoints. The addresses themselves are tried in tests/webhooks."""

from collections.abc import Iterable
from dataclasses import replace

from pressroom.domains.events.models import EventType
from tests.api.bad_values import (
    CHOICE,
    FORMAT,
    REQUIRED,
    TAKEN,
    TYPE,
    Field,
    Said,
    Values,
    bad,
    choice,
    formatted,
    items,
)

EVENTS = [event.value for event in EventType if event is not EventType.WEBHOOK_TEST]
PUBLIC = "https://8.8.8.8/hook"
"""Needs no look-up."""


def kinds(*, null: Said) -> dict[str, Field]:
    """A choice of events, by what follows the field's name."""
    some = items([EVENTS[0]], lambda place: EVENTS[place % len(EVENTS)], 1, len(EVENTS), null=null)
    one = choice(*EVENTS, null=TYPE)
    unknown = Said(400, (("[0]", "invalid_choice"), ("[2]", "invalid_choice")))
    more: Values = {
        "one twice": ([EVENTS[1], EVENTS[0], EVENTS[1]], bad("duplicate", "[2]")),
        "two unknown": (["like", EVENTS[0], "*"], unknown),
    }
    others: Values = {
        "not 'post.created\\x00'": ("post.created\0", FORMAT),
        **{kind: (kind, CHOICE) for kind in ("post.deleted", "postclip.deleted", "comment.deleted", "webhook.test")},
    }
    return {
        "": replace(some, values={**some.values, **more}),
        "[0]": replace(one, values={**one.values, **others}),
    }


WEBHOOK: dict[str, Field] = {
    "url": formatted(
        PUBLIC,
        [
            "https://8.8.8.8",
            "HTTPS://8.8.8.8:8443/a?b=c&d=%20",
            "https://[2001:4860:4860::8888]/",
            "https://8.8.8.8/a\u0308",
            PUBLIC.ljust(2048, "x"),
            PUBLIC + "a\u0308" * 2000,
        ],
        {
            "too_short": [""],
            "too_long": [PUBLIC.ljust(2049, "x"), PUBLIC + "a\u0308" * 2048, "x" * 20_000],
            "invalid_format": [PUBLIC + "\0"],
            "not_allowed": [
                *(" ", "https://", "8.8.8.8", "//8.8.8.8/", "/hook", "http://8.8.8.8/", "ftp://8.8.8.8/", "mailto:a@b"),
                *(
                    "https://127.0.0.1/",
                    "https://10.0.0.1/",
                    "https://[::1]/",
                    "https://localhost/",
                    "https://2130706433/",
                ),
                *(
                    "https://you@8.8.8.8/",
                    "https://8.8.8.8/#x",
                    "https://8.8.8.8:0/",
                    "https://8.8.8.8/ ",
                    "https://8.8.8.8/\n",
                ),
                *("https://8.8.8.8/\x01", "https://8.8.8.8/\u202e", "https://8.8.8.8/%", "https://nowhere.invalid/"),
            ],
        },
        null=REQUIRED,
    ),
    **{f"events{place}": field for place, field in kinds(null=REQUIRED).items()},
}
EDITED_EVENTS: dict[str, Field] = {f"events{place}": field for place, field in kinds(null=TAKEN).items()}
NO_MOMENTS: dict[str, Iterable[object]] = {
    "too_long": ["2027-01-01T00:00:00." + "0" * 20 + "Z", "9" * 20_000, "\u00e4" * 41],
    "invalid_format": [
        *("", " ", "now", "0", "2027-01-01", "2027-01-01T00:00:00", "2027-01-01 00:00Z", "2027-01-01T00:00z", "30d"),
        *("2027-02-29T00:00Z", "2027-13-01T00:00Z", "2027-01-01T24:01Z", "0000-01-01T00:00Z", "2027-01-01T00:00Z\0"),
        *("2027-01-01T00:00Z\n", "\u0662027-01-01T00:00Z"),
    ],
}
REDELIVERY: dict[str, Field] = {
    "since": formatted(
        "2027-01-01T00:00:00.000Z",
        ["2027-01-15T08:00:00.000Z", "0001-01-01T00:00Z", "20270101T000000+0200", "2027-01-01T00:00:00.000000-23:59"],
        NO_MOMENTS,
        null=REQUIRED,
    ),
    "until": formatted(
        "9999-12-31T23:59:59.999Z",
        ["2027-01-01T00:00:00.000Z", "2027-01-01T01:00+01:00", "2027-01-15T08:00:00.001Z"],
        {**NO_MOMENTS, "out_of_range": ["2026-12-31T23:59:59.999Z", "2027-01-01T00:59+01:00", "0001-01-01T00:00Z"]},
        null=TAKEN,
    ),
    **{f"eventTypes{place}": field for place, field in kinds(null=TAKEN).items()},
}
