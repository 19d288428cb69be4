"""What an operator does with an installation: backup, restore, transfer, retention, checks."""
