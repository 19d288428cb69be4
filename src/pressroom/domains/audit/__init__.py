"""The audit log: acts on an account, with the person and the address (docs/sign-in.md#the-audit-log)."""
