"""Blocks, mutes and word filters: what an account does not want to meet (docs/privacy.md)."""
