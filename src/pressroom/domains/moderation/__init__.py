"""The operator's view of accounts: listing, suspending, restoring and deleting them (docs/people.md#suspension)."""
