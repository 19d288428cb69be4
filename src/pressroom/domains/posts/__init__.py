"""Posts (docs/posts.md)."""
