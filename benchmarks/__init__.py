"""How fast the embedded server is, beside its floors in the same run: `make bench` (docs/performance.md)."""
