"""The parts of an overview of the installation, and the rule whom an admin may suspend or delete. Pure."""

from typing import Final

import msgspec

from pressroom.domains.accounts.models import AccountRecord
from pressroom.errors import Conflict

MOST: Final = 10_000
"""The count at which an overview stops counting rows: it costs no more than this."""

LOOKED_AT: Final = 1_000
"""Endpoints among which the oldest waiting delivery is looked for."""

KEYS_SHOWN: Final = 20
ENDPOINTS_SHOWN: Final = 50


class Counts(msgspec.Struct):
    """How many rows there are of each kind, MOST + 1 at the most; `stored_bytes` is of so many accounts at the most."""

    accounts: int
    new_accounts: int
    suspended_accounts: int
    posts: int
    new_posts: int
    waiting_deliveries: int
    dead_jobs: int
    storing_accounts: int
    stored_bytes: int


def check_suspended(record: AccountRecord, *, is_suspended: bool) -> None:
    """Raises Conflict unless the account is suspended, or is not."""
    if (record.suspended_at is not None) != is_suspended:
        raise Conflict(f"{record.username} is {'not suspended' if is_suspended else 'suspended already'}.")
