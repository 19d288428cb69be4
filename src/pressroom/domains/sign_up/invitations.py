"""Invitations to sign up: links that admins make, good once and for 7 days (docs/sign-in.md#invitations).

Each function takes an open transaction first. The database stores a hash of the token in the link.
"""

from typing import Final

from pressroom.clock import DAY
from pressroom.db import Tx
from pressroom.domains.audit.actions import record
from pressroom.domains.audit.models import Kind, Source
from pressroom.domains.sign_in.tokens import LONGEST_ONE_TIME_TOKEN, hash_token
from pressroom.domains.sign_up import queries
from pressroom.domains.sign_up.queries import Invitation
from pressroom.errors import Code, Conflict, FieldError, NotFound, Unprocessable
from pressroom.ids import new_id, new_token

LIFE: Final = 7 * DAY
RETENTION: Final = 30 * DAY

LACKING: Final = FieldError(
    "invite", Code.NOT_ALLOWED, "This server takes sign-ups by invitation: open the link that an admin gave you."
)
SPENT: Final = FieldError(
    "invite", Code.NOT_ALLOWED, "This invitation was used or revoked, or its 7 days are over. Ask for another one."
)


async def make(tx: Tx, source: Source, account_id: str, note: str | None) -> tuple[Invitation, str]:
    """Makes an invitation in the name of an admin; returns it and its token, which nothing stores."""
    token, invitation_id = new_token(account_id), new_id(tx.now, account_id)
    await queries.insert_invitation(
        tx,
        invitation_id=invitation_id,
        token_hash=hash_token(token),
        account_id=account_id,
        note=note,
        expires_at=tx.now + LIFE,
    )
    await record(tx, "", Kind.INVITATION_MADE, source, invitation=invitation_id)
    return await get(tx, invitation_id), token


async def get(tx: Tx, invitation_id: str) -> Invitation:
    """Returns an invitation. Raises NotFound."""
    found = await queries.find_invitation(tx, invitation_id)
    if found is None:
        raise NotFound("There is no such invitation.")
    return found


async def revoke(tx: Tx, source: Source, invitation_id: str) -> Invitation:
    """Ends an invitation and returns it. Raises NotFound, Conflict when it was used or revoked already."""
    found = await get(tx, invitation_id)
    if not await queries.revoke_invitation(tx, invitation_id):
        raise Conflict(f"This invitation is {found.status(tx.now)} already.")
    await record(tx, "", Kind.INVITATION_REVOKED, source, invitation=invitation_id)
    return await get(tx, invitation_id)


async def holds(tx: Tx, token: str | None) -> bool:
    """Returns whether the invitation of a token can be used."""
    return (
        bool(token) and len(token or "") <= LONGEST_ONE_TIME_TOKEN and await queries.invitation_holds(tx, _hash(token))
    )


async def check(tx: Tx, token: str | None) -> None:
    """Raises Unprocessable unless the invitation of a token can be used."""
    if not await holds(tx, token):
        raise Unprocessable([SPENT if token else LACKING])


async def use(tx: Tx, token: str | None, account_id: str) -> None:
    """Has a new account use an invitation up. Raises Unprocessable, for one of two who use it at once."""
    if not await queries.use_invitation(tx, _hash(token), account_id):
        raise Unprocessable([SPENT])


async def purge(tx: Tx, batch: int) -> int:
    """Removes at most `batch` invitations 30 days after they expired; returns how many."""
    return await queries.purge_invitations(tx, until=tx.now - RETENTION, batch=batch)


def _hash(token: str | None) -> str:
    return hash_token(token or "")
