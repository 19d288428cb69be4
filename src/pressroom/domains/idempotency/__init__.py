"""One request, one effect: the stored answers of writes (docs/idempotency.md)."""
