"""Rows whose time is over, made by the thousand: one table for each rule of `pressroom.operations.retention`."""

from typing import Final

from pressroom.db import Command, Database, Tx

_NUMBERS: Final = (
    "WITH RECURSIVE n(i) AS (SELECT CAST(:first AS BIGINT) UNION ALL SELECT i + 1 FROM n"
    " WHERE i + 1 < :first + :count),"
    " one AS (SELECT (SELECT min(id) FROM accounts) AS account, (SELECT min(id) FROM api_keys) AS key)"
)

_BODY: Final = '{"content": "' + 700 * "x" + '"}'


_ROWS: Final[dict[str, tuple[str, str]]] = {
    "idempotent_answers": (
        "account_id, method, path, idempotency_key, body, body_hash, created_at",
        f"account, 'POST', '/api/posts', 'old ' || i, '{_BODY}', '', i",
    ),
    "sessions": (
        "account_id, token_hash, id, agent, address, created_at, confirmed_at, renewed_at, seen_at, expires_at",
        "account, 'old ' || i, 'old ' || i, '', '', i, i, i, i, i",
    ),
    "reserved_usernames": ("username_key, account_id, reserved_until", "'old ' || i, account, i"),
    "invitations": ("id, token_hash, account_id, created_at, expires_at", "'old ' || i, 'old ' || i, account, i, i"),
    "one_time_tokens": ("token_hash, account_id, purpose, created_at, expires_at", "'old ' || i, account, 'x', i, i"),
    "sign_in_attempts": ("subject, failures, successes, window_ends_at", "'old ' || i, 1, 0, i"),
    "sign_up_attempts": ("subject, times, updated_at", "'old ' || i, '[]', i"),
    "known_addresses": ("account_id, address_hash, seen_at", "account, 'old ' || i, i"),
    "rate_windows": ("key_id, state, updated_at", "'old ' || i, '{}', i"),
    "content_quotas": ("account_id, day, used", "account, -i, 1"),
    "api_key_usage": ("key_id, hour, accepted, limited, refused, failed", "key, -i, 1, 0, 0, 0"),
    "api_key_refusals": (
        "key_id, id, refused_at, method, route, status, label, address, request_id",
        "key, 'old ' || i, i, 'POST', '/api/posts', 400, 'Validation failed', '', ''",
    ),
    "server_secrets": ("name, secret, signs_from, expires_at", "'old', 'old ' || i, i, i"),
    "audit_entries": (
        "account_id, id, kind, at, times, actor, address, detail",
        "account, 'old ' || i, 'session.started', i, 1, 'self', '127.0.0.1', '{}'",
    ),
    "notifications": ("id, account_id, type, actor_id, created_at", "'old ' || i, account, 'mention', account, i"),
    "drafts": (
        "id, account_id, version, state, fields, scheduled_by_key, needs_approval, created_at, updated_at",
        "'old ' || i, account, 1, 'published', '{}', FALSE, FALSE, i, i",
    ),
    "webhook_hours": (
        (
            "account_id, webhook_id, hour, accepted, redirected, refused, failed, unanswered, took_20, took_50,"
            " took_100, took_200, took_350, took_500, took_750, took_1000, took_1500, took_2000, took_3500, took_5000,"
            " took_7500, took_10000"
        ),
        "account, 'old', -i, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0",
    ),
    "report_cases": (
        "id, type, subject_id, owner_id, material, opened_at, decided_at, decision",
        "'old ' || i, 'post', 'old ' || i, account, '{}', i, i, 'dismissed'",
    ),
    "link_cards": ("url, status, fetched_at, leased_until", "'https://example.org/' || i, 'FAILED', i, 0"),
    "jobs": (
        "id, kind, subject, account_id, tries, leased_until, created_at, error",
        "'old ' || i, 'old', 'old ' || i, account, 5, 0, i, 'gone'",
    ),
    "deliveries": (
        (
            "account_id, webhook_id, event_id, envelope_id, event_type, state, code, redelivery, tries, attempts,"
            " due_at, finished_at"
        ),
        "account, 'old', 'old ' || i, 'evt_' || i, 'post.created', 'delivered', '2xx', FALSE, 1, '[]', i, i",
    ),
    "events": (
        "id, account_id, type, data, created_at",
        f"'0 old ' || i, account, 'post.created', '{_BODY}', i",  # sorts before every id of this century
    ),
}
"""By table, the columns and their values; `i` numbers the rows."""

FILLINGS: Final = {
    table: Command(f"INSERT INTO {table} ({columns}) {_NUMBERS} SELECT {values} FROM n, one")  # noqa: S608  # our own
    for table, (columns, values) in _ROWS.items()
}
"""By table, what fills it. Needs an account and a key."""


async def fill(db: Database, table: str, count: int, first: int = 1) -> None:
    """Puts so many rows into a table, numbered from `first`."""
    await db.transact(_fill, FILLINGS[table], first, count)


async def _fill(tx: Tx, filling: Command, first: int, count: int) -> None:
    await tx.run(filling, first=first, count=count)
