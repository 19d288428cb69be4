"""How fast the embedded server is, beside baselines of the same run: `make bench` (docs/performance.md)."""
