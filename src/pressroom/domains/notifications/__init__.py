"""What an account is told of: mentions, followers, and what became of its keys and webhooks."""
