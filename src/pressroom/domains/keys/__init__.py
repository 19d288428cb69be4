"""API keys: making, checking, revoking (docs/keys.md#api-keys)."""
