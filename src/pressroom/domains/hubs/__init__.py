"""Hubs: groups that accounts join and publish into (SPEC, Post: hub)."""
