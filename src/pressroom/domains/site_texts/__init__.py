"""Texts in which the operator describes the server: about, rules, terms, privacy (docs/moderation.md#texts)."""
