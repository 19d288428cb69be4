"""What admins see and do in the browser (docs/operations.md#admins)."""
