"""What happened, appended in the transaction that made it happen (SPEC, Events)."""
