"""Comments under posts, and replies to them (docs/posts.md#comments)."""
