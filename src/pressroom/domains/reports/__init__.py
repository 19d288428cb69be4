"""Reports of readers, and the decisions of admins (docs/moderation.md)."""
