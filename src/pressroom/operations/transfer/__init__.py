"""`pressroom transfer`: an installation on SQLite moves to PostgreSQL (docs/backup.md#from-sqlite-to-postgresql)."""
