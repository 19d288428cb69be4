"""Limits: request rates per key and session, content quotas per account (docs/limits.md)."""
