"""A process that is stopped amid a transaction holds the account's row no longer than PostgreSQL lets it."""

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint
from tests.harness.locks import locked
from tests.harness.observations import observe
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.wire import ask
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until
from tests.services.redis import RedisServer

IDLE_SECONDS = 2


def test_an_account_publishes_while_a_process_is_stopped_amid_its_transaction(
    roomy_server: Callable[..., ServerProcess], postgres_server: PostgresServer, redis_server: RedisServer
) -> None:
    url = postgres_server.create_database(f"frozen_{os.getpid()}_{time.monotonic_ns()}")
    settings = {**QUICK_RETRIES, "DATABASE_URL": url, "REDIS_URL": redis_server.url}
    settings["DATABASE_IDLE_TRANSACTION_TIMEOUT_SECONDS"] = IDLE_SECONDS
    first, second = (roomy_server(**settings).start("--only", "api") for _ in range(2))
    owner = Owner(first)
    made = owner.new_key().json()
    key = str(made["key"])
    Endpoint(first, owner, made["id"], "http://127.0.0.1:1/hook", (POST,))

    with ThreadPoolExecutor() as pool:
        # Its transaction has locked the account, and waits for the endpoint when the process is stopped.
        with locked(url, "SELECT * FROM webhooks FOR UPDATE") as waiting:
            cut_off = pool.submit(ask, publish(first, key, "cut off", "one"))
            assert wait_until(lambda: waiting() == 1)
            os.kill(first.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            assert ask(publish(second, key, "meanwhile")).status == 201
            took = time.monotonic() - began
        finally:
            os.kill(first.pid, signal.SIGCONT)
        assert cut_off.result().status == 503

    assert [ask(publish(first, key, "cut off", "one")).status for _ in range(2)] == [201, 200]
    assert sorted(rows(first, "SELECT content FROM posts")) == [("cut off",), ("meanwhile",)]
    observe(
        "an API process stopped (SIGSTOP) amid a transaction that holds an account's row",
        f"the account publishes through another process; idle transactions end after {IDLE_SECONDS} s here; the woken"
        " process answers 503 for its own request and goes on",
        took,
        "the stop",
    )
