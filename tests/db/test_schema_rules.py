"""Each migration is safe while the version before serves, by docs/development.md#a-migration."""

import pytest

from pressroom.db.migrate import Migration, all_migrations
from tests.harness.schema_rules import faults_in, faults_of

SAFE = [
    "CREATE TABLE parts (id TEXT PRIMARY KEY, size BIGINT NOT NULL); CREATE UNIQUE INDEX parts_size ON parts (size);",
    "CREATE TABLE parts (id TEXT PRIMARY KEY); INSERT INTO parts SELECT id FROM posts;",
    "ALTER TABLE posts ADD COLUMN language TEXT;",
    "ALTER TABLE posts ADD COLUMN language TEXT; UPDATE posts SET language = 'en' WHERE id > '0';",
    "ALTER TABLE posts ADD COLUMN stars INTEGER NOT NULL DEFAULT 0;",
    "CREATE INDEX posts_language ON posts (language);",
    "CREATE INDEX posts_one ON posts (id);\nCREATE INDEX posts_two ON posts (content) WHERE deleted_at IS NULL;",
    "-- Unused since 0.2.0: posts.language, parts\nALTER TABLE posts DROP COLUMN language;\nDROP TABLE parts;",
    "-- Unused since 0.2.0: posts_language\nDROP INDEX posts_language;",
    "UPDATE oldest_program SET schema_version = 41;",
]

UNSAFE = {
    "ALTER TABLE posts DROP COLUMN content": "is dropped",
    "ALTER TABLE posts DROP content": "is dropped",
    "-- Unused since 0.2.0: posts.language\nALTER TABLE posts DROP COLUMN content": "is dropped",
    "DROP TABLE IF EXISTS posts": "is dropped",
    "DROP INDEX posts_profile": "is dropped",
    "DROP TABLE posts CASCADE": "not known",
    "ALTER TABLE posts RENAME COLUMN content TO body": "renamed or changed",
    "ALTER TABLE posts RENAME TO articles": "renamed or changed",
    "ALTER TABLE posts ALTER COLUMN content TYPE BIGINT": "renamed or changed",
    "ALTER TABLE posts ALTER COLUMN content SET NOT NULL": "renamed or changed",
    "alter table posts add column language text not null": "may be null, or has a default",
    "ALTER TABLE posts ADD language TEXT NOT NULL": "may be null, or has a default",
    "ALTER TABLE posts ADD COLUMN language TEXT UNIQUE": "constraint",
    "ALTER TABLE posts ADD COLUMN language TEXT CHECK (language <> '')": "constraint",
    "ALTER TABLE posts ADD COLUMN media_id TEXT REFERENCES media (id)": "constraint",
    "ALTER TABLE posts ADD COLUMN at BIGINT NOT NULL DEFAULT (random())": "rewrites the table",
    "ALTER TABLE posts ADD CONSTRAINT one UNIQUE (content)": "constraint",
    "ALTER TABLE posts ADD CHECK (content <> '')": "constraint",
    "ALTER TABLE posts ADD FOREIGN KEY (hub_id) REFERENCES hubs (id)": "constraint",
    "CREATE UNIQUE INDEX posts_once ON posts (content)": "unique index",
    "CREATE TABLE parts (id TEXT); CREATE INDEX posts_language ON posts (language)": "writes wait",
    "ALTER TABLE posts ADD COLUMN language TEXT; CREATE INDEX posts_language ON posts (language)": "writes wait",
    "CREATE INDEX events_data ON events (data)": "no index of a partitioned table",
    "UPDATE posts SET content = ''": "are written",
    "ALTER TABLE posts ADD COLUMN language TEXT; UPDATE posts SET language = 'en', content = ''": "are written",
    "DELETE FROM idempotent_answers": "added or removed",
    "INSERT INTO posts (id) VALUES ('1')": "added or removed",
    "CREATE TRIGGER noted AFTER INSERT ON posts EXECUTE FUNCTION note()": "not known",
    "VACUUM": "not known",
}


def test_every_migration_is_safe_while_the_version_before_serves() -> None:
    assert faults_in(all_migrations()) == []


@pytest.mark.parametrize("sql", SAFE)
def test_additive_migration_is_safe(sql: str) -> None:
    assert faults_of(Migration(9_999, "safe", sql)) == []


@pytest.mark.parametrize("sql", UNSAFE)
def test_incompatible_migration_is_found(sql: str) -> None:
    faults = faults_of(Migration(9_999, "unsafe", sql))
    assert len(faults) == 1
    assert UNSAFE[sql] in faults[0]


def test_unreleased_tables_may_change() -> None:
    made = "CREATE TABLE parts (id TEXT); ALTER TABLE posts ADD COLUMN language TEXT;"
    changed = "ALTER TABLE parts RENAME TO pieces; UPDATE posts SET language = 'en';"
    since = "UPDATE oldest_program SET schema_version = {};"
    migrations = [Migration(9_998, "made", since.format(9_997) + made), Migration(9_999, "changed", changed)]
    assert faults_in(migrations) == []
    migrations[1] = Migration(9_999, "changed", since.format(9_998) + changed)
    assert [fault[:4] for fault in faults_in(migrations)] == ["9999", "9999"]
