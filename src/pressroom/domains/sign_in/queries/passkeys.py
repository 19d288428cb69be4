"""Passkeys: SQL."""

import msgspec

from pressroom.db import Tx, sql


class Passkey(msgspec.Struct):
    """A passkey of an account. Its ids and key are base64url; times are in milliseconds."""

    id: str
    account_id: str
    credential_id: str
    public_key: str
    sign_count: int
    name: str
    created_at: int
    used_at: int | None


@sql.one(
    "SELECT id, account_id, credential_id, public_key, sign_count, name, created_at, used_at FROM passkeys"
    " WHERE account_id = :account_id AND credential_id = :credential_id"
)
async def find_passkey(tx: Tx, account_id: str, credential_id: str) -> Passkey | None:
    """Returns the passkey of the account with this credential's id."""
    ...


@sql.all(
    "SELECT id, account_id, credential_id, public_key, sign_count, name, created_at, used_at FROM passkeys"
    " WHERE account_id = :account_id ORDER BY id DESC"
)
async def list_passkeys(tx: Tx, account_id: str) -> list[Passkey]:
    """Returns the passkeys of the account, newest first."""
    ...


@sql.run(
    "INSERT INTO passkeys (account_id, id, credential_id, public_key, sign_count, name, created_at)"
    " VALUES (:account_id, :passkey_id, :credential_id, :public_key, :sign_count, :name, :now)"
    " ON CONFLICT (credential_id) DO NOTHING"
)
async def insert_passkey(
    tx: Tx, *, account_id: str, passkey_id: str, credential_id: str, public_key: str, sign_count: int, name: str
) -> bool:
    """Inserts a passkey. Returns False when an account has this credential already."""
    ...


# Of two answers at once with one count, the second finds it taken.
@sql.run(
    "UPDATE passkeys SET sign_count = :sign_count, used_at = :now WHERE account_id = :account_id AND id = :passkey_id"
    " AND sign_count = :before"
)
async def use_passkey(tx: Tx, account_id: str, passkey_id: str, *, before: int, sign_count: int) -> bool:
    """Records a use. Returns False when the passkey was removed, or used by another request meanwhile."""
    ...


@sql.run("UPDATE passkeys SET name = :name WHERE account_id = :account_id AND id = :passkey_id")
async def rename_passkey(tx: Tx, account_id: str, passkey_id: str, name: str) -> bool:
    """Sets the name of a passkey. Returns False when there is none."""
    ...


@sql.one("DELETE FROM passkeys WHERE account_id = :account_id AND id = :passkey_id RETURNING name")
async def delete_passkey(tx: Tx, account_id: str, passkey_id: str) -> str | None:
    """Removes a passkey and returns its name; None when there is none."""
    ...


@sql.run("DELETE FROM passkeys WHERE account_id = :account_id")
async def erase_passkeys(tx: Tx, account_id: str) -> None:
    """Removes all passkeys of an account."""
    ...
