"""Requests at the same moment are all counted as usage of their key: in one process, in two, and over a stop."""

from collections import Counter
from collections.abc import Callable, Sequence

from tests.harness.owners import Owner, who_am_i
from tests.harness.process import ServerProcess
from tests.harness.roomy import ROOMY
from tests.harness.wire import Reply, Request, ask, at_once
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until
from tests.services.redis import RedisServer

MakeServer = Callable[..., ServerProcess]


def counted(server: ServerProcess, owner: Owner, key_id: str) -> Counter[str]:
    """How often each outcome was counted within the last days."""
    request = Request(server.port, "GET", f"/api/auth/api-keys/{key_id}/usage", {"Cookie": owner.cookie})
    found: Counter[str] = Counter()
    for day in ask(request).json()["days"]:
        found.update({name: count for name, count in day.items() if name != "startsAt" and count})
    return found


def delete_post(server: ServerProcess, key: str) -> Request:
    """A request that a key without the scope is refused."""
    return Request(server.port, "DELETE", "/api/posts/x", {"Authorization": f"Bearer {key}"})


def mixed(servers: Sequence[ServerProcess], key: str) -> list[Reply]:
    """150 requests at once, the servers alternating: a third of them refused."""
    return at_once([(delete_post if n % 3 == 0 else who_am_i)(servers[n % len(servers)], key) for n in range(150)])


def test_every_request_is_counted_once(race_server: MakeServer) -> None:
    server = race_server()
    owner = Owner(server)
    made = owner.new_key().json()

    assert Counter(answer.status for answer in mixed([server], made["key"])) == {200: 100, 403: 50}

    assert wait_until(lambda: counted(server, owner, made["id"]) == {"accepted": 100, "refused": 50})


def test_two_processes_add_to_the_same_counts(
    process_server: MakeServer, postgres_server: PostgresServer, redis_server: RedisServer
) -> None:
    shared = {**ROOMY, "DATABASE_URL": postgres_server.create_database("usage_race"), "REDIS_URL": redis_server.url}
    servers = [process_server(**shared).migrate().start(), process_server(**shared).start()]
    owner = Owner(servers[0])
    made = owner.new_key().json()

    for _ in range(3):
        mixed(servers, made["key"])

    assert wait_until(lambda: counted(servers[1], owner, made["id"]) == {"accepted": 300, "refused": 150})


def test_a_stop_forgets_nothing(race_server: MakeServer) -> None:
    server = race_server()
    owner = Owner(server)
    made = owner.new_key().json()
    mixed([server], made["key"])

    assert server.stop() == 0
    server.start()

    assert counted(server, owner, made["id"]) == {"accepted": 100, "refused": 50}
