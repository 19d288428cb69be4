"""Submissions of forms: read → check → run, and the page with the form again after an error (docs/web-app.md#forms)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from pressroom.clock import Clock
from pressroom.db import Tx
from pressroom.errors import Code, FieldError, Invalid, NotFound
from pressroom.web.access import Guards, asks_password, is_limited
from pressroom.web.error_responses import error_response
from pressroom.web.idempotency import read_key, typed_fingerprint
from pressroom.web.incoming_body import BodyReader, is_large
from pressroom.web.multipart import discard
from pressroom.web.multipart_rules import Form
from pressroom.web.page_form_bodies import NO_FILES, decode_typed, fields_of_files, holds_nul, rules_of
from pressroom.web.page_forms import (
    CALLED_OFF,
    IDEMPOTENCY_FIELD,
    PASSWORD_FIELD,
    RELOAD,
    SHOWN_AGAIN,
    NoFields,
    new_idempotency_key,
    refused_state,
    reused_key_state,
)
from pressroom.web.request import Request
from pressroom.web.response import Response, json_response
from pressroom.web.routing import PageForm, Route

C = TypeVar("C")


class CalledOffOut(msgspec.Struct, rename="camel"):
    """The end of an upload that was called off.

    Attributes:
        was_done: The upload had arrived before, and was carried out.
        idempotency_key: For the next submission of the form.
    """

    was_done: bool
    idempotency_key: str


class FormSubmission(Generic[C]):
    """One form that was sent.

    Args:
        request: The request that brings it.
        route: Its route.
        form: The route's declaration of its form.
        guards: The guards before routes.
        clock: The time that local times are read by.
        note: Logs an error after which the form is shown again.
    """

    def __init__(
        self,
        request: Request[C],
        route: Route[C],
        form: PageForm[C],
        guards: Guards[C],
        clock: Clock,
        note: Callable[[Request[C], Exception, int], None],
    ) -> None:
        self._request = request
        self._route = route
        self._form = form
        self._guards = guards
        self._clock = clock
        self._note = note
        self._is_counted = False

    async def respond(self, bodies: BodyReader) -> Response:
        """Reads the form and returns the response of its route, or the page with the form again.

        The files that came with it are removed afterwards.
        """
        request, form = self._request, self._form
        rules = rules_of(self._route.takes or NoFields, form.fields, form.files.rules if form.files else NO_FILES)
        if form.files is not None and is_large(request.headers):
            # Files are counted before they are stored, even where the form itself is no write.
            await self._count(always=True)
        read = await bodies.read_typed(request.body, request.headers, rules)
        try:
            return await self._check_and_run(read)
        finally:
            await discard(read)

    async def _check_and_run(self, read: Form) -> Response:
        form, typed, field_errors = self._form, read.texts, [*read.field_errors]
        if form.files is not None:
            field_errors += form.files.field_errors(read)
        key = read_key(next(iter(typed.get(IDEMPOTENCY_FIELD, ())), None), field_errors)
        public = {name: texts for name, texts in typed.items() if name not in form.fields.secrets}
        typed.pop(PASSWORD_FIELD, None)
        shown = {name: public[name] for name in typed if name in public and name != IDEMPOTENCY_FIELD}
        try:
            await self._count()
            # The page that asks for the password keeps the typed values. No page can keep a NUL: it is refused first.
            if not holds_nul(shown) and (asking := await self._ask_password(public)) is not None:
                return asking
            return await self._run(read, shown, key, field_errors)
        except SHOWN_AGAIN as error:
            state = refused_state(error, shown, form.fields, key)
            response = await form.again(self._request, state)
            if response.status in (200, state.status):  # Otherwise there is no form to show any more.
                response.status = state.status
                response.headers += error_response(error).headers
            self._note(self._request, error, response.status)
            return response

    async def _count(self, *, always: bool = False) -> None:
        """Counts the write of somebody who is signed in, once."""
        if self._request.who is not None and not self._is_counted and (always or is_limited(self._route.access)):
            self._is_counted = True
            await self._guards.check_writes(self._request.who)

    async def _ask_password(self, typed: Mapping[str, Sequence[str]]) -> Response | None:
        if self._request.who is None or not asks_password(self._route.access):
            return None
        return await self._guards.check_recent(self._request, self._request.who, typed)

    async def _run(
        self, read: Form, shown: Mapping[str, Sequence[str]], key: str | None, field_errors: list[FieldError]
    ) -> Response:
        request, fields = self._request, self._form.fields
        if self._form.files is not None and CALLED_OFF in read.texts:
            return await self._call_off(key)
        given = fields_of_files(read.texts, read.inputs, fields)
        body = decode_typed(self._route.takes or NoFields, given, fields, field_errors, self._clock.now())
        request.form_key, request.files, request.typed = key or "", read.files, shown
        digests = {"": [file.digest for file in read.files]} if read.files else {}
        request.once = self._guards.once(request, key, typed_fingerprint({**shown, **digests}), self._route.status)
        response = await self._route.run(request, body)
        return await self._handle_reused_key(shown, response) if request.once.body_differs else response

    async def _call_off(self, key: str | None) -> Response:
        """Uses the key up without an effect, and tells whether the form acted with it before.

        The upload may have arrived whole although its sender called it off, and may be at work at this moment: it waits
        for the claim of the key or this does, so that one of the two happens.
        """
        if key is None:
            raise Invalid([FieldError(IDEMPOTENCY_FIELD, Code.REQUIRED, RELOAD)])
        once = self._guards.once(self._request, key, typed_fingerprint({CALLED_OFF: [""]}), 200)
        await once(_do_nothing, lambda nothing: nothing)
        return json_response(CalledOffOut(once.body_differs, new_idempotency_key()))

    async def _handle_reused_key(self, shown: Mapping[str, Sequence[str]], response: Response) -> Response:
        """Returns the form again, since `response` replays a submission with other input; `response` if it is gone."""
        try:
            again = await self._form.again(self._request, reused_key_state(shown, self._form.fields))
        except NotFound:
            return response
        return response if again.status == 303 else again


async def _do_nothing(tx: Tx) -> None:
    pass
