"""The operator's tasks: backup, restore, transfer, retention, checks."""
