"""One configuration for the server and every command, typed as an operator types them (docs/operations.md)."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.harness.forks import run
from tests.harness.process import ServerProcess
from tests.services.ports import free_port

PRESSROOM = [sys.executable, "-m", "pressroom"]
STRANGER = 54321
"""A user without an entry and without rights on this machine."""

COMMANDS = [
    *(
        ["account", "list"],
        ["account", "show", "alice"],
        ["account", "suspend", "alice"],
        ["account", "reset", "alice"],
    ),
    ["account", "create", "alice", "--email", "a@example.org", "--password", "correct horse"],
    *(["key", "list", "alice"], ["key", "revoke", "x", "--reason", "y"], ["job", "list"], ["webhook", "list", "alice"]),
    *(["stats"], ["backup", "--to", "copy"]),
]


def pressroom(
    *arguments: str, folder: Path, program: list[str] | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder, with no settings in the environment but these; `program` is its beginning."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PRESSROOM_", "AWS_"))}
    environment = {**kept, **variables}
    if program is None:
        return run(arguments, folder=folder, environment=environment, timeout=60)
    words = [*program, *arguments]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60)


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """Returns the one line with which a command fails."""
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip()


def values(done: subprocess.CompletedProcess[str]) -> dict[str, tuple[str, str]]:
    """Returns value and source of each setting that `config --json` shows."""
    assert done.returncode == 0, done.stderr
    return {each["name"]: (each["value"], each["source"]) for each in json.loads(done.stdout)}


@pytest.fixture
def installed(tmp_path: Path, process_server: Callable[..., ServerProcess]) -> Iterator[ServerProcess]:
    """A running server whose settings are all in one file, in a folder that is not its working folder."""
    server = process_server()
    (tmp_path / "etc").mkdir()
    server.config = tmp_path / "etc" / "pressroom.toml"
    lines = {"base_url": "https://press.example", "data_dir": str(tmp_path / "srv"), "metrics_port": free_port()}
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in {**lines, "port": server.port}.items())
    server.config.write_text(text)
    server.settings.clear()
    server.program = [*PRESSROOM, "--config", str(server.config)]
    server.start()
    yield server
    server.stop()


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_command_in_another_folder_makes_no_database(tmp_path: Path, command: list[str]) -> None:
    line = refusal(pressroom(*command, folder=tmp_path))

    assert f"There is no database {tmp_path}/data/pressroom.db" in line
    assert "--config FILE" in line
    assert list(tmp_path.iterdir()) == []


def test_doctor_in_another_folder_reports_the_missing_database(tmp_path: Path) -> None:
    done = pressroom("doctor", folder=tmp_path)

    assert done.returncode == 1
    assert f"There is no database {tmp_path}/data/pressroom.db" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_empty_file_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "pressroom.db").touch()
    assert "There is no database" in refusal(pressroom("stats", folder=tmp_path))


def test_migrate_makes_the_database_that_commands_use(tmp_path: Path) -> None:
    assert pressroom("migrate", folder=tmp_path).returncode == 0
    assert pressroom("account", "list", folder=tmp_path).returncode == 0


@pytest.mark.parametrize("way", ["before", "behind", "variable"])
def test_command_in_any_folder_works_on_the_configured_server(
    tmp_path: Path, installed: ServerProcess, way: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    named, file = ["--config", os.path.relpath(installed.config, elsewhere)], str(installed.config)

    def at(*arguments: str) -> subprocess.CompletedProcess[str]:
        if way == "variable":
            return pressroom(*arguments, folder=elsewhere, PRESSROOM_CONFIG=file)
        words = [*named, *arguments] if way == "before" else [*arguments, *named]
        return pressroom(*words, folder=elsewhere)

    made = at("account", "create", "alice", "--email", "a@example.org", "--password", "correct horse")
    assert made.returncode == 0, made.stderr
    assert at("account", "reset", "alice").stdout.startswith("https://press.example/reset/")
    assert json.loads(at("stats", "--json").stdout)["accounts"]["count"] == 1
    assert values(at("config", "--json"))["PRESSROOM_BASE_URL"] == ("https://press.example", file)
    assert list(elsewhere.iterdir()) == []


def test_environment_wins_over_lines_and_lines_over_the_document(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text('port = 1\nhost = "::1"\nrequests_per_minute = 7\ndev = true\n')
    (tmp_path / ".env").write_text("PRESSROOM_PORT=2\nPRESSROOM_HOST=127.0.0.2\nOTHER=x\n")

    found = values(pressroom("config", "--json", folder=tmp_path, PRESSROOM_PORT="3", PRESSROOM_DEV=" "))

    assert found["PRESSROOM_PORT"] == ("3", "environment")
    assert found["PRESSROOM_HOST"] == ("127.0.0.2", f"{tmp_path}/.env")
    assert found["PRESSROOM_REQUESTS_PER_MINUTE"] == ("7", f"{tmp_path}/pressroom.toml")
    assert found["PRESSROOM_DEV"] == ("1", f"{tmp_path}/pressroom.toml"), "a variable set to nothing is not given"
    assert found["PRESSROOM_POSTS_PER_MINUTE"] == ("10", "default")


def test_named_file_is_read_alone(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text("port = 1\n")
    (tmp_path / ".env").write_text("PRESSROOM_HOST=127.0.0.2\n")
    named = tmp_path / "named.toml"
    named.write_text("requests_per_minute = 7\n")

    found = values(pressroom("config", "--json", "--config", str(named), folder=tmp_path))

    assert {name: value for name, value in found.items() if name[:9] == "PRESSROOM" and value[1] != "default"} == {
        "PRESSROOM_REQUESTS_PER_MINUTE": ("7", str(named))
    }


def test_types_of_toml_are_read_as_variables_are(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text(
        'trusted_proxies = ["10.0.0.0/8", "fd00::/8"]\nwebhook_retry_waits = [1, 2.5, 3, 4]\ndev = false\n'
        'PRESSROOM_PORT = "81"\ndata_dir = "data/here"\n'
    )
    found = values(pressroom("config", "--json", folder=tmp_path))
    assert found["PRESSROOM_TRUSTED_PROXIES"][0] == "10.0.0.0/8,fd00::/8"
    assert found["PRESSROOM_WEBHOOK_RETRY_WAITS"][0] == "1,2.5,3,4"
    assert found["PRESSROOM_PORT"][0] == "81"
    assert found["PRESSROOM_DATA_DIR"][0] == f"{tmp_path}/data/here"


def test_relative_paths_count_from_the_folder_of_the_file(tmp_path: Path) -> None:
    there, elsewhere = tmp_path / "there", tmp_path / "elsewhere"
    there.mkdir()
    elsewhere.mkdir()
    (there / "site.toml").write_text('data_dir = "media"\ndatabase_url = "sqlite:///rows.db"\n')
    file = str(there / "site.toml")

    assert pressroom("migrate", "--config", file, folder=elsewhere).returncode == 0

    assert (there / "rows.db").is_file()
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    ("place", "text", "said"),
    [
        ("environment", "", "PRESSROOM_BASE_URI in the environment is no setting of this version: did you mean"),
        (".env", "PRESSROOM_BASE_URI=https://a.example", "PRESSROOM_BASE_URI in {folder}/.env is no setting"),
        ("pressroom.toml", 'base_uri = "https://a.example"', "base_uri in {folder}/pressroom.toml is no setting"),
        ("pressroom.toml", 'PRESSROOM_BASE_URI = "x"', "PRESSROOM_BASE_URI in {folder}/pressroom.toml is no setting"),
    ],
)
@pytest.mark.parametrize("command", ["serve", "migrate", "stats", "config", "doctor"])
def test_unknown_name_stops_with_the_nearest_one(
    tmp_path: Path, command: str, place: str, text: str, said: str
) -> None:
    if text:
        (tmp_path / place).write_text(text)
    before = list(tmp_path.iterdir())

    if place == "environment":
        line = refusal(pressroom(command, folder=tmp_path, PRESSROOM_BASE_URI="https://a.example"))
    else:
        line = refusal(pressroom(command, folder=tmp_path))

    assert said.format(folder=tmp_path) in line
    assert line.lower().endswith("base_url?")
    assert list(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("port = ", "is not TOML"),
        ("[server]\nport = 1", "server in {file} is no setting"),
        ("port = {a = 1}", "port in {file} is neither text, a number, true or false, nor a list"),
        ("port = 70000", "PRESSROOM_PORT is not a whole number from 1 to 65,535: '70000' (in {file})"),
        ('database_url = "mysql://u:sesame@h/d"', "PRESSROOM_DATABASE_URL is neither"),
        ('smtp_url = "smpt://u:sesame@h"', "PRESSROOM_SMTP_URL is neither"),
    ],
)
def test_faulty_file_is_named_with_its_fault(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "pressroom.toml"
    file.write_text(text)
    line = refusal(pressroom("config", folder=tmp_path))
    assert said.format(file=file) in line
    assert str(file) in line
    assert "sesame" not in line


def test_named_file_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    line = refusal(pressroom("config", folder=tmp_path, PRESSROOM_CONFIG="/nowhere/pressroom.toml"))
    assert "/nowhere/pressroom.toml, which --config or PRESSROOM_CONFIG names, does not exist" in line


def test_config_shows_no_secret(tmp_path: Path) -> None:
    (tmp_path / "pressroom.toml").write_text(
        'database_url = "postgresql://a:sesame@db/press"\nsmtp_url = "smtps://a:sesame@mail"\n'
        'redis_url = "redis://:sesame@r:1/0"\nAWS_SECRET_ACCESS_KEY = "sesame"\n'
    )
    for form in ([], ["--json"]):
        done = pressroom("config", *form, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "sesame" not in done.stdout + done.stderr
        assert "PRESSROOM_BLOBS_URL" in done.stdout
        assert "AWS_SECRET_ACCESS_KEY" in done.stdout
        assert "postgresql://…@db/press" in done.stdout


@pytest.fixture
def in_own_etc(tmp_path: Path) -> list[str]:
    """Words that run a command with an /etc of its own, below `tmp_path`."""
    etc = tmp_path / "etc"
    (etc / "pressroom").mkdir(parents=True)
    for name in ("passwd", "group", "nsswitch.conf", "hosts", "ld.so.cache"):
        if (Path("/etc") / name).exists():
            shutil.copy(Path("/etc") / name, etc)
    words = ["unshare", "--mount", "sh", "-c", f'mount --bind {etc} /etc && exec "$@"', "sh"]
    if os.geteuid() != 0 or subprocess.run([*words, "true"], capture_output=True, check=False, timeout=20).returncode:
        pytest.skip("no mounts of one's own without root")
    return [*words, *PRESSROOM]


def test_file_of_the_machine_is_read_where_the_folder_has_none(tmp_path: Path, in_own_etc: list[str]) -> None:
    (tmp_path / "etc" / "pressroom" / "pressroom.toml").write_text("requests_per_minute = 7\nposts_per_minute = 3\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    file = "/etc/pressroom/pressroom.toml"

    found = values(pressroom("config", "--json", folder=folder, program=in_own_etc))
    assert found["PRESSROOM_REQUESTS_PER_MINUTE"] == ("7", file)

    (folder / ".env").write_text("OTHER=x\n")
    found = values(pressroom("config", "--json", folder=folder, program=in_own_etc))
    assert found["PRESSROOM_REQUESTS_PER_MINUTE"] == ("7", file), "the .env is of another program"

    (folder / "pressroom.toml").write_text("posts_per_minute = 4\n")
    found = values(pressroom("config", "--json", folder=folder, program=in_own_etc))
    assert found["PRESSROOM_POSTS_PER_MINUTE"] == ("4", str(folder / "pressroom.toml"))
    assert found["PRESSROOM_REQUESTS_PER_MINUTE"] == ("60", "default"), "two installations are never mixed"


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")


@needs_root
@pytest.mark.parametrize(
    "command", [*COMMANDS[:1], ["serve"], ["worker"], ["migrate"], ["doctor"], ["backup", "--to", "copy"]], ids=" ".join
)
def test_root_is_refused_beside_the_folder_of_another_user(tmp_path: Path, command: list[str]) -> None:
    assert pressroom("migrate", folder=tmp_path).returncode == 0
    for path in (tmp_path / "data", *(tmp_path / "data").iterdir()):
        os.chown(path, STRANGER, STRANGER)
    before = sorted((tmp_path / "data").iterdir())

    line = refusal(pressroom(*command, folder=tmp_path))

    assert f"belongs to '#{STRANGER}', and this is root: run it as sudo -u '#{STRANGER}' pressroom" in line
    assert sorted((tmp_path / "data").iterdir()) == before


@needs_root
def test_user_without_rights_gets_the_unreadable_path(tmp_path: Path) -> None:
    """As after `sudo -u` in a home folder, which holds no settings for this user; a named file must be readable."""
    closed = tmp_path / "home"
    closed.mkdir(mode=0o700)
    (closed / "pressroom.toml").write_text("port = 1\n")
    for each in (tmp_path, *list(tmp_path.parents)[:3]):
        each.chmod(each.stat().st_mode | 0o011)
    program = ["setpriv", f"--reuid={STRANGER}", "--clear-groups", *PRESSROOM]
    if pressroom("--version", folder=tmp_path, program=program).returncode:
        pytest.skip("other users cannot read this project")

    assert values(pressroom("config", "--json", folder=closed, program=program))["PRESSROOM_PORT"] == (
        "8000",
        "default",
    )
    line = refusal(pressroom("config", folder=closed, program=program, PRESSROOM_CONFIG=str(closed / "pressroom.toml")))
    assert "cannot be read: Permission denied. Run commands as the server's user." in line
