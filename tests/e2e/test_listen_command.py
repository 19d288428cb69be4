"""`pressroom listen` as a developer uses it: beside a server in development mode, for an endpoint of their own."""

from collections.abc import Callable

import pytest

from tests.e2e.test_command_line import one_line
from tests.harness.beside import Command
from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint, wait_until_settled
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess, free_port
from tests.harness.wire import ask

MakeServer = Callable[..., ServerProcess]


@pytest.fixture
def server(process_server: MakeServer) -> ServerProcess:
    """A server in development mode, which may reach this machine."""
    return process_server(**QUICK_RETRIES).start()


def test_a_delivery_fails_once_as_asked_and_is_shown_when_it_comes_again(server: ServerProcess) -> None:
    port, owner = free_port(), Owner(server)
    key = owner.new_key().json()
    endpoint = Endpoint(server, owner, key["id"], f"http://127.0.0.1:{port}/", (POST,))

    with listening(server, port, "--secret", endpoint.secret, "--fail", "1", "--slow", "0s") as listener:
        assert ask(publish(server, key["key"], "Read all about it")).status == 201
        listener.wait_for("Answer: 200")
        wait_until_settled(server, 20)
        assert listener.stop() == 0

    (delivery,) = endpoint.deliveries()
    assert [attempt["httpCode"] for attempt in delivery["attempts"]] == [500, 200]
    shown = listener.output()
    assert shown.count(f"post.created {delivery['id']} verified") == 2
    assert shown.count('"content": "Read all about it"') == 2
    assert shown.index("Answer: 500 (--fail: 1 of 1)") < shown.index("this id came 2 times") < shown.index("Stopped.")
    assert endpoint.secret not in shown


def test_a_delivery_that_the_secret_does_not_verify_is_refused(server: ServerProcess) -> None:
    port, owner = free_port(), Owner(server)
    key = owner.new_key().json()
    endpoint = Endpoint(server, owner, key["id"], f"http://127.0.0.1:{port}/", (POST,))

    with listening(server, port, "--secret", endpoint.secret[:-1]) as listener:
        assert ask(publish(server, key["key"], "Read all about it")).status == 201
        listener.wait_for("NOT VERIFIED")
        listener.wait_for("Answer: 400")


def test_what_cannot_be_listened_to_is_said_in_one_line(server: ServerProcess) -> None:
    assert "Cannot listen" in one_line(server, "listen", "--port", str(server.port))


def listening(server: ServerProcess, port: int, *options: str) -> Command:
    """A listener at a port."""
    return Command(server, "listen", "--port", str(port), *options, ready="Listening at ")
