"""The first account of an installation: made once, by the owner of the link that the server printed."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from pressroom.cli.serving import _announce
from pressroom.db import Query
from tests.api.actors import body_of, new_client, nobody, refusal
from tests.api.people import token_of
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.reader import Page

FIRST = {"username": "kim", "email": "kim@press.example", "password": "nine plums and a kettle"}
ACCOUNTS = Query(int, "SELECT count(*) FROM accounts")
TOKENS = Query(int, "SELECT count(*) FROM setup_tokens")


@pytest.fixture
def server(local_server: Callable[..., LocalServer], engine_settings: dict[str, object]) -> LocalServer:
    """A server without an account."""
    return local_server(**ROOMY, **engine_settings)


def printed_token(server: LocalServer, capsys: pytest.CaptureFixture[str]) -> str:
    """The token in the output of a start."""
    server.clock.advance(1)
    server.run(_announce(server.runtime))
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "/setup" in line]
    address, _, token = line.partition("?token=")
    assert address == f"{server.base_url}/setup"
    return token


def send(server: LocalServer, token: str, **more: str) -> httpx.Response:
    """Sends the form."""
    return nobody.post(f"{server.base_url}/setup", data={**FIRST, "token": token, **more})


def count(server: LocalServer, query: Query[int]) -> int | None:
    return server.run(server.runtime.db.one(query))


def test_the_first_account_is_made_once_and_is_an_admin(
    server: LocalServer, capsys: pytest.CaptureFixture[str]
) -> None:
    token = printed_token(server, capsys)
    page = nobody.get(f"{server.base_url}/setup", params={"token": token})
    assert page.status_code == 200
    assert Page(page.text).has(f"[name='token'][value='{token}']")
    assert page.headers["Referrer-Policy"] == "origin"

    made = send(server, token)

    assert (made.status_code, made.headers["Location"]) == (303, "/?done=set-up")
    with new_client(base_url=server.base_url, headers={"Cookie": f"session={token_of(made)}"}) as kim:
        assert kim.get("/admin").status_code == 200
        (entry,) = body_of(kim.get("/api/admin/accounts?status=admin"))["accounts"]
        assert entry["username"] == "kim"
    assert nobody.get(f"{server.base_url}/setup").status_code == 404
    assert send(server, token, username="otto", email="otto@press.example").status_code == 404
    assert refusal(nobody.post(f"{server.base_url}/api/setup", json={**FIRST, "token": token})) == (404, "Not found")
    assert (count(server, ACCOUNTS), count(server, TOKENS)) == (1, 0)
    server.run(_announce(server.runtime))
    assert "/setup" not in capsys.readouterr().out


def test_sent_twice_it_signs_in_to_the_account_that_it_made(
    server: LocalServer, capsys: pytest.CaptureFixture[str]
) -> None:
    token = printed_token(server, capsys)

    assert [send(server, token).status_code for _ in range(2)] == [303, 303]
    assert send(server, token, password="another password").status_code == 404
    assert count(server, ACCOUNTS) == 1


@pytest.mark.parametrize("wrong", ["", "x", "A" * 43, "A" * 101])
def test_without_the_token_nothing_is_made(server: LocalServer, capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    printed_token(server, capsys)

    answer = send(server, wrong)

    assert answer.status_code in (400, 422)
    assert Page(answer.text).has("[name='token'][aria-invalid='true']")
    assert count(server, ACCOUNTS) == 0


def test_any_server_s_token_is_good_and_two_at_once_make_one_account(
    server: LocalServer, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens = [printed_token(server, capsys) for _ in range(25)][-4:]
    assert count(server, TOKENS) == 20

    def set_up(number: int) -> int:
        body = {
            "username": f"first{number}",
            "email": f"first{number}@press.example",
            "password": FIRST["password"],
            "token": tokens[number],
        }
        return nobody.post(f"{server.base_url}/api/setup", json=body).status_code

    with ThreadPoolExecutor(4) as threads:
        answers = sorted(threads.map(set_up, range(4)))

    assert answers == [201, 404, 404, 404]
    assert (count(server, ACCOUNTS), count(server, TOKENS)) == (1, 0)


def test_the_hash_alone_is_stored(server: LocalServer, capsys: pytest.CaptureFixture[str]) -> None:
    token = printed_token(server, capsys)

    stored = server.run(server.runtime.db.one(Query(str, "SELECT token_hash FROM setup_tokens")))

    assert stored is not None
    assert token not in stored
    send(server, "wrong")
    assert token not in server.stream.getvalue()
