"""`pressroom listen` as a developer uses it: beside a server in development mode, for an endpoint of their own."""

from collections.abc import Callable

import pytest

from pressroom.receivers.verification import verify
from tests.e2e.processes import one_line
from tests.harness.beside import Command
from tests.harness.deliveries import POST, QUICK_RETRIES, Endpoint, wait_until_settled
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver, answer
from tests.harness.wire import Request, ask
from tests.services.ports import free_port

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
        wait_until_settled(server)
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
        listener.wait_for(f"begin like --secret: {endpoint.secret[:12]}?")


def test_requested_failure_is_retried_within_seconds_in_development(process_server: MakeServer) -> None:
    server, port = process_server(DEV=1).start(), free_port()
    owner = Owner(server)
    key = owner.new_key().json()
    endpoint = Endpoint(server, owner, key["id"], f"http://127.0.0.1:{port}/", (POST,))

    with listening(server, port, "--secret", endpoint.secret, "--fail", "2") as listener:
        assert ask(publish(server, key["key"], "Read all about it")).status == 201
        listener.wait_for("this id came 3 times")
        wait_until_settled(server)

    (delivery,) = endpoint.deliveries()
    assert [attempt["httpCode"] for attempt in delivery["attempts"]] == [500, 500, 200]


def test_verified_delivery_is_forwarded_unchanged_and_answered(server: ServerProcess) -> None:
    port, owner = free_port(), Owner(server)
    key = owner.new_key().json()
    endpoint = Endpoint(server, owner, key["id"], f"http://127.0.0.1:{port}/", (POST,))

    with Receiver() as program:
        program.behave("/hook", answer(503, {"Content-Type": "text/plain"}, b"not yet"), answer(202))
        options = ("--secret", endpoint.secret, "--forward", program.url("/hook?a=b"))
        with listening(server, port, *options) as listener:
            assert ask(Request(port, "POST", "/", {"X-Service-Signature": "t=1,v1=0"}, {"forged": True})).status == 400
            assert ask(publish(server, key["key"], "Grüße 🦊")).status == 201
            program.wait(lambda program: program.count("/hook") == 2)
            wait_until_settled(server)
            listener.wait_for("Answer: 202")
        first, second = program.of("/hook")
        shown = listener.output()

    (delivery,) = endpoint.deliveries()
    attempts = [(attempt["httpCode"], attempt["responseBody"]) for attempt in delivery["attempts"]]
    assert attempts == [(503, "not yet"), (202, "")]
    for request in (first, second):
        verify(request.body, request.signature, endpoint.secret)
        assert (request.query, request.id, request.event) == ("a=b", delivery["id"], POST)
        assert request.headers["content-type"] == "application/json"
        assert request.headers["user-agent"].startswith("Pressroom/")
    assert "Answer: 503 (passed on, which answered: not yet)" in shown


def test_a_program_that_is_not_there_is_a_502(server: ServerProcess) -> None:
    port, nobody = free_port(), free_port()
    with listening(server, port, "--forward", f"http://127.0.0.1:{nobody}/") as listener:
        envelope = {"event": "post.created", "id": "evt_1", "data": {}}
        assert ask(Request(port, "POST", "/", {}, envelope)).status == 502
        listener.wait_for("not passed on: The connection was refused.")
    assert "--forward" in one_line(server, "listen", "--port", str(port), "--forward", "ftp://example.org/")


def test_unusable_port_is_reported_in_one_line(server: ServerProcess) -> None:
    assert "Cannot listen" in one_line(server, "listen", "--port", str(server.port))


def listening(server: ServerProcess, port: int, *options: str) -> Command:
    """A listener at a port."""
    return Command(server, "listen", "--port", str(port), *options, ready="Listening at ")
