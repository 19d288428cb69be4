"""The webhooks room's SQL."""
