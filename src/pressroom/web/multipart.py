"""Reads a multipart/form-data body as it streams in, in bounded memory and on bounded disk space.

A library finds the parts; this module decides what each may contain. A body that is no form is refused at once. What
is wrong with single parts is collected (docs/errors.md#details): after the first error no more files are stored, and
the rest is read only to find further errors.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from multipart import MultipartError, MultipartSegment, ParserError, ParserLimitReached, PushMultipartParser

from pressroom.errors import Code, FieldError, Invalid
from pressroom.text import find_nearest
from pressroom.threads import run_to_end
from pressroom.web.error_responses import PayloadTooLarge, UnsupportedMediaType
from pressroom.web.json_bodies import MOST_GUESSES
from pressroom.web.multipart_rules import (
    CHARSET_FIELD,
    MOST_PARTS,
    TEXT_BYTES,
    TEXTS_BYTES,
    FieldErrors,
    Form,
    FormPart,
    FormRules,
    IncomingFile,
    PartKind,
    SeenFile,
    ambiguity,
    boundary_of,
    encoding_error,
    malformed,
    marks_file,
    missing_file,
    most_bytes,
    printable,
    text_of,
)
from pressroom.web.spool import Spool, remove_all, unlink

HEAD_BYTES: Final = 4_096
"""Bytes of a file by which its type is recognised."""

AT_ONCE: Final = 64 * 1024
"""Bytes that the parser gets at a time: it copies them."""

PARTS_AT_ONCE: Final = 32
"""Parts after which the parser gives way. It gets hundreds of empty parts at a time."""

MOST_HEADERS: Final = 8
"""Headers of a part; RFC 7578 has three."""

LONGEST_HEADER: Final = 4_096 + 128
"""Bytes of a part's header: a long name, and the words around it."""

_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


async def read_form(
    chunks: AsyncIterator[bytes], content_type: str, content_length: int | None, rules: FormRules, folder: Path
) -> Form:
    """Returns a form that was read to its end. If it has no field errors, its files are the caller's to remove.

    In every other case no file is left behind.

    Args:
        chunks: The body, piece by piece.
        content_type: The header Content-Type.
        content_length: The header Content-Length.
        rules: The form that the route takes.
        folder: Where files are put; it exists.

    Raises:
        UnsupportedMediaType: The Content-Type is another one.
        PayloadTooLarge: The body is too large.
        Invalid: The body is no form, or has too many errors or parts.
        Unavailable: The disk is full.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind != "multipart/form-data":
        raise UnsupportedMediaType(f"This route takes multipart/form-data, not {printable(kind)!r}.")
    most = most_bytes(rules)
    # Before a byte is read: the client learns it without sending the body.
    if content_length is not None and content_length > most:
        raise _too_large(most)
    reading = _Reading(boundary_of(content_type), rules, folder)
    whole = False
    try:
        size = await _take_all(reading, chunks, most)
        if content_length is not None and size != content_length:
            raise malformed(f"The body has {size:,} bytes where Content-Length says {content_length:,}.")
        form = reading.end()
        whole = not form.field_errors
        return form
    finally:
        if not whole:
            # Also when the client hung up or the request was cancelled.
            await remove_all(reading.spools)


async def _take_all(reading: "_Reading", chunks: AsyncIterator[bytes], most: int) -> int:
    """Takes a body to its end and returns its size in bytes. Raises PayloadTooLarge."""
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        # Again while reading: a chunked body has no length, and a length may be a lie.
        if size > most:
            raise _too_large(most)
        for start in range(0, len(chunk), AT_ONCE):
            await reading.take(chunk[start : start + AT_ONCE])
    return size


def _too_large(most: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"A body for this route has at most {most:,} bytes.")


async def discard(form: Form) -> None:
    """Deletes the files of a form. Those that were moved or deleted already do not matter."""
    if form.files:
        await run_to_end(lambda: [unlink(file.path) for file in form.files])


class _Parser(PushMultipartParser):
    """The library's parser in its lenient mode, without the header lines that only this mode accepts.

    The strict mode refuses the line break after the last boundary when that arrives alone.
    """

    def _on_segment_headerline(self, line: bytes) -> None:
        if line[:1] in {b" ", b"\t"} or _CONTROLS.search(line):
            raise ParserError("Folded header, or control character in a header")
        super()._on_segment_headerline(line)


class _Reading:
    """A form that is being read."""

    def __init__(self, boundary: str, rules: FormRules, folder: Path) -> None:
        self.rules = rules
        self.folder = folder
        self.field_errors = FieldErrors()
        self.spools: list[Spool] = []
        self.files: list[IncomingFile] = []
        self.seen: list[SeenFile] = []
        self.texts: dict[str, list[str]] = {}
        self.inputs: list[bool] = []
        self.places = 0
        """File parts that have ended, good or bad."""

        self._given: Counter[str] = Counter()
        self._text_bytes = 0
        self._delimiter = b"--" + boundary.encode()
        self._opening: bytes | None = b""
        self._parser = _Parser(boundary, max_header_size=LONGEST_HEADER, max_header_count=MOST_HEADERS)
        self._parts = 0
        self._part: _Skipped | _Text | _File = _Skipped()

    async def take(self, data: bytes) -> None:
        """Reads the next bytes. Raises Invalid when this is no form."""
        if self._opening is not None:
            # The parser skips a preamble, but differently depending on where chunks end. No client sends one.
            data = self._opening + data
            self._opening = data
            if len(data) < len(self._delimiter) + 2:
                return
            if not data.startswith((self._delimiter, b"\r\n" + self._delimiter)):
                raise malformed("The body must begin with the boundary that Content-Type names, after two hyphens.")
            self._opening = None
        try:
            for event in self._parser.parse(data):
                if isinstance(event, MultipartSegment):
                    self._part = self._begin(event)
                    if self._parts % PARTS_AT_ONCE == 0:
                        await asyncio.sleep(0)
                elif event:
                    await self._part.take(event)
                else:
                    await self._part.end()
        except ParserLimitReached:
            most = f"at most {MOST_HEADERS} headers of {LONGEST_HEADER:,} bytes"
            raise malformed(f"The head of part {self._parts + 1} is too large: {most}.") from None
        except MultipartError as error:
            raise malformed(
                f"The body is no well-formed multipart/form-data at part {self._parts} or after it ({error.args[0]}). "
                "Leave it to an HTTP library to write the form."
            ) from None

    def end(self) -> Form:
        """Returns the form. Raises Invalid when its last boundary is missing."""
        try:
            self._parser.close()
        except MultipartError:
            raise malformed(f"The body ends before its last boundary, in or after part {self._parts}.") from None
        for error in missing_file(self.rules, self.places):
            self.field_errors.add(error.field, error.code, error.message)
        self.texts.pop(CHARSET_FIELD, None)
        found = self.field_errors.found
        return Form([] if found else self.files, self.texts, found, self.places, self.seen, self.inputs)

    def count_text(self, size: int) -> bool:
        """Counts a text of `size` bytes. Returns whether all fit together; the first that does not adds an error."""
        fitted = self._text_bytes <= TEXTS_BYTES
        self._text_bytes += size
        fits = self._text_bytes <= TEXTS_BYTES
        if fitted and not fits:
            message = f"The text fields have at most {TEXTS_BYTES:,} bytes together."
            self.field_errors.add("body", Code.TOO_LONG, message)
        return fits

    def _begin(self, segment: MultipartSegment) -> "_Skipped | _Text | _File":
        self._parts += 1
        # The form is refused as a whole: a body of empty parts would otherwise cost an error for each.
        if self._parts > MOST_PARTS:
            raise Invalid(
                [*self.field_errors.found, FieldError("body", Code.TOO_MANY, f"A form has at most {MOST_PARTS} parts.")]
            )
        if (segment.content_type or "").startswith("multipart/"):
            raise malformed(f"Part {self._parts} is multipart itself. Send each file as a part of its own.")
        # Two parsers could read such a head in two ways, and a proxy have checked another field than this server
        # stores.
        if unclear := ambiguity(segment.headerlist):
            return self._skip("body", Code.INVALID_FORMAT, f"Part {self._parts} {unclear}.")
        if not segment.name:
            message = f'Part {self._parts} has no name. Send Content-Disposition: form-data; name="…".'
            return self._skip("body", Code.INVALID_FORMAT, message)
        return self._taken(_part_of(segment))

    def _taken(self, part: FormPart) -> "_Skipped | _Text | _File":
        rules = self.rules
        if rules.files and part.name == rules.file_field:
            if part.kind is PartKind.FILE:
                return _File(self, part)
            self.places += 1
            place = f"{rules.file_field}[{self.places - 1}]"
            return self._skip(place, Code.TYPE, "Must be a file: give the part a filename.")
        if part.name not in rules.fields and part.name != CHARSET_FIELD:
            return self._skip(printable(part.name), Code.UNKNOWN_FIELD, self._unknown_field(part.name))
        self._given[part.name] += 1
        times = self._given[part.name]
        place = f"{part.name}[{times - 1}]" if part.name in rules.repeated else part.name
        if part.kind is PartKind.FILE:
            return self._skip(place, Code.TYPE, "Must be text: send the part without a filename.")
        if times == 2 and part.name not in rules.repeated:
            return self._skip(place, Code.DUPLICATE, "Send this field once.")
        # The second one was reported.
        if times > 1 and part.name not in rules.repeated:
            return _Skipped()
        return _Text(self, part, place)

    def _unknown_field(self, name: str) -> str:
        known = [*filter(None, [self.rules.file_field]), *self.rules.fields]
        # Looking for the nearest name takes about 0.1 ms, and a form has up to MOST_PARTS.
        nearest = find_nearest(name, known) if len(self.field_errors.found) < MOST_GUESSES else None
        hint = f"did you mean {nearest}?" if nearest else f"the form takes {', '.join(known)}."
        return f"There is no such field; {hint}"

    def _skip(self, field: str, code: Code, message: str) -> "_Skipped":
        self.field_errors.add(field, code, message)
        return _Skipped()


def _part_of(segment: MultipartSegment) -> FormPart:
    starred = segment.filename is None and marks_file(segment.headerlist)
    filename = "file" if starred else segment.filename
    encodings = [value for name, value in segment.headerlist if name == "Content-Transfer-Encoding"]
    return FormPart(
        kind=PartKind.TEXT if filename is None else PartKind.FILE,
        name=segment.name or "",
        filename=filename,
        content_type=segment.content_type,
        charset=segment.charset,
        transfer_encoding=encodings[0] if encodings else None,
    )


class _Skipped:
    """A part that is wrong and has been reported: its bytes are ignored."""

    async def take(self, data: bytes) -> None:
        """Ignores the bytes."""

    async def end(self) -> None:
        """Does nothing."""


class _Text:
    """A text field as it arrives."""

    def __init__(self, form: _Reading, part: FormPart, place: str) -> None:
        self._form = form
        self._part = part
        self._place = place
        self._raw = bytearray()
        self._refused = False
        if message := encoding_error(part):
            self._refuse(Code.INVALID_FORMAT, message)

    async def take(self, data: bytes) -> None:
        """Adds the bytes, unless they are too many."""
        if self._refused:
            return
        if len(self._raw) + len(data) > TEXT_BYTES:
            self._refuse(Code.TOO_LONG, f"At most {TEXT_BYTES:,} bytes.")
        else:
            self._raw += data

    async def end(self) -> None:
        """Adds the text to the form; an empty one if it is wrong, so that repeated texts keep their places."""
        text = "" if self._refused or not self._form.count_text(len(self._raw)) else self._text()
        self._form.texts.setdefault(self._part.name, []).append(text)

    def _text(self) -> str:
        text = text_of(bytes(self._raw), self._part)
        if isinstance(text, str):
            return text
        self._refuse(text.code, text.message)
        return ""

    def _refuse(self, code: Code, message: str) -> None:
        self._refused = True
        self._raw.clear()
        self._form.field_errors.add(self._place, code, message)


class _File:
    """A file as it arrives."""

    def __init__(self, form: _Reading, part: FormPart) -> None:
        self._form = form
        self._part = part
        self._place = f"{form.rules.file_field}[{form.places}]"
        self._size = 0
        self._head = b""
        self._spool: Spool | None = None
        self._refused = False

    async def take(self, data: bytes) -> None:
        """Writes the bytes to disk, unless this file or an earlier part is wrong."""
        self._size += len(data)
        self._check()
        if len(self._head) < HEAD_BYTES and not self._refused:
            self._head += data[: HEAD_BYTES - len(self._head)]
        # The request is refused in any case: no further bytes for the disk, but the rest is read for its errors.
        if self._form.field_errors.found:
            return
        if self._spool is None:
            self._spool = Spool(self._form.folder)
            self._form.spools.append(self._spool)
        await self._spool.add(data)

    async def end(self) -> None:
        """Adds the file to the form. A file input that was left empty is no file."""
        is_left_empty = not self._size and not self._part.filename
        self._form.inputs.append(not is_left_empty)
        if is_left_empty:
            return
        self._check()
        self._form.places += 1
        if not self._size and not self._refused:
            self._refuse(Code.TOO_SHORT, f"The file {printable(self._part.filename or '')!r} is empty.")
        if self._refused:
            return
        name, kind = printable(self._part.filename or ""), self._part.content_type
        declared = printable(kind) if kind else None
        self._form.seen.append(SeenFile(self._form.places - 1, self._head, declared))
        if self._spool is None or self._form.field_errors.found:
            return
        await self._spool.save()
        self._form.files.append(
            IncomingFile(self._spool.path, self._size, self._head, declared, name, self._spool.digest)
        )

    def _check(self) -> None:
        rules = self._form.rules
        if self._refused:
            return
        if self._form.places >= rules.files:
            self._refuse(Code.TOO_MANY, f"At most {rules.files} file{'s' if rules.files > 1 else ''}.")
        elif message := encoding_error(self._part):
            self._refuse(Code.INVALID_FORMAT, message)
        elif self._size > rules.file_bytes:
            message = f"The file {printable(self._part.filename or '')!r} has more than {rules.file_bytes:,} bytes."
            self._refuse(Code.TOO_LARGE, message)

    def _refuse(self, code: Code, message: str) -> None:
        self._refused = True
        self._form.field_errors.add(self._place, code, message)
