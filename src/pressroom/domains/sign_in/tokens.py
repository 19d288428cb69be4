"""One-time tokens: 240 random bits that are good once and for a while (docs/mail.md#links).

Each function takes an open transaction first. The database stores a hash; the token itself is in a link or a form, and
nowhere else.
"""

import hashlib
from enum import StrEnum
from typing import Final

from pressroom.clock import DAY, HOUR, MINUTE
from pressroom.db import Tx
from pressroom.domains.sign_in.queries import tokens
from pressroom.ids import new_token

LONGEST_ONE_TIME_TOKEN: Final = 100
"""Characters of a text that is looked up as a one-time token; tokens have 43."""


class Purpose(StrEnum):
    """The purpose of a one-time token (docs/mail.md#links)."""

    VERIFY = "verify"
    RESET = "reset"
    SIGN_IN = "sign-in"
    SIGN_IN_CODE = "sign-in code"
    FORM = "form"  # sent again after its token was used up
    SIGN_IN_FORM = "sign-in form"
    PASSKEY = "passkey"  # the challenge of a passkey, which was answered

    @property
    def life(self) -> int:
        """Returns for how many milliseconds a token holds."""
        return _LIVES.get(self, HOUR)


_LIVES: Final = {
    Purpose.VERIFY: DAY,
    Purpose.SIGN_IN_CODE: 10 * MINUTE,
    Purpose.SIGN_IN_FORM: MINUTE,
    Purpose.PASSKEY: 10 * MINUTE,
}


async def issue_token(tx: Tx, account_id: str, purpose: Purpose, *, email: str | None = None) -> str:
    """Makes a token and returns it. One that is sent to `email` holds only while the account has that address."""
    token = new_token(account_id)
    await tokens.insert_token(
        tx,
        token_hash=hash_token(token),
        account_id=account_id,
        purpose=purpose.value,
        email=email,
        expires_at=tx.now + purpose.life,
    )
    return token


async def remember_form(tx: Tx, account_id: str, token: str, form_key: str, purpose: Purpose) -> None:
    """Records, under `purpose`, that the form with this key used the token up; nothing for an empty key."""
    if form_key:
        await tokens.insert_token(
            tx,
            token_hash=hash_token(_of_form(token, form_key)),
            account_id=account_id,
            purpose=purpose.value,
            email=None,
            expires_at=tx.now + purpose.life,
        )


async def find_form(tx: Tx, token: str, form_key: str, purpose: Purpose) -> str | None:
    """Returns the id of the account whose token the form with this key has used up, or None."""
    return await find_token(tx, _of_form(token, form_key), purpose)


async def find_token(tx: Tx, token: str, purpose: Purpose) -> str | None:
    """Returns the id of the account that a token is for, None when it does not hold; the token stays good."""
    if len(token) > LONGEST_ONE_TIME_TOKEN:
        return None
    return await tokens.find_token(tx, token_hash=hash_token(token), purpose=purpose.value)


async def consume_token(tx: Tx, token: str, purpose: Purpose) -> str | None:
    """Uses a token up and returns the id of the account that it is for, None when it does not hold.

    Of two that use one token at once, one gets None.
    """
    if len(token) > LONGEST_ONE_TIME_TOKEN:
        return None
    return await tokens.consume_token(tx, token_hash=hash_token(token), purpose=purpose.value)


def _of_form(token: str, form_key: str) -> str:
    return f"{token} {form_key}"


def hash_token(token: str) -> str:
    """Returns the hash of a session's token: the database stores nothing else of it."""
    return hashlib.sha256(token.encode()).hexdigest()
