"""Real PostgreSQL and Redis servers for the tests, out of Python wheels: no installing, no root."""
