"""Sign-in: sessions, passwords, two-factor codes, links, and the caller of a request (docs/sign-in.md)."""
