"""Why keys were revoked when an operator gives no reason, and the kind of a deletion's job."""

from typing import Final

SUSPENDED: Final = "The account was suspended."
DELETED: Final = "The account was deleted."

DELETION_JOB: Final = "account deletion"
"""The kind of job that erases what belongs to a deleted account; its subject is the account's id."""
