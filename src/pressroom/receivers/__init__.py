"""For programs that receive webhooks: a module to verify signatures, and a command that shows deliveries."""
