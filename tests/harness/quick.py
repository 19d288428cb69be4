"""The quick suite, which `make test` runs, and the rest of the whole one (docs/development.md#two-suites)."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

import pytest

PROCESSES = ("tests/clients/", "tests/deploy/", "tests/e2e/", "tests/fuzz/", "tests/races/", "tests/services/")
"""Tests that start, kill and install whole processes, or race for long."""

JOURNEY = "tests/pages/test_publishing_journey.py"
"""The tests of the quick suite in a browser; all others need the rest."""

LARGE = (
    "tests/api/test_deletion_killed.py",
    "tests/blobs/test_blobs.py::test_the_loop_goes_on",
    "tests/blobs/test_disk.py::test_a_kill_at_any_moment_leaves_one_whole_value",
    "tests/blobs/test_s3.py::test_a_server_that_is_gone_and_comes_back",
    "tests/db/test_connector.py",
    "tests/db/test_migrating_beside.py::test_requests_go_on_while_a_transaction_keeps_a_migration_from_its_table",
    "tests/domains/keys/test_scale.py",
    "tests/domains/media/test_images.py::test_the_largest_image_that_is_allowed_stays_within_memory",
    "tests/domains/media/test_sandbox.py::test_the_parent_stays_as_small_as_it_was",
    "tests/domains/media/test_videos.py",
    "tests/domains/notifications/",
    "tests/domains/personal_data/test_archive.py",
    "tests/domains/reading/test_scale.py",
    "tests/domains/sign_in/test_passwords.py::test_threads_that_hash_give_way_to_the_event_loop",
    "tests/domains/webhooks/test_filter_scale.py",
    "tests/domains/webhooks/test_redelivery_scale.py",
    "tests/domains/webhooks/test_retention_scale.py",
    "tests/domains/webhooks/test_status_scale.py",
    "tests/jobs/test_scale.py",
    "tests/media/test_audience_narrowed.py",
    "tests/media/test_colour_profiles.py",
    "tests/media/test_long_videos.py",
    "tests/media/test_picture_sizes.py::test_a_usual_photo_is_light_in_its_slot",
    "tests/media/test_picture_sizes.py::test_animations_move_in_every_size",
    "tests/media/test_processing.py",
    "tests/media/test_store_faults.py",
    "tests/media/test_uploads_in_transit.py::test_twenty_uploads_at_once_stay_within_bounds",
    "tests/pages/test_hostile_texts.py",
    "tests/pages/test_large_uploads.py",
    "tests/pages/test_links.py",
    "tests/pages/test_page_costs.py",
    "tests/repository/test_release.py",
    "tests/test_entities.py::test_twice_the_text",
    "tests/test_ids.py::test_ids_of_many_processes_in_few_milliseconds_differ_and_keep_their_place",
    "tests/operations/test_retention.py",
    "tests/web/test_json_bodies.py::test_both_ways",
    "tests/web/test_stalled_readers.py",
    "tests/webhooks/test_bad_receivers.py::test_every_bad_receiver_at_once",
)
"""Tests of many rows, long texts, large files, installations and time-outs, which take seconds each."""

BOTH_ENGINES = (
    "tests/db/",
    "tests/jobs/",
    "tests/api/test_idempoten",
    "tests/api/test_limits",
    "tests/domains/limits/",
)
"""Tests that run on both engines in the quick suite as well: the engines differ here."""

ENGINES = ("sqlite", "postgres")

_LEFT_OUT = tuple(prefix for prefix in PROCESSES + LARGE if "::" not in prefix)


def is_left_out(path: Path) -> bool:
    """Returns whether the quick suite has no test in a folder or file; its path is that below the repository."""
    return f"{path.as_posix()}/".startswith(_LEFT_OUT) or path.as_posix().startswith(_LEFT_OUT)


def choose_quick(items: Iterable[pytest.Item]) -> set[pytest.Item]:
    """Returns the tests of the quick suite: each function on the engine of its module, or on the only one it has."""
    quick = [item for item in items if not item.nodeid.startswith(PROCESSES + LARGE) and not _is_in_browser(item)]
    engines = {item: _engine(item) for item in quick}
    engines_of: defaultdict[str, set[str | None]] = defaultdict(set)
    for item, engine in engines.items():
        engines_of[_function(item)].add(engine)
    return {
        item
        for item, engine in engines.items()
        if item.nodeid.startswith(BOTH_ENGINES)
        or engine == (chosen := _engine_of_module(item.nodeid))
        or chosen not in engines_of[_function(item)]
    }


def _is_in_browser(item: pytest.Item) -> bool:
    fixtures = item.fixturenames if isinstance(item, pytest.Function) else []
    return "chromium" in fixtures and not item.nodeid.startswith(JOURNEY)


def _function(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _engine(item: pytest.Item) -> str | None:
    """Returns the engine that a test runs on; None for a test that runs once for both."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return None
    values = [value for value in item.callspec.params.values() if isinstance(value, str)]
    return next((engine for engine in ENGINES for value in values if value.startswith(engine)), None)


def _engine_of_module(nodeid: str) -> str:
    """Returns the engine of a module in the quick suite, fixed by its name."""
    return ENGINES[crc32(nodeid.partition("::")[0].encode()) % len(ENGINES)]
