"""multipart/form-data without any I/O: the rules of a route's form, the contents of a form, and decisions about it.

A route declares the rules; `web.multipart` reads forms by them, and `read_texts` makes the struct of the route of them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from pressroom.errors import MAX_FIELD_ERRORS, Code, FieldError, Invalid
from pressroom.web import json_bodies

MOST_PARTS: Final = 1_000
"""Parts of a form."""

LONGEST_NAME: Final = 100
"""Characters that a message shows of the name of a field or file."""

TEXT_BYTES: Final = 64 * 1024
"""Bytes of one text field: more than 5,000 characters take."""

TEXTS_BYTES: Final = 256 * 1024
"""Bytes of all text fields together."""

CHARSET_FIELD: Final = "_charset_"
"""A field that browsers fill with the name of the form's encoding. It may name UTF-8 and is then ignored."""

_LONGEST_CONTENT_TYPE: Final = 1_024
_PARAMETER: Final = re.compile(r'\s*;\s*([^\s;="]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;"]+)')
_BOUNDARY: Final = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
"""RFC 2046, 5.1.1."""

# An open end closes as well. Searching for it from every quote would take time that grows with the square.
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?$)')
_NAME_PARAMETERS: Final = re.compile(r";\s*(name|filename)(\*?)\s*=", re.IGNORECASE)
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_PLAIN_ENCODINGS: Final = frozenset({"7bit", "8bit", "binary"})


class FormRules(msgspec.Struct, frozen=True):
    """The form that a route takes.

    Attributes:
        file_field: The field of the files.
        files: How many files there may be.
        file_bytes: How many bytes a file may have.
        fields: The text fields.
        repeated: The text fields that may come more than once.
        optional: The form may come without a file.
    """

    file_field: str
    files: int
    file_bytes: int
    fields: tuple[str, ...] = ()
    repeated: frozenset[str] = frozenset()
    optional: bool = False


class IncomingFile(msgspec.Struct):
    """A file of a form, complete.

    Attributes:
        path: Where it is on the disk.
        size: Its bytes.
        head: The first 4,096 of them.
        declared_type: The Content-Type that the client sent, cut; for messages only.
        name: The name that the client sent, cut; for messages, never for a path.
        digest: Its SHA-256, in hexadecimal digits.
    """

    path: Path
    size: int
    head: bytes
    declared_type: str | None
    name: str
    digest: str = ""


class SeenFile(msgspec.Struct):
    """A file to be checked: its `place` in the form, its first 4,096 bytes, and the type that the client sent."""

    place: int
    head: bytes
    declared_type: str | None


class Form(msgspec.Struct):
    """A form that was read to its end.

    Attributes:
        files: Its files; none when there are field errors.
        texts: The values of each text field; one that is wrong is empty, or not there.
        field_errors: Its faults.
        places: How many files were sent, good or bad.
        seen: Those of them that are not wrong themselves.
        inputs: For each file input, in their order, whether it brought a file: browsers send those left empty as well.
    """

    files: list[IncomingFile]
    texts: dict[str, list[str]]
    field_errors: list[FieldError]
    places: int
    seen: list[SeenFile]
    inputs: list[bool] = []


class PartKind(Enum):
    """The kind of a form's part."""

    FILE = 1
    TEXT = 2


class FormPart(msgspec.Struct, frozen=True):
    """The headers of a part. `filename` is None for a text, and empty for a file input that was left empty."""

    kind: PartKind
    name: str
    filename: str | None
    content_type: str | None
    charset: str | None
    transfer_encoding: str | None


class FieldErrors:
    """The errors found in a form."""

    def __init__(self) -> None:
        self.found: list[FieldError] = []

    def add(self, field: str, code: Code, message: str) -> None:
        """Adds an error. Raises Invalid with all of them when there are too many to be of use."""
        if len(self.found) >= MAX_FIELD_ERRORS:
            raise Invalid(self.found, more=True)
        self.found.append(FieldError(field, code, message))


def malformed(message: str) -> Invalid:
    """Returns the error for a body that is no form at all."""
    return Invalid([FieldError("body", Code.INVALID_FORMAT, message)])


def missing_file(rules: FormRules, places: int) -> Iterator[FieldError]:
    """Yields an error when a form needs a file and none was sent; `places` is how many were."""
    if rules.files and not (places or rules.optional):
        yield FieldError(rules.file_field, Code.REQUIRED, "Send at least one file in this field.")


def most_bytes(rules: FormRules) -> int:
    """Returns the bytes up to which a body is read: enough to report some files that are too large or too many."""
    return 2 * rules.files * rules.file_bytes + 1024 * 1024


def boundary_of(content_type: str) -> str:
    """Returns the boundary that a Content-Type names. Raises Invalid when it names none that is allowed."""
    parameters: list[tuple[str, str]] = []
    at = content_type.find(";") if len(content_type) <= _LONGEST_CONTENT_TYPE else -1
    while at >= 0 and (found := _PARAMETER.match(content_type, at)):
        parameters.append((found[1].lower(), found[2]))
        at = found.end()
    boundaries = [value for name, value in parameters if name == "boundary"]
    if at < 0 or content_type[at:].strip("; \t") or len(boundaries) != 1:
        raise malformed("Content-Type needs exactly one boundary: multipart/form-data; boundary=…")
    boundary = boundaries[0]
    if boundary.startswith('"'):
        boundary = re.sub(r"\\(.)", r"\1", boundary[1:-1])
    if not _BOUNDARY.fullmatch(boundary):
        raise malformed("The boundary in Content-Type must have 1 to 70 of the characters that RFC 2046 allows.")
    return boundary


def printable(text: str) -> str:
    """Returns a name that a client chose, cut and cleaned for a message."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text[:LONGEST_NAME])


def ambiguity(headers: Iterable[tuple[str, str]]) -> str | None:
    """Returns why a part's headers can be read in two ways, as the end of a sentence; None when they cannot."""
    given = list(headers)
    name, times = Counter(name for name, _ in given).most_common(1)[0]
    if times > 1:
        return f"repeats the header {printable(name)}"
    twice = [name for name, times in Counter(_names_given(given)).items() if times > 1]
    return f"gives {twice[0]} twice in Content-Disposition" if twice else None


def marks_file(headers: Iterable[tuple[str, str]]) -> bool:
    """Returns whether Content-Disposition has `filename*`, as some older clients write names beyond ASCII."""
    return "filename*" in _names_given(headers)


def _names_given(headers: Iterable[tuple[str, str]]) -> list[str]:
    disposition = next((value for name, value in headers if name == "Content-Disposition"), "")
    return [f"{name.lower()}{star}" for name, star in _NAME_PARAMETERS.findall(_QUOTED.sub('""', disposition))]


def encoding_error(part: FormPart) -> str | None:
    """Returns the fault of a part's Content-Transfer-Encoding: forms have plain bytes (RFC 7578, 4.7)."""
    encoding = part.transfer_encoding
    if encoding is None or encoding.strip().lower() in _PLAIN_ENCODINGS:
        return None
    return f"Send it without the Content-Transfer-Encoding {printable(encoding)!r}: its bytes as they are."


def text_of(raw: bytes, part: FormPart) -> str | FieldError:
    """Returns the text of a field, or why it is refused."""
    charset = (part.charset or "utf-8").lower().replace("_", "-")
    # ASCII reads the same in every charset that a browser sends, so that its label does not matter.
    if charset not in {"utf-8", "utf8", "us-ascii", "ascii"} and not raw.isascii():
        message = f"The field is in {printable(charset)}; send it in UTF-8."
        return FieldError(part.name, Code.INVALID_FORMAT, message)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return FieldError(part.name, Code.INVALID_FORMAT, f"The field is not UTF-8 (byte {error.start}).")
    if "\x00" in text:
        return FieldError(part.name, Code.INVALID_FORMAT, "Must not hold the NUL character.")
    if part.name == CHARSET_FIELD and text.lower() not in {"utf-8", "utf8", ""}:
        return FieldError(part.name, Code.INVALID_FORMAT, "Send the form in UTF-8: <form accept-charset=utf-8>.")
    return text


def form_schema(rules: FormRules, texts: dict[str, object]) -> dict[str, object]:
    """Returns the form's schema for the OpenAPI document; `texts` has the schemas of the text fields."""
    file: dict[str, object] = {"type": "string", "format": "binary"}
    files: dict[str, object] = {"type": "array", "items": file, "minItems": 1, "maxItems": rules.files}
    return {
        "type": "object",
        "properties": {rules.file_field: files if rules.files > 1 else file, **texts},
        "required": [rules.file_field],
        "additionalProperties": False,
    }


B = TypeVar("B", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class FormSpec:
    """The multipart/form-data body of a route.

    Attributes:
        by_key: The rules of the form in a request by key.
        signed_in: The rules in a request by session.
        json_texts: Those of its texts that are serialised JSON.
        field_errors: Finds the faults of a form as a whole.
    """

    by_key: FormRules
    signed_in: FormRules
    json_texts: frozenset[str]
    field_errors: Callable[[Form], Iterator[FieldError]]


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
