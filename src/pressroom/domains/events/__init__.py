"""Events, appended in the transaction of the write that they report (docs/webhooks.md#events)."""
