"""One code for two sign-ins at the same moment: one session begins, in one process and over two."""

from collections import Counter
from collections.abc import Callable

import pytest
from pyotp.totp import TOTP

from pressroom.domains.sign_in.two_factor import STEP
from tests.conftest import database_settings
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Reply, Request, ask, at_once
from tests.services.redis import RedisServer

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 8
WIDE = {"SIGN_IN_FAILURES_PER_ACCOUNT": 1_000, "SIGN_IN_FAILURES_PER_ADDRESS": 1_000}
ROUTE = "/api/auth/two-factor"


class Guarded(Owner):
    """Somebody who turned two-factor sign-in on."""

    def __init__(self, server: ServerProcess) -> None:
        super().__init__(server)
        self.totp = TOTP(self.do(server, "POST", ROUTE).json()["secret"])
        # The code of the step after is left for the race: of the three that pass it does so for the longest.
        confirmed = self.do(server, "POST", f"{ROUTE}/confirm", {"code": self.totp.generate_otp(_step(server))})
        self.recovery: list[str] = confirmed.json()["recoveryCodes"]

    def do(self, server: ServerProcess, method: str, path: str, body: dict[str, object] | None = None) -> Reply:
        """Sends a request in the session of the sign-up."""
        answer = ask(Request(server.port, method, path, {"Cookie": self.cookie}, body))
        assert answer.status == 200, answer
        return answer


def _step(server: ServerProcess) -> int:
    """The step in which the set-up was begun, by the server's own clock."""
    made = rows(server, "SELECT created_at FROM two_factor")
    return int(made[0][0]) // STEP


def sign_ins(servers: list[ServerProcess], code: str) -> list[Reply]:
    """Sends the same sign-in so many times at once, to each of the servers in turn."""
    body = {"login": "alice", "password": "correct horse", "code": code}
    requests = [Request(servers[n % len(servers)].port, "POST", "/api/auth/login", {}, body) for n in range(AT_ONCE)]
    return at_once(requests)


@pytest.fixture(params=["sqlite", "postgres", "two processes"])
def servers(
    request: pytest.FixtureRequest, process_server: MakeServer, redis_server: RedisServer
) -> list[ServerProcess]:
    """One server on each engine, or two of one database."""
    if request.param != "two processes":
        return [process_server(**ROOMY, **WIDE, **database_settings(request, request.param)).migrate().start()]
    shared = {**ROOMY, **WIDE, **database_settings(request, "postgres"), "REDIS_URL": redis_server.url}
    return [process_server(**shared).migrate().start(), process_server(**shared).start()]


def assert_one(answers: list[Reply], servers: list[ServerProcess]) -> None:
    """One of the sign-ins passed; the others got the answer to a wrong password."""
    assert Counter(answer.status for answer in answers) == {200: 1, 401: AT_ONCE - 1}
    assert {answer.json()["error"] for answer in answers if answer.status == 401} == {"Invalid credentials"}
    assert count(servers[0], "sessions") == 2, "the sign-up's, and one more"


def test_a_code_sent_many_times_at_once_begins_one_session(servers: list[ServerProcess]) -> None:
    alice = Guarded(servers[0])

    answers = sign_ins(servers, alice.totp.generate_otp(_step(servers[0]) + 1))

    assert_one(answers, servers)


def test_a_recovery_code_sent_many_times_at_once_begins_one_session(servers: list[ServerProcess]) -> None:
    alice = Guarded(servers[0])

    answers = sign_ins(servers, alice.recovery[0])

    assert_one(answers, servers)
    assert count(servers[0], "recovery_codes") == 9


def test_guesses_at_once_are_counted_before_they_are_looked_at(race_server: MakeServer) -> None:
    server = race_server(SIGN_IN_FAILURES_PER_ACCOUNT=3)
    Guarded(server)

    answers = sign_ins([server], "no code")

    assert Counter(answer.status for answer in answers) == {401: 3, 429: AT_ONCE - 3}


def test_set_ups_confirmed_at_once_give_one_set_of_recovery_codes(servers: list[ServerProcess]) -> None:
    alice = Owner(servers[0])
    headers = {"Cookie": alice.cookie}
    secret = ask(Request(servers[0].port, "POST", ROUTE, headers)).json()["secret"]
    body = {"code": TOTP(secret).generate_otp(_step(servers[0]))}

    answers = at_once(
        [Request(servers[n % len(servers)].port, "POST", f"{ROUTE}/confirm", headers, body) for n in range(AT_ONCE)]
    )

    assert Counter(answer.status for answer in answers) == {200: 1, 409: AT_ONCE - 1}
    assert count(servers[0], "recovery_codes") == 10
