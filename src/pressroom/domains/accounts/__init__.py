"""People: sign-up, sign-in, sessions, and who is calling (docs/people.md)."""
