"""An operator's commands, and their answers: one line when a command cannot be done."""

import json
import re
import resource
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.e2e.processes import one_line
from tests.harness.process import ServerProcess
from tests.harness.trust import TRUST

MakeProcess = Callable[..., ServerProcess]


@pytest.fixture
def process_server(process_server: MakeProcess) -> MakeProcess:
    """Makes servers whose commands are started as an operator's shell starts them."""

    def make(**settings: object) -> ServerProcess:
        server = process_server(**settings)
        server.forks_commands = False
        return server

    return make


def test_development_mode_prints_a_curl_that_publishes(process_server: MakeProcess) -> None:
    server = process_server(DEV=1).start()
    printed = server.output()
    curl = next(line for line in printed.splitlines() if line.startswith("curl "))

    answer = subprocess.run(["sh", "-c", curl.replace("curl ", "curl -s ")], capture_output=True, text=True, check=True)

    assert json.loads(answer.stdout)["content"] == "Hello from Pressroom"
    assert "Account   editor" in printed


def test_the_second_start_keeps_the_data_and_prints_no_key(process_server: MakeProcess) -> None:
    server = process_server(DEV=1).start()
    key = server.printed_key()
    assert server.stop() == 0
    server.start()
    assert server.output().count("svc_live_") == 2  # once alone, once in the curl
    answer = httpx.get(f"{server.base_url}/api/auth/me", headers={"Authorization": f"Bearer {key}"})
    assert answer.json()["username"] == "editor"


def test_a_port_that_is_taken(process_server: MakeProcess) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"127.0.0.1:{port}: Address already in use" in one_line(process_server(PORT=port))


def test_a_port_that_another_pressroom_has(process_server: MakeProcess) -> None:
    first = process_server().start()
    assert "Address already in use" in one_line(process_server(PORT=first.port))


def test_a_database_that_another_pressroom_serves(process_server: MakeProcess) -> None:
    first = process_server().start()
    assert "serves this database already" in one_line(process_server(DATA_DIR=first.folder / "data"))


def test_a_data_folder_that_cannot_be_written(process_server: MakeProcess) -> None:
    server = process_server()
    server.folder.mkdir()
    (server.folder / "data").write_text("a file, not a folder")
    assert "PRESSROOM_DATA_DIR" in one_line(server)


@pytest.mark.parametrize("command", [["serve"], ["serve", "--workers", "2"], ["worker"]], ids=" ".join)
def test_development_mode_that_strangers_could_reach(process_server: MakeProcess, command: list[str]) -> None:
    server = process_server(DEV=1, BASE_URL="https://press.example")
    server.settings |= {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x", "REDIS_URL": "redis://127.0.0.1:1"}
    line = one_line(server, *command)
    assert "PRESSROOM_DEV=1" in line
    assert "https://press.example" in line
    assert "PRESSROOM_DEV=1" in server.command("doctor", check=False).stdout


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("PORT", "http"),
        ("PORT", "70000"),
        ("BASE_URL", "example.org"),
        ("BASE_URL", "https://example.org/press"),
        ("DATABASE_URL", "mysql://localhost/x"),
        ("REDIS_URL", "localhost"),
        ("REDIS_URL", "redis+sentinel://localhost:26379"),
        ("REDIS_URL", "redis+cluster://localhost:7000/1"),
        ("BLOBS_TIMEOUT_SECONDS", "0"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("SIGNUP", "perhaps"),
        ("REQUESTS_PER_MINUTE", "-1"),
        ("DEV", "maybe"),
    ],
)
def test_a_setting_that_cannot_be_used(process_server: MakeProcess, setting: str, value: str) -> None:
    server = process_server()
    server.settings[setting] = value
    line = one_line(server)
    assert f"PRESSROOM_{setting}" in line
    assert value in line
    assert not (server.folder / "data").exists()


def test_a_database_that_is_not_there(process_server: MakeProcess) -> None:
    server = process_server(DATABASE_URL="postgresql://nobody:hunter2@127.0.0.1:1/x")
    line = one_line(server, "account", "list")
    assert "PRESSROOM_DATABASE_URL" in line
    assert "hunter2" not in line


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_postgres_is_migrated_by_command_first(
    process_server: MakeProcess, engine: str, request: pytest.FixtureRequest
) -> None:
    engine_settings: dict[str, object] = {}
    if engine == "postgres":
        engine_settings["DATABASE_URL"] = request.getfixturevalue("postgres_server").create_database("not_migrated")
    server = process_server(**engine_settings)
    if engine_settings:
        assert "pressroom migrate" in one_line(server)
    assert "applied 0001" in server.command("migrate").stdout or not engine_settings
    assert "up to date" in server.command("migrate").stdout
    server.start()
    assert server.command("doctor").returncode == 0


def test_several_workers_need_postgres_and_redis(process_server: MakeProcess) -> None:
    assert "PRESSROOM_REDIS_URL" in one_line(process_server(), "serve", "--workers", "2")
    server = process_server(REDIS_URL="redis://127.0.0.1:1")
    assert "PRESSROOM_DATABASE_URL" in one_line(server, "serve", "--workers", "2")
    assert not (server.folder / "data").exists()


def test_accounts_and_keys_by_command(process_server: MakeProcess) -> None:
    server = process_server()
    server.command("migrate")
    email, password = "alice@example.org", "correct horse"
    made = server.command("account", "create", "alice", "--email", email, "--password", password)
    account_id = made.stdout.strip()
    assert re.fullmatch(r"[0-9A-Z]{26}", account_id)
    made = server.command("key", "create", "ALICE", "--label", "bot", "--scope", "posts:write", "media:write")
    key = made.stdout.strip()
    assert re.fullmatch(r"svc_live_[0-9A-Za-z]{38}", key)
    assert made.stderr == ""

    server.start()
    headers = {"Authorization": f"Bearer {key}"}
    assert httpx.post(f"{server.base_url}/api/posts", headers=headers, json={"content": "x"}).status_code == 201

    listed = server.command("key", "list", "alice").stdout
    assert key[:15] in listed
    assert key not in listed
    key_id = next(word for word in listed.split() if re.fullmatch(r"[0-9A-Z]{26}", word))
    server.command("key", "revoke", key_id, "--reason", "lost laptop")
    answer = httpx.get(f"{server.base_url}/api/auth/me", headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (401, "API key revoked")


def test_bad_input_to_commands(process_server: MakeProcess) -> None:
    server = process_server()
    server.create_account("alice")
    assert "taken" in one_line(server, "account", "create", "Alice", "--email", "b@example.org", "--password", "x" * 10)
    assert "password" in one_line(server, "account", "create", "bob", "--email", "b@example.org", "--password", "short")
    assert "no account" in one_line(server, "key", "create", "bob", "--label", "x", "--scope", "posts:write")
    assert "scopes[0]" in one_line(server, "key", "create", "alice", "--label", "x", "--scope", "everything")
    assert "no such key" in one_line(server, "key", "revoke", "nothing", "--reason", "x")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("account list --cursor nonsense", "cursor: Use the nextCursor"),
        ("account list --cursor", "'--cursor' requires an argument"),
        ("account list --limit 0", "0 is not in the range"),
        ("account lst", "'list'"),
        ("account create", "pressroom account create --help"),
        ("serf", "No such command 'serf'"),
        ("--nothing", "No such option '--nothing'"),
    ],
)
def test_a_command_that_is_misspelt_is_refused_in_one_line(
    process_server: MakeProcess, command: str, said: str
) -> None:
    server = process_server()
    server.command("migrate")

    line = one_line(server, *command.split())

    assert line.startswith("pressroom: ")
    assert said in line


def test_a_group_without_a_command_shows_its_help(process_server: MakeProcess) -> None:
    done = process_server().command("account", check=False)
    assert "Commands:" in done.stdout + done.stderr


def test_help_lists_every_command_and_setting(process_server: MakeProcess) -> None:
    server = process_server()
    listed = server.command("--help").stdout
    for command in ("serve", "migrate", "doctor", "openapi", "account", "key", "job", "webhook", "stats"):
        assert re.search(rf"^  {command} ", listed, re.MULTILINE)
    from pressroom.settings import all_settings

    described = server.command("serve", "--help").stdout
    assert all(setting.variable in described for setting in all_settings())


def test_workers_share_a_port_and_stop_together(process_server: MakeProcess, request: pytest.FixtureRequest) -> None:
    database = request.getfixturevalue("postgres_server").create_database("workers")
    redis = request.getfixturevalue("redis_server").url
    server = process_server(DATABASE_URL=database, REDIS_URL=redis)
    server.command("migrate")
    server.create_account("alice")
    key = server.create_key("alice")
    server.start("--workers", "2")
    headers = {"Authorization": f"Bearer {key}"}
    me = f"{server.base_url}/api/auth/me"
    statuses = [httpx.get(me, headers=headers, verify=TRUST).status_code for _ in range(65)]
    assert statuses == [200] * 60 + [429] * 5
    assert server.stop() == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.base_url}/healthz")


class Confined(ServerProcess):
    """A server that begins with few files, of the many that it may have."""

    def launch(self, *arguments: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        serve = " ".join([shlex.quote(sys.executable), "-m", "pressroom", "serve", *arguments])
        self.process = subprocess.Popen(
            ["sh", "-c", f"ulimit -Sn 256; exec {serve}"], cwd=self.folder, env=self.environment
        )


def test_a_server_takes_all_the_files_that_the_operator_allows(tmp_path: Path) -> None:
    server = Confined(tmp_path / "server", ACCESS_LOG=0).start()
    try:
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert resource.prlimit(server.pid, resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        server.kill()
