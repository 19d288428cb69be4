"""Comments under posts, and replies to them (SPEC, Comment)."""
