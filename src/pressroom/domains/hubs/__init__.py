"""Hubs: groups that accounts join and publish into (docs/posts.md#hubs)."""
