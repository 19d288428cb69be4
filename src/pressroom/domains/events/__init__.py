"""What happened, appended in the transaction that made it happen (docs/webhooks.md#events)."""
