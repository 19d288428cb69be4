"""Rows are kept for the days of their setting, which never shortens what integrators were promised."""

import pytest

from pressroom.clock import DAY, HOUR
from pressroom.db import Query
from pressroom.errors import SettingError
from pressroom.jobs.sweeps import run_batches
from pressroom.operations.retention import KEPT, kept_of, purges_of
from pressroom.settings import Settings
from tests.api.actors import Actor, rows
from tests.harness.local import LocalServer
from tests.webhooks.clocked import later, post
from tests.webhooks.conftest import MakeEndpoint
from tests.webhooks.endpoints import DELIVERING

SETTINGS = {**DELIVERING, "DELIVERY_RETENTION_DAYS": 60, "NOTIFICATION_RETENTION_DAYS": 400, "LOG_RETENTION_DAYS": 30}

EVENTS = Query(int, "SELECT count(*) FROM events WHERE account_id = :account_id")
MADE = Query(int, "SELECT count(*) FROM audit_entries WHERE account_id = :account_id AND kind = 'key.made'")


def clean_up(server: LocalServer) -> None:
    """Does a server's work of every minute on rows, as its settings say."""
    db = server.runtime.db
    for _, purge in purges_of("sqlite", kept_of(server.settings)):
        server.run(run_batches(db, purge))


def test_deliveries_and_events_are_kept_for_the_days_of_the_setting(
    alice: Actor, server: LocalServer, endpoint: MakeEndpoint
) -> None:
    hook = endpoint("post.created")
    post(alice)
    server.deliver()

    def left() -> tuple[list[str], int]:
        (events,) = rows(server, EVENTS, account_id=alice.account.id)
        return hook.states(), events

    later(alice, 60 * DAY - 1)
    clean_up(server)
    assert left() == (["delivered"], 1)
    later(alice, HOUR + 1)
    clean_up(server)
    assert left() == ([], 0)


def test_log_is_kept_for_the_days_of_the_setting(alice: Actor, server: LocalServer) -> None:
    later(alice, 29 * DAY)
    clean_up(server)
    assert rows(server, MADE, account_id=alice.account.id) == [1]
    later(alice, 2 * DAY)
    clean_up(server)
    assert rows(server, MADE, account_id=alice.account.id) == [0]


@pytest.mark.parametrize("name", ["DELIVERY_RETENTION_DAYS", "NOTIFICATION_RETENTION_DAYS", "LOG_RETENTION_DAYS"])
def test_under_30_days_are_refused(name: str) -> None:
    with pytest.raises(SettingError, match=f"PRESSROOM_{name} is not a whole number from 30 to"):
        Settings({f"PRESSROOM_{name}": "29"})


def test_defaults_are_those_of_the_documentation() -> None:
    assert kept_of(Settings({})) == KEPT
    assert (KEPT.deliveries, KEPT.notifications, KEPT.log) == (30 * DAY, 90 * DAY, 365 * DAY)
