"""The texts of a form as the struct of its route, by the same rules as JSON."""

from typing import TypeVar

import msgspec

from pressroom.errors import Code, FieldError, Invalid
from pressroom.web import json_bodies
from pressroom.web.multipart_rules import Form
from pressroom.web.routing import FormSpec

B = TypeVar("B", bound=msgspec.Struct)


def read_texts(spec: FormSpec, form: Form, kind: type[B], now: int) -> B:
    """Returns the texts of `form` as a `kind`. Raises Invalid with all errors of the form.

    A field left empty counts as not given, since browsers send every field of a form. `now` is in milliseconds.
    """
    field_errors = [*form.field_errors, *spec.field_errors(form)]
    value: dict[str, object] = {}
    for name, sent in form.texts.items():
        texts = [text.replace("\r\n", "\n") for text in sent]  # Browsers send every line break as these two.
        if name in spec.by_key.repeated:
            value[name] = texts
        elif texts[0] and name in spec.json_texts:
            value[name] = _json(name, texts[0], field_errors)
        elif texts[0]:
            value[name] = texts[0]
    body = json_bodies.decode(kind, msgspec.json.encode(value), field_errors, now)
    if field_errors:
        raise Invalid(field_errors)
    return body


def _json(name: str, text: str, field_errors: list[FieldError]) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        field_errors.append(FieldError(name, Code.INVALID_FORMAT, "Must be serialised JSON."))
        return None
