"""PostgreSQL: the pool, transactions, statements sent ahead, signals and locks between processes, a replica.

Everything that touches asyncpg beneath its documented interface is here: `connector` makes its connections, `pipeline`
stands between them and their sockets (docs/decisions/0001-statements-ahead-on-postgresql.md).
"""
