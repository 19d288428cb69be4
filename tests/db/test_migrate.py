"""A database migrated from any earlier version equals a fresh one; a wrong version is told in one line."""

import itertools
import os
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from pressroom.clock import SettableClock
from pressroom.db import Command, Database, Query, Tx
from pressroom.db.migrate import all_migrations, applied_version, check_migrated, migrate
from pressroom.db.postgres import open_postgres
from pressroom.db.sqlite import open_sqlite
from pressroom.errors import SettingError
from tests.services.postgres import PostgresServer

Run = Callable[[Any], Any]

_numbers = itertools.count()

VERSIONS = [migration.version for migration in all_migrations()]

ABSENT = {25, 29}
"""Numbers that were given up before a release. There is no further one: a number is never left out, nor used twice."""

SCHEMA = {
    "sqlite": Query(str, "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY 1"),
    "postgres": Query(
        str,
        "SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable"
        " || ' ' || coalesce(column_default, '') || ' ' || coalesce(collation_name, '')"
        " FROM information_schema.columns WHERE table_schema = 'public'"
        " UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'"
        " UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE connamespace = 'public'::regnamespace ORDER BY 1",
    ),
}


async def schema_of(tx: Tx, engine: str) -> list[str]:
    """The whole schema as comparable lines."""
    return await tx.all(SCHEMA[engine])


@pytest.fixture(params=["sqlite", "postgres"])
def make(request: pytest.FixtureRequest, tmp_path: Path, run: Run) -> Callable[[str], Database]:
    """Makes empty databases by name."""

    def make_database(name: str) -> Database:
        if request.param == "sqlite":
            return open_sqlite(tmp_path / f"{name}.db", SettableClock())
        server: PostgresServer = request.getfixturevalue("postgres_server")
        url = server.create_database(f"migrate_{name}_{os.getpid()}_{next(_numbers)}")
        database: Database = run(open_postgres(url, SettableClock()))
        return database

    return make_database


def test_each_number_is_one_migration_and_none_is_left_out() -> None:
    names = sorted(path.name for path in Path(str(files("pressroom.db"))).joinpath("migrations").glob("*"))
    strange = [name for name in names if not re.fullmatch(r"\d{4}_\w+\.sql", name)]
    assert strange == [], "a migration is called 0001_name.sql: these would not be applied"
    numbers = [int(name[:4]) for name in names]
    twice = {number: [name for name in names if int(name[:4]) == number] for number in numbers}
    twice = {number: both for number, both in twice.items() if len(both) > 1}
    assert twice == {}, "two migrations have one number, and only one of them would be applied: renumber the later one"
    missing = {*range(1, numbers[-1] + 1)} - {*numbers} - ABSENT
    assert missing == set(), (
        "these numbers are left out: a migration that takes one later is not applied to a database that is past it. "
        f"Give the next migration the number {min(missing, default=0)}"
    )


@pytest.mark.parametrize("version", [0, *VERSIONS])
def test_every_earlier_version_becomes_this_one(version: int, make: Callable[[str], Database], run: Run) -> None:
    fresh, old = make("fresh"), make("old")
    run(migrate(fresh))
    if version:
        run(migrate(old, upto=version))
    run(migrate(old))
    assert run(old.read(schema_of, old.engine)) == run(fresh.read(schema_of, fresh.engine))
    assert run(applied_version(old)) == VERSIONS[-1]
    assert run(migrate(old)) == []
    run(fresh.close())
    run(old.close())


def test_a_database_that_is_behind_or_ahead_is_told_in_one_line(make: Callable[[str], Database], run: Run) -> None:
    db = make("behind")
    with pytest.raises(SettingError, match="pressroom migrate"):
        run(check_migrated(db))
    run(migrate(db))
    run(check_migrated(db))
    run(db.script("INSERT INTO schema_migrations VALUES (9999, 'from_the_future')"))
    assert run(check_migrated(db)) == 9999
    run(db.script("UPDATE oldest_program SET schema_version = 9998"))
    with pytest.raises(SettingError, match="upgrade Pressroom"):
        run(check_migrated(db))
    run(db.close())


def test_a_migration_that_fails_leaves_nothing(make: Callable[[str], Database], run: Run) -> None:
    db = make("half")
    with pytest.raises(Exception, match=r"(?i)nowhere"):
        run(db.script("CREATE TABLE half (id TEXT); INSERT INTO nowhere VALUES (1)"))
    with pytest.raises(Exception, match="half"):
        run(db.prepare(Command("SELECT id FROM half")))
    run(db.close())


# What an installation at schema 4 may hold: a private account, posts of each kind, a deleted one, and things waiting.
HELD = """
INSERT INTO accounts (id, username, username_key, email, email_key, password_hash, display_name, bio, verified,
    email_verified, is_private, is_creator, total_followers, total_following, total_posts, created_at,
    updated_at) VALUES
    ('ann', 'Ann', 'ann', 'a@x.org', 'a@x.org', 'h', 'Ann', NULL, FALSE, FALSE, FALSE, FALSE, 1, 0, 4, 1, 1),
    ('bob', 'Bob', 'bob', 'b@x.org', 'b@x.org', 'h', 'Bob', NULL, FALSE, FALSE, TRUE, FALSE, 0, 1, 1, 1, 1);
INSERT INTO api_keys (id, account_id, secret_hash, key_prefix, label, scopes, ip_allowlist, created_at)
    VALUES ('key', 'ann', 's', 'p', 'l', 'posts:write', '', 1);
INSERT INTO rate_windows (key_id, state, updated_at)
    VALUES ('key', '{"attempts":[5],"posts":[],"day":[[0,1]],"refusals":[]}', 6);
INSERT INTO content_quotas (account_id, day, used) VALUES ('ann', 3, 7);
INSERT INTO idempotent_answers (account_id, method, path, idempotency_key, body, created_at)
    VALUES ('ann', 'POST', '/api/posts', 'k', '{}', 1);
INSERT INTO hubs (id, account_id, slug, name, members, created_at) VALUES ('hub', 'ann', 'hub', 'Hub', 1, 1);
INSERT INTO posts (id, account_id, key_id, type, content, visibility, created_at, updated_at, deleted_at,
    hub_id) VALUES
    ('p1', 'ann', 'key', 'POST', '#t', 'PUBLIC', 1, 1, NULL, 'hub'),
    ('p2', 'ann', NULL, 'POST', 'x', 'FOLLOWERS', 1, 1, NULL, NULL),
    ('p3', 'ann', NULL, 'POST', 'x', 'CUSTOM', 1, 1, NULL, 'hub'),
    ('p4', 'ann', NULL, 'POST', 'x', 'CUSTOM', 1, 1, 2, 'hub'),
    ('p5', 'ann', NULL, 'POST', 'x', 'CONNECTIONS', 1, 1, NULL, NULL),
    ('p6', 'bob', NULL, 'POST', '#t', 'PUBLIC', 1, 1, NULL, NULL),
    ('p7', 'ann', NULL, 'POST', 'x', 'PUBLIC', 1, 1, 2, NULL);
INSERT INTO post_versions (account_id, post_id, id, content, visibility, written_at)
    VALUES ('ann', 'p1', 'v', 'y', 'PUBLIC', 1);
INSERT INTO post_tags (account_id, post_id, tag) VALUES ('ann', 'p1', 't'), ('bob', 'p6', 't');
INSERT INTO post_audiences (post_id, account_id, author_id) VALUES
    ('p1', 'bob', 'ann'), ('p3', 'bob', 'ann'), ('p4', 'bob', 'ann'), ('gone', 'bob', 'ann');
INSERT INTO notifications (id, account_id, type, actor_id, post_id, created_at) VALUES
    ('n1', 'bob', 'mention', 'ann', 'p1', 1), ('n2', 'bob', 'mention', 'ann', 'p3', 1);
INSERT INTO media (id, account_id, owner_id, position, token, kind, status, size_bytes, created_at) VALUES
    ('m1', 'ann', 'p1', 0, 't1', 'image/png', 'READY', 100, 1),
    ('m2', 'ann', 'p1', 1, 't2', 'image/png', 'PROCESSING', NULL, 1),
    ('m3', 'ann', 'p2', 0, 't3', 'image/png', 'READY', 11, 1);
INSERT INTO jobs (id, kind, subject, account_id, tries, due_at, leased_until, created_at) VALUES
    ('j1', 'media', 'm2', 'ann', 1, 9, 0, 1), ('j2', 'media', 'm3', 'ann', 0, 8, 12, 1),
    ('j3', 'card', 'u', '', 0, 4, 0, 1),
    ('j4', 'card', 'dead', '', 5, NULL, 0, 1);
INSERT INTO webhooks (id, account_id, key_id, url, events, secret, created_at, consecutive_failures, leased_until,
    removed_at, sweep_at) VALUES ('w1', 'ann', 'key', 'https://x', 'post.created', 's', 1, 0, 0, NULL, NULL),
    ('w2', 'ann', 'key', 'https://x', 'post.created', 's', 1, 0, 0, 50, 51);
INSERT INTO deliveries (account_id, webhook_id, event_id, envelope_id, event_type, state, redelivery, tries, attempts,
    due_at) VALUES
    ('ann', 'w1', 'e1', 'evt_1', 'post.created', 'delivered', FALSE, 1, '[{"number":1,"httpCode":200}]', 1),
    ('ann', 'w1', 'e2', 'evt_2', 'post.created', 'pending', FALSE, 0, '[]', 1),
    ('ann', 'w1', 'e3', 'evt_3', 'post.created', 'pending', FALSE, 2,
     '[{"number":1,"httpCode":503,"error":"x"},{"number":2,"httpCode":404,"responseBody":"{\\"httpCode\\":200}"}]', 1),
    ('ann', 'w1', 'e4', 'evt_4', 'post.created', 'failed', FALSE, 5, '[{"httpCode":302},{"httpCode":null}]', 1),
    ('ann', 'w1', 'e5', 'evt_5', 'post.created', 'failed', FALSE, 1, '[{"number":1,"httpCode":302,"error":null}]', 1),
    ('ann', 'w1', 'e6', 'evt_6', 'post.created', 'failed', FALSE, 1, '[{"number":1,"httpCode":999,"error":null}]', 1);
"""

BECAME = {
    "SELECT id || ' ' || public_posts || ' ' || followers_posts || ' ' || connections_posts FROM accounts": (
        "ann 1 1 1",
        "bob 1 0 0",
    ),
    "SELECT account_id || ' ' || tag FROM post_tags WHERE NOT hidden": ("ann t",),
    "SELECT post_id || ' ' || coalesce(hub_id, '-') FROM post_audiences WHERE live": ("p3 hub",),
    "SELECT post_id || ' ' || coalesce(hub_id, '-') FROM post_audiences WHERE NOT live": ("gone -", "p1 hub", "p4 hub"),
    "SELECT account_id || ' ' || bytes FROM stored_media": ("ann 111",),
    "SELECT kind || ' ' || account_id || ' ' || due_at FROM job_queues": ("card  4", "media ann 8"),
    "SELECT id || ' ' || origin_id || ' ' || coalesce(sweep_at, 0) FROM webhooks": ("w1 w1 0", "w2 w2 2592000050"),
    "SELECT key_id || ' ' || updated_at FROM rate_windows": ("key 6",),
    "SELECT account_id || ' ' || used || ' ' || used_signed_in FROM content_quotas": ("ann 7 0",),
    "SELECT idempotency_key || body_hash FROM idempotent_answers": ("k",),
    "SELECT event_id || ' ' || code FROM deliveries": ("e1 2xx", "e2 ", "e3 4xx", "e4 none", "e5 3xx", "e6 none"),
}


async def values_of(tx: Tx, sql: str) -> list[str]:
    """One column of text."""
    return await tx.all(Query(str, sql))


def test_what_an_installation_holds_is_carried_over(make: Callable[[str], Database], run: Run) -> None:
    db = make("held")
    run(migrate(db, upto=4))
    run(db.script(HELD))
    run(migrate(db))
    assert {sql: tuple(sorted(run(db.read(values_of, sql)))) for sql in BECAME} == BECAME
    run(db.close())


def test_hashes_of_bodies_that_took_no_secret_are_forgotten(make: Callable[[str], Database], run: Run) -> None:
    db = make("hashed")
    run(migrate(db, upto=4))
    run(db.script(HELD))
    run(migrate(db, upto=30))
    run(db.script("UPDATE idempotent_answers SET body_hash = 'x'"))
    run(migrate(db))
    assert run(db.read(values_of, "SELECT idempotency_key || body_hash FROM idempotent_answers")) == ["k"]
    run(db.close())
