"""One package per subject; docs/architecture.md says which may import which."""
