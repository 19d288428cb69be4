"""Webhooks: endpoints, and the delivery of every event to those that chose it (docs/webhooks.md)."""
