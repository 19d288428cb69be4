"""Search of posts, people, hubs and hashtags (docs/search.md)."""
