"""Pages on which people read: permalinks, profiles, hubs, tags."""
