"""Where files are to be fetched. An address is what opens a file, so it ends when its reader's right to see it does.

    /media/{token}                           of a post that everybody may see, while they may
    /media/signed.{id}.{until}.{signature}   of any other: until `until` (milliseconds), for its author without end (0)

The signature covers the row's token, so a new token ends every address that was given before (docs/media.md#addresses).
"""

import hmac
import re
from typing import Final

import msgspec

from pressroom.clock import MINUTE, SECOND
from pressroom.domains.accounts.models import Caller
from pressroom.domains.media.models import Media, Variant
from pressroom.web.request import Request

STEP: Final = 5 * MINUTE
"""How long a file keeps one signed address, so that a page that is opened again finds it in the browser's cache."""

LONGEST: Final = 3 * STEP
"""How long a signed address holds at most; at least a STEP less."""

WITHOUT_END: Final = 0

_SIGNED: Final = "signed."
_PARTS: Final = re.compile(r"signed\.([0-9A-Z]{26})\.(0|[1-9][0-9]{0,14})\.([0-9a-f]{32})")


class Addresses(msgspec.Struct, frozen=True):
    """Makes the addresses of an answer that is given at `now` (milliseconds).

    `lasting`: the author's own addresses do not end. Those that a page shows do, whoever reads it: pages are kept in
    histories, and addresses are copied out of them.
    """

    base_url: str
    secret: str
    now: int
    lasting: bool = True

    def of(self, media: Media, *, public: bool, own: bool) -> str:
        """Where a file is, for its author (`own`) or another; `public`: everybody may see what it belongs to."""
        if public:
            return f"{self.base_url}/media/{media.token}"
        until = WITHOUT_END if own and self.lasting else self.now // STEP * STEP + LONGEST
        return f"{self.base_url}/media/{signed_token(media.id, media.token, self.secret, until)}"


class Signed(msgspec.Struct, frozen=True):
    """A signed token, taken apart. Not yet found genuine."""

    media_id: str
    until: int
    signature: str

    def has_ended(self, now: int) -> bool:
        """Whether it holds no more at `now` (milliseconds)."""
        return self.until != WITHOUT_END and self.until <= now

    def is_genuine(self, token: str, secret: str) -> bool:
        """Whether it was signed for the file while its row had this token."""
        return hmac.compare_digest(self.signature, _signature(self.media_id, token, secret, self.until))


def addresses_of(request: Request[Caller], *, lasting: bool = True) -> Addresses:
    """What makes the addresses of this response (see `Addresses`)."""
    return Addresses(request.settings.base_url, request.services.media_secret, request.clock.now(), lasting)


def variant_of(address: str, variant: Variant) -> str:
    """The address of a variant of the file at `address`."""
    return address if variant is Variant.MAIN else f"{address}/{variant}"


def signed_token(media_id: str, token: str, secret: str, until: int) -> str:
    """The part of an address that holds until `until` (milliseconds): it does not tell the row's `token`."""
    return f"{_SIGNED}{media_id}.{until}.{_signature(media_id, token, secret, until)}"


def is_signed(token: str) -> bool:
    """Whether the token of an address is one that is signed, rather than a row's own."""
    return token.startswith(_SIGNED)


def read_signed(token: str) -> Signed | None:
    """A signed token, taken apart; None when it is none of ours."""
    parts = _PARTS.fullmatch(token)
    return Signed(parts[1], int(parts[2]), parts[3]) if parts else None


def seconds_left(until: int, now: int) -> int:
    """How many whole seconds an address still holds at `now` (both in milliseconds), at least one, at most a STEP."""
    return STEP // SECOND if until == WITHOUT_END else min(max((until - now) // SECOND, 1), STEP // SECOND)


def _signature(media_id: str, token: str, secret: str, until: int) -> str:
    return hmac.digest(secret.encode(), f"media.{media_id}.{token}.{until}".encode(), "sha256").hex()[:32]
