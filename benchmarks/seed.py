"""The data that is measured on: accounts and keys, made by the package's own actions.

python -m benchmarks.seed FOLDER    makes `pressroom.db` and `keys.txt` there, by the package that is imported
"""

import argparse
from pathlib import Path
from typing import Final

import uvloop

from pressroom.clock import SystemClock
from pressroom.db import Tx
from pressroom.db.migrate import migrate
from pressroom.db.sqlite.database import open_sqlite
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import NewKey, Scope

ACCOUNTS: Final = 200
KEYS_PER_ACCOUNT: Final = 5
ACCOUNTS_PER_TRANSACTION: Final = 50


async def seed(file: Path) -> list[str]:
    """Makes a database in `file`; the secrets of its 1,000 keys."""
    db = open_sqlite(file, SystemClock())
    try:
        await migrate(db)
        secrets: list[str] = []
        for first in range(0, ACCOUNTS, ACCOUNTS_PER_TRANSACTION):
            secrets += await db.transact(_make_accounts, range(first, first + ACCOUNTS_PER_TRANSACTION))
        return secrets
    finally:
        await db.close()


async def _make_accounts(tx: Tx, numbers: range) -> list[str]:
    secrets: list[str] = []
    for number in numbers:
        name = f"account{number}"
        account = await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash"))
        for label in range(KEYS_PER_ACCOUNT):
            _, secret = await create_key(tx, account.id, NewKey(f"key {label}", list(Scope)))
            secrets.append(secret)
    return secrets


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seed", description=__doc__)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    (folder / "keys.txt").write_text("\n".join(uvloop.run(seed(folder / "pressroom.db"))), "utf-8")


if __name__ == "__main__":
    main()
