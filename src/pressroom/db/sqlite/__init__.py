"""SQLite: one writer, readers beside it, and transactions of both (docs/architecture.md#the-database)."""
