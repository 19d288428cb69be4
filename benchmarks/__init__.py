"""How fast the embedded server is, beside its baselines, measured in the same run: `make bench` (docs/performance.md)."""
