"""Webhooks: endpoints, and the delivery of every event to those that chose it (SPEC, Events)."""
