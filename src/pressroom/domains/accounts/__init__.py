"""Accounts: sign-up, sign-in, sessions, and the caller of a request (docs/people.md)."""
