"""One package per subject; docs/architecture.md has the order of imports."""
