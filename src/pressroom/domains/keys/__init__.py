"""API keys: creating, checking and revoking them (docs/keys.md#api-keys)."""
