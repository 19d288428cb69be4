"""SQL of the sign_up package: invitations, and tokens of the first account."""

from typing import Final

import msgspec

from pressroom.db import Command, Query, Tx, sql


class Invitation(msgspec.Struct):
    """An invitation, with the present user names of who made it and who used it. Times in milliseconds.

    It holds only as long as its maker is an admin who is not suspended: `by_admin`.
    """

    id: str
    note: str | None
    made_by: str
    created_at: int
    expires_at: int
    used_at: int | None
    used_by: str | None
    revoked_at: int | None
    by_admin: bool

    def status(self, now: int) -> str:
        """Returns `open`, `used`, `revoked` or `expired` at `now` (milliseconds)."""
        if self.used_at is not None:
            return "used"
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at <= now:
            return "expired"
        return "open" if self.by_admin else "revoked"


_INVITATION: Final = (
    "SELECT i.id, i.note, m.username AS made_by, i.created_at, i.expires_at, i.used_at, u.username AS used_by,"
    " i.revoked_at, (m.is_admin AND m.suspended_at IS NULL) AS by_admin"
    " FROM invitations i JOIN accounts m ON m.id = i.account_id LEFT JOIN accounts u ON u.id = i.used_by"
)

_HOLDS: Final = (
    "token_hash = :token_hash AND used_at IS NULL AND revoked_at IS NULL AND expires_at > :now"
    " AND (SELECT 1 FROM accounts m WHERE m.id = invitations.account_id AND m.is_admin AND m.suspended_at IS NULL)"
    " IS NOT NULL"
)

FIND_HOLDING: Final = Query(str, f"SELECT id FROM invitations WHERE {_HOLDS}")

USE: Final = Query(str, f"UPDATE invitations SET used_at = :now, used_by = :account_id WHERE {_HOLDS} RETURNING id")

REVOKE: Final = Query(
    str,
    "UPDATE invitations SET revoked_at = :now WHERE id = :id AND used_at IS NULL AND revoked_at IS NULL RETURNING id",
)


@sql.one(f"{_INVITATION} WHERE i.id = :invitation_id")
async def find_invitation(tx: Tx, invitation_id: str) -> Invitation | None:
    """Returns an invitation."""
    ...


@sql.all(f"{_INVITATION} WHERE i.id < :before ORDER BY i.id DESC LIMIT :limit")
async def list_invitations(tx: Tx, before: str, limit: int) -> list[Invitation]:
    """Returns at most `limit` invitations with ids before `before`, newest first."""
    ...


@sql.run(
    "INSERT INTO invitations (id, token_hash, account_id, note, created_at, expires_at)"
    " VALUES (:invitation_id, :token_hash, :account_id, :note, :now, :expires_at)"
)
async def insert_invitation(
    tx: Tx, *, invitation_id: str, token_hash: str, account_id: str, note: str | None, expires_at: int
) -> None:
    """Inserts an invitation that holds until `expires_at` (milliseconds)."""
    ...


async def invitation_holds(tx: Tx, token_hash: str) -> bool:
    """Returns whether the invitation of a token can be used."""
    return await tx.one(FIND_HOLDING, token_hash=token_hash, now=tx.now) is not None


async def use_invitation(tx: Tx, token_hash: str, account_id: str) -> bool:
    """Has an account use an invitation up. Returns False when it does not hold: of two at once one gets that."""
    return await tx.one(USE, token_hash=token_hash, account_id=account_id, now=tx.now) is not None


async def revoke_invitation(tx: Tx, invitation_id: str) -> bool:
    """Ends an invitation. Returns False when it was used or revoked already."""
    return await tx.one(REVOKE, id=invitation_id, now=tx.now) is not None


@sql.run(
    "UPDATE invitations SET note = NULL, used_by = CASE WHEN used_by <> :account_id THEN used_by END WHERE id IN"
    " (SELECT id FROM invitations WHERE used_by = :account_id OR (account_id = :account_id AND note IS NOT NULL)"
    " LIMIT :batch)"
)
async def erase_invitations(tx: Tx, account_id: str, batch: int) -> int:
    """Erases that a deleted account used an invitation, and its own notes, in at most `batch`; returns in how many."""
    ...


@sql.run(
    "DELETE FROM invitations WHERE id IN (SELECT id FROM invitations WHERE expires_at <= :until"
    " ORDER BY expires_at LIMIT :batch)"
)
async def purge_invitations(tx: Tx, *, until: int, batch: int) -> int:
    """Removes invitations that expired up to `until` (milliseconds), oldest first, and returns how many."""
    ...


INSERT_TOKEN: Final = Command("INSERT INTO setup_tokens (token_hash, created_at) VALUES (:token_hash, :now)")

TRIM_TOKENS: Final = Command(
    "DELETE FROM setup_tokens WHERE token_hash NOT IN"
    " (SELECT token_hash FROM setup_tokens ORDER BY created_at DESC, token_hash LIMIT :kept)"
)

FIND_TOKEN: Final = Query(str, "SELECT token_hash FROM setup_tokens WHERE token_hash = :token_hash")


async def insert_setup_token(tx: Tx, token_hash: str, kept: int) -> None:
    """Stores the hash of a token; the latest `kept` are stored."""
    await tx.run(INSERT_TOKEN, token_hash=token_hash, now=tx.now)
    await tx.run(TRIM_TOKENS, kept=kept)


async def has_setup_token(tx: Tx, token_hash: str) -> bool:
    """Returns whether a token is good."""
    return await tx.one(FIND_TOKEN, token_hash=token_hash) is not None


# All of them: of two that make the first account at once, with whichever tokens, one waits here and finds none.
@sql.run("DELETE FROM setup_tokens")
async def delete_setup_tokens(tx: Tx) -> int:
    """Removes all tokens and returns how many there were."""
    ...
