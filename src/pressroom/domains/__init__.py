"""The rooms of the house, one per domain; docs/architecture.md says what stands on what."""
