"""Blocks, mutes and word filters (docs/privacy.md)."""
