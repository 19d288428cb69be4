"""Pages and routes of admins (docs/operations.md#admins)."""
