"""How a request is told from a repetition: by its Idempotency-Key and its body (docs/idempotency.md)."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

import msgspec

from pressroom.errors import Code, FieldError
from pressroom.web.multipart_rules import Form

_VALID: Final = re.compile("[!-~]{1,255}")


def read_key(header: str | None, field_errors: list[FieldError]) -> str | None:
    """Returns the Idempotency-Key, None without one. Adds to `field_errors` when it is not valid."""
    if header is None:
        return None
    if _VALID.fullmatch(header):
        return header
    message = "Send one Idempotency-Key of 1 to 255 visible ASCII characters, for example a UUID."
    field_errors.append(FieldError("header.Idempotency-Key", Code.INVALID_FORMAT, message))
    return None


def fingerprint(raw: bytes, form: Form | None) -> str:
    """Returns a hash of a body: of its bytes, or of the parts of a form, whose boundary differs each time."""
    if form is None:
        return sha256(raw).hexdigest()
    files = [(file.name, file.declared_type, file.digest) for file in form.files]
    return sha256(msgspec.json.encode((sorted(form.texts.items()), files))).hexdigest()


def typed_fingerprint(typed: Mapping[str, Sequence[str]]) -> str:
    """Returns a hash of what was typed into the form of a page, which holds no secrets."""
    return sha256(msgspec.json.encode(sorted(typed.items()))).hexdigest()
