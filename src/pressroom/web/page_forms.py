"""Forms of pages: the declaration in a route, and the state in which a page shows a form (docs/web-app.md#forms)."""

import re
import secrets
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from pressroom.errors import (
    Conflict,
    FieldError,
    Invalid,
    PressroomError,
    TooMany,
    Unavailable,
    Unprocessable,
    WrongCredentials,
)
from pressroom.web.error_responses import label_of
from pressroom.web.json_bodies import Body

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
    """Returns errors of a form in words for people; a header is none of their fields."""
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


IDEMPOTENCY_FIELD: Final = "idempotency_key"
"""The hidden field that makes a form act once, however often it is sent."""

CALLED_OFF: Final = "called_off"
"""The field by which the script of a page calls an upload off (docs/web-app.md#forms)."""

PASSWORD_FIELD: Final = "confirmed_password"  # noqa: S105  # a name
"""The field in which a form that was held back brings the password that was asked for again."""

ZONE_SUFFIX: Final = "_zone"
"""Ends the name of the hidden field that holds the zone of a local time, such as `+02:00`; empty: UTC."""

OTHER: Final = "other"
"""The choice that stands for the value of another field."""

SHOWN_AGAIN: Final = (Invalid, Unprocessable, Conflict, TooMany, WrongCredentials, Unavailable)
"""Errors after which the page shows its form again; after all others it shows an error page."""

_ITEM: Final = re.compile(r"\[(\d{1,4})\]")


class NoFields(Body):
    """The body of a form that has nothing to fill in, such as one button."""


@dataclass(frozen=True, slots=True)
class FormFields:
    """How the fields of a form become the struct of its route. Numbers and booleans follow from the struct's types.

    Attributes:
        lists: Fields that may come several times: a list of them all.
        lines: Text areas that hold one item of a list on each line.
        names: Those of them that hold user names: an @ before one is left out.
        secrets: Fields that are never shown again and never kept, such as passwords.
        empty_clears: Fields of an edit: left empty, they are cleared; a box that is not ticked is false. Elsewhere an
            empty field is not given.
        empties: Fields of an edit that mean something when they are empty: they are given as empty text.
        times: Local times, whose zone is in the hidden field of the same name and `_zone`.
        others: For a choice, the field that has the value when `other` is chosen.
        per_file: The field that each file input has one of. The one of an input that is left empty does not count.
        in_place: Fields of lists whose places count, so that empty ones stay.
    """

    lists: Set[str] = frozenset()
    lines: Set[str] = frozenset()
    names: Set[str] = frozenset()
    secrets: Set[str] = frozenset()
    empty_clears: Set[str] = frozenset()
    empties: Set[str] = frozenset()
    times: Set[str] = frozenset()
    others: Mapping[str, str] = field(default_factory=dict[str, str])
    per_file: str = ""
    in_place: Set[str] = frozenset()


def new_idempotency_key() -> str:
    """Returns a key for one form."""
    return secrets.token_urlsafe(16)


class FormState(msgspec.Struct, kw_only=True):
    """A form as a page shows it: new, or again with the typed values and their errors.

    Attributes:
        typed: The sent or prefilled values, by field; never a secret.
        field_errors: The errors of single fields.
        message: Why the whole was refused.
        retry_after: The seconds after which it may be sent again, if it was refused for too much.
        status: The status of the response: 200 for a new form.
        was_sent: It was sent before with something else in it, which was done; this was not.
        idempotency_key: The value of the hidden field `IDEMPOTENCY_FIELD`.
        lines: The text areas that hold one item on each line.
    """

    typed: Mapping[str, Sequence[str]] = {}
    field_errors: Sequence[FieldError] = ()
    message: str | None = None
    retry_after: int | None = None
    status: int = 200
    was_sent: bool = False
    idempotency_key: str = msgspec.field(default_factory=new_idempotency_key)
    lines: Set[str] = frozenset()

    @property
    def was_refused(self) -> bool:
        """Whether the form was sent and comes back with errors."""
        return self.status != 200

    def value(self, name: str, default: object = "") -> str:
        """Returns the value that a field shows: the typed one, `default` in a new form."""
        if texts := self.typed.get(name):
            return texts[-1]
        return "" if self.was_refused or default is None else str(default)

    def values_of(self, name: str, default: Sequence[str] = ()) -> Sequence[str]:
        """Returns the values of a field that may come several times."""
        return self.typed.get(name, () if self.was_refused else default)

    def is_ticked(self, name: str, *, default: bool = False) -> bool:
        """Returns whether the box of a boolean is ticked."""
        if name in self.typed or self.was_refused:
            return self.value(name) in TRUE
        return default

    def errors(self, name: str) -> list[str]:
        """Returns the errors of a field and of the items in it."""
        return [self._message(error, name) for error in self.field_errors if base_name(error.field) == name]

    def in_order(self, names: Sequence[str]) -> list[FieldError]:
        """Returns the errors in the order of these fields, which is that of the page; others come last."""
        places = {name: place for place, name in enumerate(names)}
        return sorted(self.field_errors, key=lambda error: places.get(base_name(error.field), len(places)))

    def _message(self, error: FieldError, name: str) -> str:
        found = _ITEM.search(error.field) if name in self.lines else None
        if found is None:
            return error.message
        numbers = [number for number, line in enumerate(self.value(name).split("\n"), 1) if line.strip()]
        place = int(found[1])
        return f"Line {numbers[place] if place < len(numbers) else place + 1}: {error.message}"


TRUE: Final = frozenset({"true", "on", "1"})
"""The value that a ticked box sends."""


def base_name(path: str) -> str:
    """`ipAllowlist[3]` → `ipAllowlist`: the field of the form that an error is shown beside."""
    return path.partition("[")[0]


def refused_state(
    error: PressroomError, typed: Mapping[str, Sequence[str]], fields: FormFields, idempotency_key: str | None
) -> FormState:
    """Returns the state in which a form comes back after an error.

    Args:
        error: One of `SHOWN_AGAIN`.
        typed: The sent values, by field.
        fields: The route's declaration.
        idempotency_key: The key that was sent. It is kept, for what failed may have been done.
    """
    by_field = isinstance(error, Invalid | Unprocessable)
    return FormState(
        typed={name: texts for name, texts in typed.items() if name not in fields.secrets},
        field_errors=field_errors_for_people(error.field_errors) if by_field else (),
        message=None if by_field else message_for_people(error),
        retry_after=error.retry_after if isinstance(error, TooMany | Unavailable) else None,
        status=label_of(error)[0],
        idempotency_key=idempotency_key or new_idempotency_key(),
        lines=fields.lines,
    )


def reused_key_state(typed: Mapping[str, Sequence[str]], fields: FormFields) -> FormState:
    """Returns the form of a key that was already used, with other input.

    It gets a new key, so sending it again performs the change.
    """
    return FormState(typed=typed, status=409, was_sent=True, lines=fields.lines)
