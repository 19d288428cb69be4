"""Forms written by hand, and a reader that holds that nothing is left behind."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from pressroom.errors import Code, FieldError, Invalid
from pressroom.web.multipart import discard, read_form
from pressroom.web.multipart_rules import (
    Form,
    FormRules,
)

RULES = FormRules("media", 4, 200_000, ("content", "location", "altText"), frozenset({"altText"}))
TYPE = "multipart/form-data; boundary=b"
END = b"--b--\r\n"
Seen = tuple[list[tuple[bytes, int, bytes, str | None, str]], dict[str, list[str]], list[FieldError]]


def part(disposition: str, body: bytes = b"", *headers: str, boundary: bytes = b"b") -> bytes:
    """One part with its boundary before it."""
    lines = [f"Content-Disposition: form-data{disposition}", *headers]
    return b"--%b\r\n%b\r\n\r\n%b\r\n" % (boundary, "\r\n".join(lines).encode(), body)


def file(body: bytes = b"bytes", name: str = "a.png", field: str = "media", *headers: str) -> bytes:
    """A file's part."""
    return part(f'; name="{field}"; filename="{name}"', body, *headers)


def text(name: str, body: bytes = b"text", *headers: str) -> bytes:
    """A text field's part."""
    return part(f'; name="{name}"', body, *headers)


async def stream(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Chunks as a server hands them on."""
    for chunk in chunks:
        yield chunk


def read(
    folder: Path,
    body: bytes | Iterable[bytes],
    content_type: str = TYPE,
    length: int | None = None,
    rules: FormRules = RULES,
) -> Form:
    """Reads a form; holds that nothing is left but the files of a good one."""
    chunks = [body] if isinstance(body, bytes) else body
    try:
        form = asyncio.run(read_form(stream(chunks), content_type, length, rules, folder))
    except BaseException:
        assert not list(folder.iterdir())
        raise
    assert {each.path for each in form.files} == set(folder.iterdir())
    assert not (form.files and form.field_errors)
    return form


def seen(form: Form) -> Seen:
    """What of a form does not depend on chance; its files are deleted."""
    files = [(each.path.read_bytes(), each.size, each.head, each.declared_type, each.name) for each in form.files]
    asyncio.run(discard(form))
    assert not any(each.path.exists() for each in form.files)
    return files, form.texts, form.field_errors


def field_errors(folder: Path, body: bytes, rules: FormRules = RULES) -> list[tuple[str, Code]]:
    """The places and faults of a form, whether it was refused as a whole or read to its end."""
    try:
        found = seen(read(folder, body, rules=rules))[2]
    except Invalid as refusal:
        found = refusal.field_errors
    return [(field_error.field, field_error.code) for field_error in found]
