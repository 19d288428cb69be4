"""Sign-ups at the same moment from one address: five an hour, in one process and over several."""

from collections import Counter
from collections.abc import Callable

from tests.harness.owners import sign_up
from tests.harness.process import ServerProcess
from tests.harness.records import count
from tests.harness.roomy import ROOMY
from tests.harness.wire import ask, at_once
from tests.services.postgres import PostgresServer
from tests.services.redis import RedisServer

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 40


def test_forty_sign_ups_at_once_make_five_accounts(race_server: MakeServer) -> None:
    server = race_server(SIGNUPS_PER_HOUR=5)

    answers = at_once([sign_up(server, f"newcomer{n}") for n in range(AT_ONCE)])

    assert Counter(answer.status for answer in answers) == {201: 5, 429: AT_ONCE - 5}
    assert {answer.json()["error"] for answer in answers if answer.status == 429} == {"Too many attempts"}
    assert count(server, "accounts") == 5


def test_forty_sign_ups_at_once_make_five_accounts_over_two_processes(
    process_server: MakeServer, postgres_server: PostgresServer, redis_server: RedisServer
) -> None:
    url = postgres_server.create_database("sign_up_race")
    shared = {**ROOMY, "SIGNUPS_PER_HOUR": 5, "DATABASE_URL": url, "REDIS_URL": redis_server.url}
    one, two = process_server(**shared).migrate().start(), process_server(**shared).start()

    answers = at_once([sign_up((one, two)[n % 2], f"newcomer{n}") for n in range(AT_ONCE)])

    assert Counter(answer.status for answer in answers) == {201: 5, 429: AT_ONCE - 5}
    assert count(one, "accounts") == 5


def test_counts_outlive_a_kill(race_server: MakeServer) -> None:
    server = race_server(SIGNUPS_PER_HOUR=5)
    for number in range(5):
        assert ask(sign_up(server, f"newcomer{number}")).status == 201

    server.kill()
    server.start()

    assert ask(sign_up(server, "another")).status == 429
