"""How much is allowed: request rates per key, content quota per account (docs/limits.md)."""
