"""What readers report, and what admins decide about it (docs/moderation.md)."""
