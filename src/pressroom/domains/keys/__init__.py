"""API keys: making, checking, revoking (SPEC, API key and Authentication)."""
