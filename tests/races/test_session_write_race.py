"""Copies of each write of the signed-in owner, sent at the same moment under one Idempotency-Key: one effect."""

from collections import Counter
from collections.abc import Callable

import httpx
import pytest

from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import count
from tests.harness.wire import Reply, Request, decided
from tests.harness.writes import SETTINGS, WRITES, People, Write, replay_of

MakeServer = Callable[..., ServerProcess]

COPIES = 50
TABLES = (
    *(
        "accounts",
        "api_keys",
        "comments",
        "deliveries",
        "events",
        "follow_requests",
        "follows",
        "hubs",
        "likes",
        "memberships",
    ),
    *("notifications", "poll_votes", "post_audiences", "post_versions", "posts", "saves", "sessions", "webhooks"),
)


@pytest.fixture
def server(race_server: MakeServer) -> ServerProcess:
    return race_server(**SETTINGS)


def test_fifty_copies_of_any_write_have_one_effect(server: ServerProcess) -> None:
    """Fifty copies leave the same rows as one, in every table."""
    for n, (name, prepare) in enumerate(WRITES.items()):
        changes: list[dict[str, int]] = []
        for copies in (1, COPIES):
            owner, other = Owner(server, f"owner{n}_{copies}"), Owner(server, f"other{n}_{copies}")
            with _signed_in(server, owner) as web, _signed_in(server, other) as others:
                write = prepare(People(web, others))
            before = _rows(server)
            answers = decided([_request(server, owner, write)] * copies)
            _assert_one_effect(name, write, answers)
            changes.append({table: rows - before[table] for table, rows in _rows(server).items()})
        assert changes[0] == changes[1], name


def _signed_in(server: ServerProcess, owner: Owner) -> httpx.Client:
    return httpx.Client(base_url=server.base_url, headers={"Cookie": owner.cookie}, timeout=20)


def _request(server: ServerProcess, owner: Owner, write: Write) -> Request:
    headers = {"Cookie": owner.cookie, "Idempotency-Key": "k"}
    return Request(server.port, write.method, write.path, headers, write.body)


def _rows(server: ServerProcess) -> dict[str, int]:
    return {table: count(server, table) for table in TABLES}


def _assert_one_effect(name: str, write: Write, answers: list[Reply]) -> None:
    told = Counter((answer.status, answer.headers.get("idempotent-replayed")) for answer in answers)
    expected = Counter({(write.status, None): 1, (200, "true"): len(answers) - 1})
    assert told == +expected, name
    first = next(answer for answer in answers if "idempotent-replayed" not in answer.headers)
    for answer in answers:
        assert answer.json() == (first.json() if answer is first else replay_of(first.json())), name
        assert "idempotent-body-differs" not in answer.headers
