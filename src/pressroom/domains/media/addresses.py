"""Where files are to be fetched. An address is what opens a file, so it ends when its reader's right to see it does.

    /media/{token}                                    of a post that everybody may see, while they may
    /media/signed.{id}.0.{signature}                  of any other, for its author: without end
    /media/signed.{id}.{reader}.{until}.{signature}   of any other, for `reader` (an account's id), while this account
                                                      may see it, until `until` (milliseconds)

The signature covers the row's token, so a new token ends every address that was given before. Whether the reader may
still see the file is asked at each request (docs/media.md#addresses).
"""

import hmac
import re
from typing import Final

import msgspec

from pressroom.clock import MINUTE, SECOND
from pressroom.domains.accounts.models import Caller, reader_of
from pressroom.domains.media.models import Media, Variant
from pressroom.web.request import Request

STEP: Final = 5 * MINUTE
"""How long a reader is given one address of a file, so that a page that is opened again finds it in the browser's
cache."""

LONGEST: Final = 3 * STEP
"""How long an address that ends holds at most; at least a STEP less."""

WITHOUT_END: Final = "0"
"""Stands for reader and time in an address that does not end."""

_SIGNED: Final = "signed."
_PARTS: Final = re.compile(
    r"signed\.([0-9A-Z]{26})\.(0|(?P<reader>[0-9A-Z]{26})\.(?P<until>[1-9][0-9]{0,14}))\.([0-9a-f]{32})"
)


class MediaAddresses(msgspec.Struct, frozen=True):
    """Makes the addresses of an answer that `reader` (an account's id, or empty) is given at `now` (milliseconds).

    `lasting`: the author's own addresses do not end. Those that a page shows do, whoever reads it: pages are kept in
    histories, and addresses are copied out of them.
    """

    base_url: str
    secret: str
    now: int
    reader: str
    lasting: bool = True

    def of(self, media: Media, *, public: bool) -> str:
        """Where a file is; `public`: everybody may see what it belongs to."""
        if public:
            return f"{self.base_url}/media/{media.token}"
        own = self.reader == media.account_id
        grant = WITHOUT_END if own and self.lasting else ending(self.reader, self.now // STEP * STEP + LONGEST)
        return f"{self.base_url}/media/{signed_token(media.id, media.token, self.secret, grant)}"


class SignedToken(msgspec.Struct, frozen=True):
    """A signed token, taken apart. Not yet found genuine. `reader` and `until` are None where it does not end."""

    media_id: str
    grant: str
    reader: str | None
    until: int | None
    signature: str

    def has_ended(self, now: int) -> bool:
        """Whether it holds no more at `now` (milliseconds)."""
        return self.until is not None and self.until <= now

    def is_genuine(self, token: str, secret: str) -> bool:
        """Whether it was signed for the file while its row had this token."""
        return hmac.compare_digest(self.signature, _signature(self.media_id, token, secret, self.grant))


def addresses_of(request: Request[Caller], *, lasting: bool = True) -> MediaAddresses:
    """What makes the addresses of this request's answer (see `MediaAddresses`)."""
    reader = reader_of(request.who).id
    return MediaAddresses(
        request.settings.base_url, request.services.media_secret, request.clock.now(), reader, lasting
    )


def variant_address(address: str, variant: Variant) -> str:
    """The address of a variant of the file at `address`."""
    return address if variant is Variant.MAIN else f"{address}/{variant}"


def ending(reader: str, until: int) -> str:
    """What an address says of whom it is for (an account's id) and until when (milliseconds) it holds."""
    return f"{reader}.{until}"


def signed_token(media_id: str, token: str, secret: str, grant: str) -> str:
    """The part of an address that opens a file: it does not tell the row's `token`.

    `grant`: WITHOUT_END for the file's author, else `ending(reader, until)`.
    """
    return f"{_SIGNED}{media_id}.{grant}.{_signature(media_id, token, secret, grant)}"


def is_signed(token: str) -> bool:
    """Whether the token of an address is one that is signed, rather than a row's own."""
    return token.startswith(_SIGNED)


def read_signed(token: str) -> SignedToken | None:
    """A signed token, taken apart; None when it is none of ours."""
    parts = _PARTS.fullmatch(token)
    if parts is None:
        return None
    until = int(parts["until"]) if parts["until"] else None
    return SignedToken(parts[1], parts[2], parts["reader"], until, parts[5])


def seconds_left(until: int | None, now: int) -> int:
    """How many whole seconds an address still holds at `now` (both in milliseconds), at least one, at most a STEP."""
    return STEP // SECOND if until is None else min(max((until - now) // SECOND, 1), STEP // SECOND)


def _signature(media_id: str, token: str, secret: str, grant: str) -> str:
    return hmac.digest(secret.encode(), f"media.{media_id}.{token}.{grant}".encode(), "sha256").hex()[:32]
