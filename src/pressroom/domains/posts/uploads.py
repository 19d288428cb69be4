"""The form of an upload (SPEC, POST /api/posts/upload)."""

from collections.abc import Iterator
from typing import Final

from pressroom.domains.media.forms import alt_text_faults, file_faults
from pressroom.domains.media.models import FILE_BYTES_BY_KEY, FILE_BYTES_SIGNED_IN, FILES_BY_KEY, FILES_SIGNED_IN
from pressroom.errors import Fault
from pressroom.web.form_data import Form, FormRules
from pressroom.web.routing import FormSpec

_TEXTS: Final = ("content", "visibility", "hubId", "location", "altText")


def _faults(form: Form) -> Iterator[Fault]:
    yield from file_faults(form, "media")
    yield from alt_text_faults(form, "media")


UPLOAD_FORM: Final = FormSpec(
    by_key=FormRules("media", FILES_BY_KEY, FILE_BYTES_BY_KEY, _TEXTS, frozenset({"altText"})),
    signed_in=FormRules("media", FILES_SIGNED_IN, FILE_BYTES_SIGNED_IN, _TEXTS, frozenset({"altText"})),
    json_texts=frozenset({"location"}),
    faults=_faults,
)
