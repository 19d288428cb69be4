"""The verbs of webhooks. Each takes an open transaction first."""
