"""SQL of the webhooks package."""
