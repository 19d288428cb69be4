"""The body of a request as it arrives: read whole or piece by piece, within bounds of size and time, or drained."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from pressroom.errors import Code, FieldError, Invalid, Unavailable
from pressroom.settings import Settings
from pressroom.web.asgi import Receive
from pressroom.web.error_responses import PayloadTooLarge, RequestTimeout, UnsupportedMediaType
from pressroom.web.headers import Headers
from pressroom.web.multipart import read_form
from pressroom.web.multipart_rules import Form, FormRules, missing_file
from pressroom.web.page_form_bodies import parse_urlencoded

JSON_LIMIT: Final = 256 * 1024
"""Bytes of a JSON body: more than 5,000 characters take, however they are escaped."""

FORM_LIMIT: Final = 256 * 1024
"""Bytes of an urlencoded form: each character of a text takes up to twelve."""

URLENCODED: Final = "application/x-www-form-urlencoded"

DRAIN_LIMIT: Final = 64 * 1024 * 1024
DRAIN_SECONDS: Final = 5.0


class IncomingBody:
    """The body of one request. `unread`: more of it may come.

    `length` is its Content-Length, past which nothing is asked for; None when it has none or is chunked.
    """

    def __init__(self, receive: Receive, length: int | None = None) -> None:
        self._receive = receive
        self._missing = length
        self.unread = True

    async def read(self, limit: int, what: str = "JSON body") -> bytes:
        """Returns the whole body. Raises PayloadTooLarge past `limit` bytes, Invalid when it is cut off."""
        chunks: list[bytes] = []
        size = 0
        while self.unread:
            chunk = await self._chunk()
            size += len(chunk)
            if size > limit:
                raise PayloadTooLarge(f"A {what} has at most {limit:,} bytes.")
            chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yields the body piece by piece. Raises Invalid when it is cut off."""
        while self.unread:
            yield await self._chunk()

    async def drain(self) -> None:
        """Reads on for a while after an early response, so that a client that is still sending gets to see it."""
        size = 0
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                while self.unread and size < DRAIN_LIMIT:
                    size += len(await self._chunk())
        except (TimeoutError, Invalid):
            return

    async def _chunk(self) -> bytes:
        message = await self._receive()
        if message.get("type") != "http.request":
            self.unread = False
            # The client hung up, or sent no valid HTTP body. In the second case it may still read the response.
            raise Invalid(
                [FieldError("body", Code.INVALID_FORMAT, "The body ends before its time or is badly chunked.")]
            )
        chunk = message.get("body", b"")
        self.unread = message.get("more_body", False)
        if self._missing is not None:
            self._missing -= len(chunk)
            # The server reports an end only when asked once more, which costs a round of its threads.
            self.unread = self.unread and self._missing > 0
        return chunk


class BodyReader:
    """Reads JSON bodies and forms within the time that the operator allows. Files of forms go to the data folder."""

    def __init__(self, settings: Settings) -> None:
        self._json_seconds = float(settings.body_timeout_seconds)
        self._form_seconds = float(settings.upload_timeout_seconds)
        self._folder = settings.data_dir / "incoming"

    async def read_json(self, body: IncomingBody, headers: Headers, *, optional: bool) -> bytes:
        """Returns the bytes of a JSON body; with `optional` it may be empty and then needs no Content-Type.

        Raises UnsupportedMediaType, PayloadTooLarge, RequestTimeout or Invalid.
        """
        may_be_empty = optional and not headers.content_length
        if not may_be_empty:
            _check_json(headers)
        if (headers.content_length or 0) > JSON_LIMIT:
            raise PayloadTooLarge(f"A JSON body has at most {JSON_LIMIT:,} bytes.")
        try:
            async with asyncio.timeout(self._json_seconds):
                raw = await body.read(JSON_LIMIT)
        except TimeoutError:
            raise RequestTimeout(f"The body did not arrive within {self._json_seconds:g} s.") from None
        # A chunked body has no length beforehand: it turned out not to be empty, so that its type counts.
        if raw and may_be_empty:
            _check_json(headers)
        return raw

    async def read_form(self, body: IncomingBody, headers: Headers, rules: FormRules) -> Form:
        """Returns a form, whose files the caller removes in the end.

        Raises UnsupportedMediaType, PayloadTooLarge, RequestTimeout, Unavailable or Invalid.
        """
        _check_encoding(headers)
        try:
            await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable("The disk takes no uploads right now. Nothing was stored.", 10) from error
        try:
            async with asyncio.timeout(self._form_seconds):
                return await read_form(
                    body.chunks(), headers.content_type or "", headers.content_length, rules, self._folder
                )
        except TimeoutError:
            raise RequestTimeout(f"The form did not arrive within {self._form_seconds:g} s.") from None

    async def read_typed(self, body: IncomingBody, headers: Headers, rules: FormRules) -> Form:
        """Returns the form of a page, whose files, if it takes any, the caller removes in the end.

        Raises UnsupportedMediaType, PayloadTooLarge, RequestTimeout, Unavailable or Invalid.
        """
        kind = (headers.content_type or URLENCODED).partition(";")[0].strip().lower()
        if kind == "multipart/form-data":
            return await self.read_form(body, headers, rules)
        if kind != URLENCODED:
            raise UnsupportedMediaType(f"A form is sent as {URLENCODED} or multipart/form-data, not as {kind[:100]!r}.")
        _check_encoding(headers)
        if (headers.content_length or 0) > FORM_LIMIT:
            raise PayloadTooLarge(f"A form has at most {FORM_LIMIT:,} bytes.")
        try:
            async with asyncio.timeout(self._json_seconds):
                raw = await body.read(FORM_LIMIT, "form")
        except TimeoutError:
            raise RequestTimeout(f"The form did not arrive within {self._json_seconds:g} s.") from None
        return Form([], await parse_urlencoded(raw), list(missing_file(rules, 0)), 0, [])


def is_large(headers: Headers) -> bool:
    """Returns whether a body is larger than a form without files can be, or has no stated length."""
    return headers.content_length is None or headers.content_length > FORM_LIMIT


def _check_json(headers: Headers) -> None:
    kind = (headers.content_type or "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise UnsupportedMediaType(f"This route takes application/json, not {kind[:100]!r}.")
    _check_encoding(headers)


def _check_encoding(headers: Headers) -> None:
    if (headers.content_encoding or "identity").lower() != "identity":
        raise UnsupportedMediaType("Send the body without Content-Encoding.")
