"""Notifications: mentions, followers, revoked keys and disabled webhooks."""
