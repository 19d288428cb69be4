"""Posts (SPEC, Post)."""
