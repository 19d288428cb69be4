"""Passkeys of an account: added, used, renamed, removed (docs/sign-in.md#passkeys).

Each function takes an open transaction first. The authenticator's answer has been verified before.
"""

from typing import Final

from pressroom.db import Tx
from pressroom.domains.accounts.models import WRONG_CREDENTIALS
from pressroom.domains.accounts.queries import lock_account, status
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind, Source
from pressroom.domains.sign_in import sessions
from pressroom.domains.sign_in.attempts import SignInAttempt, forget_failures
from pressroom.domains.sign_in.authenticators import NewCredential, encode
from pressroom.domains.sign_in.queries import passkeys, tokens
from pressroom.domains.sign_in.queries.passkeys import Passkey
from pressroom.domains.sign_in.queries.sessions import confirm_session
from pressroom.domains.sign_in.tokens import Purpose, hash_token
from pressroom.errors import Code, Conflict, FieldError, NotFound, Unprocessable, WrongCredentials
from pressroom.ids import new_id

MOST: Final = 20
"""Passkeys that an account may have."""

FULL: Final = f"An account has at most {MOST} passkeys; remove one to add another."
UNKNOWN: Final = NotFound("There is no such passkey.")
KNOWN: Final = "This passkey is added already."
REFUSED: Final = FieldError("attestationObject", Code.NOT_ALLOWED, "The passkey could not be verified. Try again.")


async def add_passkey(
    tx: Tx, account_id: str, challenge: bytes, made: NewCredential, name: str, source: Source
) -> Passkey:
    """Adds a passkey to the account. Raises Conflict, Unprocessable when the challenge was answered before."""
    # Before the count: of two requests at once, both could otherwise add the twentieth.
    await lock_account(tx, account_id)
    # A challenge is good once: a recorded answer must not add the passkey again after its removal.
    if not await _use_up(tx, account_id, challenge):
        raise Unprocessable([REFUSED])
    if len(await passkeys.list_passkeys(tx, account_id)) >= MOST:
        raise Conflict(FULL)
    passkey_id = new_id(tx.now, account_id)
    added = await passkeys.insert_passkey(
        tx,
        account_id=account_id,
        passkey_id=passkey_id,
        credential_id=made.credential_id,
        public_key=made.public_key,
        sign_count=made.sign_count,
        name=name,
    )
    if not added:
        raise Conflict(KNOWN)
    await record(tx, account_id, Kind.PASSKEY_ADDED, source, passkey=name)
    return Passkey(
        passkey_id, account_id, made.credential_id, made.public_key, made.sign_count, name, tx.now, used_at=None
    )


async def get_passkey(tx: Tx, account_id: str, passkey_id: str) -> Passkey:
    """Returns a passkey of the account. Raises NotFound."""
    for passkey in await passkeys.list_passkeys(tx, account_id):
        if passkey.id == passkey_id:
            return passkey
    raise UNKNOWN


async def rename_passkey(tx: Tx, account_id: str, passkey_id: str, name: str, source: Source) -> Passkey:
    """Gives a passkey another name and returns it. The authenticator keeps none. Raises NotFound."""
    passkey = await get_passkey(tx, account_id, passkey_id)
    if not await passkeys.rename_passkey(tx, account_id, passkey_id, name):
        raise UNKNOWN
    if name != passkey.name:
        await record(tx, account_id, Kind.PASSKEY_RENAMED, source, passkey=passkey.name, name=name)
    passkey.name = name
    return passkey


async def remove_passkey(tx: Tx, account_id: str, passkey_id: str, source: Source) -> None:
    """Removes a passkey: from now on it signs nobody in. Raises NotFound."""
    name = await passkeys.delete_passkey(tx, account_id, passkey_id)
    if name is None:
        raise UNKNOWN
    await record(tx, account_id, Kind.PASSKEY_REMOVED, source, passkey=name)


async def sign_in(
    tx: Tx, passkey: Passkey, challenge: bytes, sign_count: int, attempt: SignInAttempt, source: Source
) -> str | None:
    """Begins the session of a verified passkey and returns its token; None when the account is suspended.

    A passkey stands for both factors: no code is asked for. Raises WrongCredentials when the passkey was removed, or
    the challenge answered, meanwhile.
    """
    # The account is locked before its tokens, as by a suspension: no session begins while that runs.
    now = (await status.lock_status(tx, passkey.account_id)).get(passkey.account_id)
    await _use(tx, passkey, challenge, sign_count, attempt)
    if now is None or now.suspended_at is not None:
        return None
    await sessions.remember_address(tx, passkey.account_id, source.address)
    return await sessions.begin_session(tx, passkey.account_id, source)


async def confirm(
    tx: Tx, passkey: Passkey, challenge: bytes, sign_count: int, attempt: SignInAttempt, session_token: str
) -> None:
    """Records that the owner was there in the session of this token, as if the password had been given again.

    Raises WrongCredentials like `sign_in`.
    """
    await _use(tx, passkey, challenge, sign_count, attempt)
    await confirm_session(tx, hash_token(session_token))


async def _use(tx: Tx, passkey: Passkey, challenge: bytes, sign_count: int, attempt: SignInAttempt) -> None:
    account_id, before = passkey.account_id, passkey.sign_count
    # Only from the count that was verified: of two answers at once, or of a copied authenticator, one fails.
    used = await passkeys.use_passkey(tx, account_id, passkey.id, before=before, sign_count=sign_count)
    if not used or not await _use_up(tx, account_id, challenge):
        raise WrongCredentials(WRONG_CREDENTIALS)
    await forget_failures(tx, attempt)


async def _use_up(tx: Tx, account_id: str, challenge: bytes) -> bool:
    """Records that a challenge was answered. Returns False when it was before."""
    return await tokens.use_up(
        tx,
        token_hash=hash_token(encode(challenge)),
        account_id=account_id,
        purpose=Purpose.PASSKEY.value,
        expires_at=tx.now + Purpose.PASSKEY.life,
    )
