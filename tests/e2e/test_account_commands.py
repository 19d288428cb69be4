"""The operator's commands on accounts, beside servers that run: their output, and when they take effect."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pyotp.totp import TOTP

from tests.harness.process import ServerProcess
from tests.harness.roomy import ROOMY

MakeProcess = Callable[..., ServerProcess]

PASSWORD = "correct horse"


def told(server: ServerProcess, *arguments: str) -> dict[str, Any]:
    """The JSON output of a command."""
    return dict(json.loads(server.command("account", *arguments, "--json").stdout))


def typed(server: ServerProcess, given: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command that reads standard input."""
    return subprocess.run(
        [sys.executable, "-m", "pressroom", "account", *arguments],
        env=server.environment,
        cwd=server.folder,
        input=given,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def sign_in(server: ServerProcess, password: str = PASSWORD) -> httpx.Response:
    return httpx.post(f"{server.base_url}/api/auth/login", json={"login": "alice", "password": password}, timeout=20)


def outcome(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json().get("error", "")


def me(server: ServerProcess, **headers: str) -> tuple[int, str]:
    return outcome(httpx.get(f"{server.base_url}/api/auth/me", headers=headers, timeout=20))


@pytest.fixture
def servers(
    process_server: MakeProcess, engine_settings: dict[str, object], request: pytest.FixtureRequest
) -> list[ServerProcess]:
    """All servers of one database: one on SQLite, two processes on PostgreSQL."""
    shared: dict[str, object] = {**ROOMY, **engine_settings}
    if engine_settings:
        shared["REDIS_URL"] = request.getfixturevalue("redis_server").url
    first = process_server(**shared).migrate()
    first.create_account("alice", PASSWORD)
    first.start()
    if not engine_settings:
        return [first]
    second = process_server(**{**shared, "DATA_DIR": first.folder / "data"})
    return [first, second.start()]


def test_a_suspended_account_is_refused_by_the_next_request_everywhere(servers: list[ServerProcess]) -> None:
    first = servers[0]
    key = {"Authorization": f"Bearer {first.create_key('alice', 'posts:write')}"}
    cookie = {"Cookie": f"session={sign_in(first).cookies['session']}"}
    post = httpx.post(f"{first.base_url}/api/posts", headers=key, json={"content": "Hello"}).json()

    def felt() -> list[list[tuple[int, str]]]:
        return [
            [
                me(server, **key),
                me(server, **cookie),
                outcome(sign_in(server)),
                (httpx.get(f"{server.base_url}/@alice").status_code, ""),
                (httpx.get(f"{server.base_url}/api/posts/{post['id']}").status_code, ""),
            ]
            for server in servers
        ]

    assert felt() == [[(200, ""), (200, ""), (200, ""), (200, ""), (200, "")]] * len(servers)

    record = told(first, "suspend", "ALICE", "--reason", "Spam")
    assert (record["status"], record["username"]) == ("suspended", "alice")
    refused = [(401, "API key revoked"), (401, "Missing API key"), (403, "Account suspended"), (404, ""), (404, "")]
    assert felt() == [refused] * len(servers)
    assert told(first, "show", "alice")["activeKeys"] == 0

    assert told(first, "restore", "alice")["status"] == "active"
    back = [(401, "API key revoked"), (401, "Missing API key"), (200, ""), (200, ""), (200, "")]
    assert felt() == [back] * len(servers)

    assert told(first, "delete", "alice", "--yes")["username"] == "alice"
    gone = [(401, "API key revoked"), (401, "Missing API key"), (401, "Invalid credentials"), (410, ""), (404, "")]
    assert felt() == [gone] * len(servers)


def test_a_new_password_ends_all_sessions(servers: list[ServerProcess]) -> None:
    first = servers[0]
    cookie = {"Cookie": f"session={sign_in(first).cookies['session']}"}
    assert [me(server, **cookie) for server in servers] == [(200, "")] * len(servers)

    done = typed(first, "another horse\n", "password", "alice")

    assert (done.returncode, done.stderr) == (0, "")
    assert "another" not in done.stdout
    assert [me(server, **cookie)[0] for server in servers] == [401] * len(servers)
    assert [outcome(sign_in(server))[0] for server in servers] == [401] * len(servers)
    assert [sign_in(server, "another horse").status_code for server in servers] == [200] * len(servers)
    assert told(first, "password", "alice", "--password", PASSWORD)["username"] == "alice"
    short = typed(first, "short\n", "password", "alice")
    assert (short.returncode, len(short.stderr.splitlines())) == (2, 1)
    assert "password" in short.stderr


def test_an_owner_who_lost_every_code_gets_in_again(servers: list[ServerProcess]) -> None:
    first, last = servers[0], servers[-1]
    off = first.command("account", "two-factor-off", "alice", check=False)
    assert (off.returncode, off.stderr.strip()) == (2, "pressroom: Two-factor sign-in is off.")
    with httpx.Client(base_url=first.base_url, cookies={"session": sign_in(first).cookies["session"]}) as alice:
        secret = alice.post("/api/auth/two-factor").json()["secret"]
        assert alice.post("/api/auth/two-factor/confirm", json={"code": TOTP(secret).now()}).is_success
    assert [outcome(sign_in(last)) for _ in range(11)][9:] == [(401, "Invalid credentials"), (429, "Too many attempts")]

    assert told(first, "two-factor-off", "ALICE")["username"] == "alice"

    assert [sign_in(server).status_code for server in servers] == [200] * len(servers)


def test_output_of_the_commands(process_server: MakeProcess) -> None:
    server = process_server()
    ids = [server.create_account(name) for name in ("alice", "bob", "carol")]
    server.create_key("alice", "posts:write")

    shown = told(server, "show", "Alice")
    assert (shown["id"], shown["email"], shown["status"]) == (ids[0], "alice@example.org", "active")
    assert (shown["isAdmin"], shown["activeKeys"], shown["suspendedAt"]) == (False, 1, None)
    text = server.command("account", "show", "alice").stdout
    assert "alice@example.org" in text
    assert "password" not in text.lower()

    assert told(server, "admin", "alice")["isAdmin"] is True
    assert told(server, "show", "alice")["isAdmin"] is True
    assert told(server, "admin", "alice", "--revoke")["isAdmin"] is False
    assert told(server, "moderator", "alice")["isModerator"] is True
    assert told(server, "moderator", "alice", "--revoke")["isModerator"] is False

    first = told(server, "list", "--limit", "2")
    assert [each["username"] for each in first["accounts"]] == ["carol", "bob"]
    rest = told(server, "list", "--cursor", first["nextCursor"])
    assert ([each["username"] for each in rest["accounts"]], rest["nextCursor"]) == (["alice"], None)
    listed = server.command("account", "list", "--limit", "2")
    assert "carol@example.org" in listed.stdout
    assert first["nextCursor"] in listed.stderr


def test_limits_command_sets_and_withdraws_limits(process_server: MakeProcess) -> None:
    server = process_server()
    server.create_account("alice")

    given = told(server, "limits", "alice", "--content-per-day", "5000", "--until", "2099-12-31")
    assert given["limits"] == {"contentPerDay": 5000, "endsAt": "2099-12-31T00:00:00.000Z"}
    assert told(server, "limits", "alice")["limits"] is None
    for bad in (("--until", "2020-01-01"), ("--requests-per-minute", "0"), ("--reason", " ")):
        assert server.command("account", "limits", "alice", *bad, check=False).returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "nobody"),
        ("limits", "nobody"),
        ("suspend", "nobody"),
        ("restore", "nobody"),
        ("delete", "nobody", "--yes"),
        ("admin", "nobody"),
        ("two-factor-off", "nobody"),
        ("password", "nobody", "--password", "0123456789"),
    ],
)
def test_an_unknown_account_is_one_line(process_server: MakeProcess, arguments: tuple[str, ...]) -> None:
    server = process_server()
    server.command("migrate")

    done = server.command("account", *arguments, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip().splitlines() == ["pressroom: There is no account nobody."]


def test_a_deletion_asks_for_the_name(process_server: MakeProcess) -> None:
    server = process_server()
    server.create_account("alice")

    for given in ("bob\n", "y\n", "ALICE2\n"):
        refused = typed(server, given, "delete", "alice")
        assert refused.returncode == 2
        assert "Nothing was deleted" in refused.stderr
    assert typed(server, "", "delete", "alice").returncode == 1
    assert told(server, "show", "alice")["status"] == "active"
    deleted = typed(server, "alice\n", "delete", "alice", "--json")
    assert deleted.returncode == 0
    shown = json.loads(deleted.stdout)
    assert (shown["username"], shown["status"]) == ("alice", "deleted")
    assert shown["deletedAt"]
    assert [each["status"] for each in told(server, "list")["accounts"]] == ["deleted"]
    assert server.command("account", "restore", "alice", check=False).returncode == 2
    taken = server.command(
        "account", "create", "Alice", "--email", "a@example.org", "--password", PASSWORD, check=False
    )
    assert "taken" in taken.stderr


def test_keys_of_suspended_accounts_are_seen_and_none_is_made(process_server: MakeProcess) -> None:
    server = process_server()
    server.create_account("alice")
    server.create_key("alice", "posts:write")
    server.command("account", "suspend", "alice")

    assert "revoked" in server.command("key", "list", "alice").stdout
    made = server.command("key", "create", "alice", "--label", "x", "--scope", "posts:write", check=False)
    assert (made.returncode, made.stdout) == (2, "")
