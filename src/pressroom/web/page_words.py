"""What pages say in place of messages that are written for programs (docs/web-app.md#forms). JSON answers keep them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pressroom.errors import FieldError, PressroomError

RELOAD: Final = "The page sent something that is not known here. Load it again and fill it in once more."

_WORDS: Final = (
    (
        re.compile(r"There is no such field.*|Send one Idempotency-Key.*|Send this field once\.|Must be an object\."),
        RELOAD,
    ),
    (re.compile(r"Must be a (string|list)\.|.*Send it without the Content-Transfer-Encoding.*"), RELOAD),
    (re.compile(r"Must be never, .*"), "Choose when it ends, or fill in a date and a time that are to come."),
    (re.compile(r"Must be an ISO 8601 time.*"), "Fill in a date and a time."),
    (re.compile(r"Must be one of .*"), "Choose from what is offered."),
    (re.compile(r"Must be true or false\."), "Tick it, or leave it."),
    (re.compile(r"Must be text: .*"), "Must be text, not a file."),
    (re.compile(r"[a-z]+[.:][a-z]+ is given twice\."), "Something is chosen twice."),
    (re.compile(r"Must not be before since\."), "Must not be before “From”."),
    (re.compile(r"Give password or code\."), "Fill in your password or a code."),
    (re.compile(r"Give at least one of .*"), "Change something first."),
)
_ROUTE: Final = re.compile(
    r"(, signed in)?: (GET|POST|PUT|PATCH|DELETE) /api/[^\s]*[^\s.]| \((GET|POST|PUT|PATCH|DELETE) /api/[^)]*\)"
)
_WAIT: Final = re.compile(r"; try again in [0-9,]+ s\b")


def field_errors_for_people(field_errors: Sequence[FieldError]) -> list[FieldError]:
    """Returns errors of a form in words for whoever fills it in; a header is none of their fields."""
    return [
        replace(
            error,
            field="body" if error.field.startswith("header.") else error.field,
            message=next((words for pattern, words in _WORDS if pattern.fullmatch(error.message)), error.message),
        )
        for error in field_errors
    ]


def message_for_people(error: PressroomError) -> str:
    """Returns the message of an error without routes of the API and without the wait, which pages tell themselves."""
    return _WAIT.sub("", _ROUTE.sub("", error.message))
