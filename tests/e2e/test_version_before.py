"""The version before, as it was, on the schema of today: its own tests pass, and no request to it fails meanwhile."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest

from pressroom.db.migrate import newest_schema
from tests.harness import versions
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher, told
from tests.harness.records import count, rows
from tests.harness.roomy import ROOMY
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

pytestmark = pytest.mark.skipif(versions.absent() is not None, reason=str(versions.absent()))

STORIES: Final = (
    "tests/api/test_publish.py",
    "tests/api/test_edit.py::test_every_edit_keeps_the_version_before",
    "tests/api/test_edit.py::test_a_repeated_edit_is_done_once",
    "tests/api/test_delete.py::test_a_deleted_post_is_kept_and_no_longer_shown",
    "tests/api/test_delete.py::test_a_second_deletion_is_refused_and_a_replay_is_not",
    "tests/api/test_bounce.py::test_a_bounce_with_words_is_a_quote",
    "tests/api/test_bounce.py::test_a_repeated_bounce_is_one",
    "tests/api/test_comments.py::test_a_comment",
    "tests/api/test_comments.py::test_replies_count_among_the_comments",
    "tests/api/test_idempotency.py::test_a_replay_is_the_first_answer_word_for_word",
    "tests/api/test_idempotency.py::test_a_replay_outlives_the_server",
    "tests/api/test_keys.py::test_a_key_is_shown_once_and_works",
    "tests/api/test_keys.py::test_a_revoked_key_is_refused_from_the_next_request_on",
    "tests/api/test_limits.py::test_sixty_requests_in_any_minute",
    "tests/api/test_limits.py::test_windows_outlive_the_server",
    "tests/media/test_upload.py::test_the_whole_answer",
    "tests/webhooks/test_events.py::test_post_event_has_each_field_of_the_post",
    "tests/webhooks/test_events.py::test_revocation_reaches_the_key_s_own_endpoints_once",
)
"""Tests of the version before; PRESSROOM_TEST_VERSION_BEFORE names others, such as tests/api."""

ENOUGH: Final = 20
"""Posts that are acknowledged before a migration begins, and after it has ended."""


def run_tests(
    folder: Path, tests: list[str], later: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs tests of the version before on the schema that its migrations, today's and `later` ones make."""
    source = versions.previous_source(folder)
    versions.put_migrations(source, later or versions.LATER)
    # A random order would be another one each time.
    options = ["-q", "--order", "0", "-p", "no:cacheprovider", f"--basetemp={folder.parent / 'temporary'}"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=source,
        env=versions.environment(source),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=800,
    )


@pytest.mark.usefixtures("postgres_server")  # without which its tests skip half of themselves
def test_the_version_before_passes_its_own_tests_on_the_schema_of_today(tmp_path: Path) -> None:
    chosen = os.environ.get("PRESSROOM_TEST_VERSION_BEFORE", "").split() or list(STORIES)
    folder = tmp_path / "source"
    folder.mkdir()
    done = run_tests(folder, chosen)
    assert done.returncode == 0, done.stdout
    assert " skipped" not in done.stdout.splitlines()[-1], done.stdout


def test_source_of_a_commit_is_read_from_the_history(tmp_path: Path) -> None:
    versions.unpack("HEAD", tmp_path)
    assert (tmp_path / "src/pressroom/__init__.py").is_file()


def test_its_tests_find_a_migration_that_drops_a_used_column(tmp_path: Path) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    done = run_tests(
        folder,
        ["tests/api/test_edit.py::test_a_repeated_edit_is_done_once", "-k", "sqlite"],
        {"drop": "ALTER TABLE posts DROP COLUMN edited_at;"},
    )
    assert done.returncode == 1, done.stdout
    assert '{"error":"Internal error"' in done.stdout, done.stdout


def test_no_request_to_the_version_before_fails_while_the_database_is_migrated(
    process_server: Callable[..., ServerProcess],
    postgres_server: PostgresServer,
    redis_server: RedisServer,
    tmp_path: Path,
) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    source = versions.previous_source(folder)
    shared: dict[str, object] = {
        **ROOMY,
        "DATABASE_URL": postgres_server.create_database(f"before_{os.getpid()}_{time.monotonic_ns()}"),
        "REDIS_URL": redis_server.url,
        "BLOBS_URL": f"file://{tmp_path}/blobs",
    }
    today = versions.of(versions.later_source(tmp_path / "today", versions.LATER), process_server(**shared))
    before = [versions.of(source, process_server(**shared)) for _ in range(2)]
    before[0].command("migrate")
    schema = "SELECT max(version) FROM schema_migrations"
    assert rows(today, schema) == [(versions.previous_schema(),)]
    publishers: list[Publisher] = []
    for number, server in enumerate(before):
        key = Owner(server.start(), f"owner{number}").key()
        publishers += [Publisher(server, key, f"{number} {name}", patient=False) for name in "abc"]

    async def story() -> None:
        over = asyncio.Event()
        working = [asyncio.create_task(each.publish(each.until(over))) for each in publishers]

        async def have_published(number: int) -> None:
            for each in publishers:
                enough = len(each.acknowledged) + number
                while len(each.acknowledged) < enough:
                    assert not any(task.done() for task in working), told(publishers)
                    await asyncio.sleep(0.01)

        try:
            await have_published(ENOUGH)
            await asyncio.to_thread(today.command, "migrate")
            await have_published(ENOUGH)
        finally:
            over.set()
            await asyncio.gather(*working)

    asyncio.run(story())
    assert rows(today, schema) == [(newest_schema() + len(versions.LATER),)]
    assert all({*each.outcomes} <= {"201", "200"} and not each.surprises for each in publishers), told(publishers)
    assert count(today, "posts") == sum(len(each.sent) for each in publishers)
