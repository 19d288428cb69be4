"""Discovery: hashtags that rise, posts that many like, people and hubs to follow and join (docs/web-app.md#explore)."""
