"""Idempotency keys: a write runs once, and its stored response is replayed (docs/idempotency.md)."""
