"""What a route takes as multipart/form-data, and what came of one form: shapes, limits and decisions. Pure.

`web.multipart` reads forms by these rules; `web.routing` declares them.
"""

import re
from collections import Counter
from collections.abc import Iterable
from enum import Enum
from pathlib import Path
from typing import Final

import msgspec

from pressroom.errors import MAX_FIELD_ERRORS, Code, FieldError, Invalid

MOST_PARTS: Final = 1_000
LONGEST_NAME: Final = 100
"""Characters of a field's or file's name in messages."""

TEXT_BYTES: Final = 64 * 1024
"""Of one text field: more than 5,000 characters take."""

TEXTS_BYTES: Final = 256 * 1024
"""Of all text fields together."""

CHARSET_FIELD: Final = "_charset_"
"""A field that browsers fill with the name of the form's encoding. It may say UTF-8 and is then left out."""

_LONGEST_CONTENT_TYPE: Final = 1_024
_PARAMETER: Final = re.compile(r'\s*;\s*([^\s;="]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^\s;"]+)')
_BOUNDARY: Final = re.compile(r"[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]")
"""RFC 2046, 5.1.1."""

# An open end closes as well: were it searched for from every quote on, time would grow with the square.
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?$)')
_NAME_PARAMETERS: Final = re.compile(r";\s*(name|filename)(\*?)\s*=", re.IGNORECASE)
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_PLAIN_ENCODINGS: Final = frozenset({"7bit", "8bit", "binary"})


class FormRules(msgspec.Struct, frozen=True):
    """What a route takes: at most `files` files of at most `file_bytes` bytes each as `file_field`, and the texts
    named in `fields`, of which those in `repeated` may come more than once."""

    file_field: str
    files: int
    file_bytes: int
    fields: tuple[str, ...] = ()
    repeated: frozenset[str] = frozenset()


class IncomingFile(msgspec.Struct):
    """A file that arrived whole, at `path`, with `size` bytes, the first 4,096 of them in `head`; `digest` is SHA-256.

    `declared_type` and `name` are the client's word, cut to a bounded length: for messages, never for a path.
    """

    path: Path
    size: int
    head: bytes
    declared_type: str | None
    name: str
    digest: str = ""


class SeenFile(msgspec.Struct):
    """What is to be judged of a file: its `place` in the form, the first 4,096 bytes, and the type it was sent as."""

    place: int
    head: bytes
    declared_type: str | None


class Form(msgspec.Struct):
    """A form that was read to its end. With faults it has no files; a text that is at fault is empty or not there.

    `places` counts the files that were sent, good or bad; `seen` has those that are not at fault themselves.
    """

    files: list[IncomingFile]
    texts: dict[str, list[str]]
    field_errors: list[FieldError]
    places: int
    seen: list[SeenFile]


class PartKind(Enum):
    """What a part is taken for."""

    FILE = 1
    TEXT = 2


class FormPart(msgspec.Struct, frozen=True):
    """A part's head, as far as it matters. `filename` is None for a text, and empty for an input left empty."""

    kind: PartKind
    name: str
    filename: str | None
    content_type: str | None
    charset: str | None
    transfer_encoding: str | None


class FieldErrors:
    """What is wrong with a form, so far."""

    def __init__(self) -> None:
        self.found: list[FieldError] = []

    def add(self, field: str, code: Code, message: str) -> None:
        """Writes one fault down. Raises Invalid with all of them when they are too many to be of use."""
        if len(self.found) >= MAX_FIELD_ERRORS:
            raise Invalid(self.found, more=True)
        self.found.append(FieldError(field, code, message))


def malformed(message: str) -> Invalid:
    """The refusal of a body that is no form at all."""
    return Invalid([FieldError("body", Code.INVALID_FORMAT, message)])


def most_bytes(rules: FormRules) -> int:
    """Bytes of a body beyond which it is not read: room for files that are too large or too many to be listed."""
    return 2 * rules.files * rules.file_bytes + 1024 * 1024


def boundary_of(content_type: str) -> str:
    """The boundary that the header Content-Type of a form names. Raises Invalid when it cannot be one."""
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
    """A name that a client chose, cut and cleaned for a message."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text[:LONGEST_NAME])


def ambiguity(headers: Iterable[tuple[str, str]]) -> str | None:
    """Why a part's headers can be read in two ways, as the end of a sentence; None when they cannot."""
    given = list(headers)
    name, times = Counter(name for name, _ in given).most_common(1)[0]
    if times > 1:
        return f"repeats the header {printable(name)}"
    twice = [name for name, times in Counter(_names_given(given)).items() if times > 1]
    return f"gives {twice[0]} twice in Content-Disposition" if twice else None


def marks_file(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether Content-Disposition has `filename*`, the older way of some clients to write names beyond ASCII."""
    return "filename*" in _names_given(headers)


def _names_given(headers: Iterable[tuple[str, str]]) -> list[str]:
    disposition = next((value for name, value in headers if name == "Content-Disposition"), "")
    return [f"{name.lower()}{star}" for name, star in _NAME_PARAMETERS.findall(_QUOTED.sub('""', disposition))]


def encoding_error(part: FormPart) -> str | None:
    """What is wrong with a part's Content-Transfer-Encoding: forms carry bytes as they are (RFC 7578, 4.7)."""
    encoding = part.transfer_encoding
    if encoding is None or encoding.strip().lower() in _PLAIN_ENCODINGS:
        return None
    return f"Send it without the Content-Transfer-Encoding {printable(encoding)!r}: its bytes as they are."


def text_of(raw: bytes, part: FormPart) -> str | FieldError:
    """The text of a field, or the fault (of the field by its name) for which it is not taken."""
    charset = (part.charset or "utf-8").lower().replace("_", "-")
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
    """The schema of such a form for the OpenAPI document: files are binary strings, `texts` the schemas of the rest."""
    file: dict[str, object] = {"type": "string", "format": "binary"}
    files: dict[str, object] = {"type": "array", "items": file, "minItems": 1, "maxItems": rules.files}
    return {
        "type": "object",
        "properties": {rules.file_field: files if rules.files > 1 else file, **texts},
        "required": [rules.file_field],
        "additionalProperties": False,
    }
