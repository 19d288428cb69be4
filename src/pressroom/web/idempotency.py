"""Writes at most once per Idempotency-Key (docs/idempotency.md): key, fingerprint of the body, interface for routes."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from hashlib import sha256
from typing import Concatenate, Final, ParamSpec, Protocol, TypeVar

import msgspec

from pressroom.db import Tx
from pressroom.errors import Code, FieldError
from pressroom.web.multipart_rules import Form
from pressroom.web.response import Response

P = ParamSpec("P")
R = TypeVar("R")


class Once(Protocol):
    """Runs a write in one transaction, at most once per Idempotency-Key (docs/idempotency.md)."""

    @property
    def body_differs(self) -> bool:
        """Whether it replayed the response to a request with another body."""
        ...

    def hiding(self, *fields: str) -> "Once":
        """Returns the same, but stored responses have null in place of `fields`, which are shown only once."""
        ...

    def locking(self, lock: Callable[[Tx], Awaitable[None]]) -> "Once":
        """Returns the same, but `lock` is awaited first in the transaction, before the Idempotency-Key is claimed."""
        ...

    async def stored(self) -> Response | None:
        """Returns the response to an earlier request with this key: for routes that would do costly work first."""
        ...

    async def __call__(
        self,
        action: Callable[Concatenate[Tx, P], Awaitable[R]],
        shape: Callable[[R], object],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Response:
        """Runs `action(tx, *args)`. Returns `shape(result)` as JSON with the route's status, or the stored response."""
        ...


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
    """Returns a hash of the typed values of a page's form, without its secrets."""
    return sha256(msgspec.json.encode(sorted(typed.items()))).hexdigest()
