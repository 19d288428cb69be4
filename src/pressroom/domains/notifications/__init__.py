"""What an account is told of: mentions, and what became of its keys and webhooks."""
