"""Addresses of media files. An address opens the file to anybody, so it ends with its reader's right to see it.

    /media/{token}                                    of a PUBLIC post or clip, for everybody
    /media/signed.{id}.0.{signature}                  of any other, for its author; does not expire
    /media/signed.{id}.{reader}.{until}.{signature}   of any other, for the account `reader`, while it may see the file
                                                      and until `until` (milliseconds)

The signature covers the row's token, so a new token invalidates every earlier address. Each request checks whether the
reader may still see the file (docs/media.md#addresses).
"""

import hmac
import re
from typing import Final

import msgspec

from pressroom.clock import MINUTE, SECOND
from pressroom.domains.accounts.models import Caller, reader_of
from pressroom.domains.media.models import Media, Variant
from pressroom.web.permalinks import Permalinks
from pressroom.web.request import Request

STEP: Final = 5 * MINUTE
"""Milliseconds in which a reader gets the same address of a file, so that the browser's cache finds it again."""

LONGEST: Final = 3 * STEP
"""Milliseconds that an expiring address is valid at most; at least STEP less."""

WITHOUT_END: Final = "0"
"""Takes the place of reader and time in an address that does not expire."""

_SIGNED: Final = "signed."
_PARTS: Final = re.compile(
    r"signed\.([0-9A-Z]{26})\.(0|(?P<reader>[0-9A-Z]{26})\.(?P<until>[1-9][0-9]{0,14}))\.([0-9a-f]{32})"
)


class MediaAddresses(msgspec.Struct, frozen=True):
    """Makes the addresses in one response to `reader` (an account's id, or empty) at `now` (milliseconds).

    `lasting`: the author's own addresses do not expire. On pages they do, because browsers keep pages in
    their history and people copy addresses out of them. `permalinks` makes the addresses of posts and clips.
    """

    base_url: str
    permalinks: Permalinks
    secret: str
    now: int
    reader: str
    lasting: bool = True

    def of(self, media: Media, *, public: bool) -> str:
        """Returns the address of a file. `public`: its post or clip is PUBLIC."""
        if public:
            return f"{self.base_url}/media/{media.token}"
        own = self.reader == media.account_id
        grant = WITHOUT_END if own and self.lasting else ending(self.reader, self.now // STEP * STEP + LONGEST)
        return f"{self.base_url}/media/{signed_token(media.id, media.token, self.secret, grant)}"


class SignedToken(msgspec.Struct, frozen=True):
    """The parts of a signed token, not yet verified. `reader` and `until` are None if it does not expire."""

    media_id: str
    grant: str
    reader: str | None
    until: int | None
    signature: str

    def has_ended(self, now: int) -> bool:
        """Returns whether it has expired at `now` (milliseconds)."""
        return self.until is not None and self.until <= now

    def is_genuine(self, token: str, secret: str) -> bool:
        """Returns whether it was signed for this file while its row had this token."""
        return hmac.compare_digest(self.signature, _signature(self.media_id, token, secret, self.grant))


def addresses_of(request: Request[Caller], *, lasting: bool = True) -> MediaAddresses:
    """Returns the maker of addresses for the response to this request."""
    settings, reader, now = request.settings, reader_of(request.who).id, request.clock.now()
    permalinks, secret = Permalinks(settings.permalink_base), request.services.media_secret.signing(now)
    return MediaAddresses(settings.base_url, permalinks, secret, now, reader, lasting)


def variant_address(address: str, variant: Variant) -> str:
    """Returns the address of a variant of the file at `address`."""
    return address if variant is Variant.MAIN else f"{address}/{variant}"


def ending(reader: str, until: int) -> str:
    """Returns the part of an address that names its reader (an account's id) and its end (milliseconds)."""
    return f"{reader}.{until}"


def signed_token(media_id: str, token: str, secret: str, grant: str) -> str:
    """Returns the part of an address that opens a file. It does not reveal the row's `token`.

    `grant` is WITHOUT_END for the file's author, else `ending(reader, until)`.
    """
    return f"{_SIGNED}{media_id}.{grant}.{_signature(media_id, token, secret, grant)}"


def is_signed(token: str) -> bool:
    """Returns whether the token of an address is a signed one, not a row's own."""
    return token.startswith(_SIGNED)


def read_signed(token: str) -> SignedToken | None:
    """Returns the parts of a signed token, or None if it has another form."""
    parts = _PARTS.fullmatch(token)
    if parts is None:
        return None
    until = int(parts["until"]) if parts["until"] else None
    return SignedToken(parts[1], parts[2], parts["reader"], until, parts[5])


def seconds_left(until: int | None, now: int) -> int:
    """Returns the whole seconds that an address is still valid, from 1 to STEP. Arguments are in milliseconds."""
    return STEP // SECOND if until is None else min(max((until - now) // SECOND, 1), STEP // SECOND)


def _signature(media_id: str, token: str, secret: str, grant: str) -> str:
    return hmac.digest(secret.encode(), f"media.{media_id}.{token}.{grant}".encode(), "sha256").hex()[:32]
