"""What a request says of its own repetition: the Idempotency-Key, and what its body was (docs/idempotency.md)."""

from hashlib import sha256

import msgspec

from pressroom.errors import Code, FieldError
from pressroom.web.form_data import Form


def read_key(header: str | None, field_errors: list[FieldError]) -> str | None:
    """The Idempotency-Key that the header names; None: none. Adds to `field_errors` when it is not valid."""
    if header is None:
        return None
    if 1 <= len(header) <= 255 and all("!" <= character <= "~" for character in header):
        return header
    message = "Send one Idempotency-Key of 1 to 255 visible ASCII characters, for example a UUID."
    field_errors.append(FieldError("header.Idempotency-Key", Code.INVALID_FORMAT, message))
    return None


def fingerprint(raw: bytes, form: Form | None) -> str:
    """A hash of a body: of its bytes, or of a form's parts, whose boundary is another one each time."""
    if form is None:
        return sha256(raw).hexdigest()
    files = [(file.name, file.declared_type, file.digest) for file in form.files]
    return sha256(msgspec.json.encode((sorted(form.texts.items()), files))).hexdigest()
