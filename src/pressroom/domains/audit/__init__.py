"""The audit log: what was done to an account, by whom and from where (docs/sign-in.md#the-audit-log)."""
