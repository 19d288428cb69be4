"""Why keys were revoked, when an operator suspends or deletes their account and gives no reason."""

from typing import Final

SUSPENDED: Final = "The account was suspended."
DELETED: Final = "The account was deleted."
