"""The actions of webhooks. Each takes an open transaction first."""
