"""Drafts and scheduled posts (docs/drafts.md)."""
