"""The modules that a command loads: its help needs neither a server nor a database, and comes at once."""

import subprocess
import sys

HEAVY = (
    *("aiohttp", "apsw", "argon2", "asyncio", "asyncpg", "av", "granian", "jinja2", "obstore", "pyvips", "redis"),
    *("rich", "structlog", "uvloop", "pressroom.server.runtime", "pressroom.web", "pressroom.db"),
)


def loaded_by(code: str) -> set[str]:
    """The modules that an interpreter has loaded once it ran `code`."""
    program = f"import sys\n{code}\nprint('loaded', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.splitlines()[-1].split()[1:])


def command(*arguments: str) -> str:
    return f"from pressroom.cli import main\nmain({list(arguments)!r}, standalone_mode=False)"


def test_help_loads_no_server_and_no_database():
    for arguments in ([], ["serve"], ["account"], ["account", "create"], ["key", "create"], ["migrate"], ["listen"]):
        loaded = loaded_by(command(*arguments, "--help"))
        assert "pressroom.settings" in loaded
        assert not loaded & set(HEAVY), arguments


def test_a_server_without_redis_does_not_load_its_client():
    assert "redis" not in loaded_by("import pressroom.server.serve")


def test_a_server_that_sends_no_mail_does_not_load_its_client():
    assert "aiosmtplib" not in loaded_by("import pressroom.server.serve")


def test_libraries_of_two_factor_codes_load_at_first_use():
    assert not loaded_by("import pressroom.server.serve") & {"pyotp", "segno"}


def test_a_command_on_the_database_loads_no_server():
    loaded = loaded_by("import pressroom.cli.console, pressroom.server.database")
    assert not loaded & {"granian", "jinja2", "pressroom.blobs", "pressroom.server.runtime"}


def test_a_server_that_is_not_measured_loads_nothing_for_it():
    loaded = loaded_by("import pressroom.server.serve, pressroom.server.supervise")
    assert not loaded & {"prometheus_client", "opentelemetry"}


def test_http_client_loads_with_the_first_request():
    """All that a server with one SQLite file and no webhooks opens."""
    opened = """
import asyncio, io, tempfile
from pressroom.server.app import create_app
from pressroom.cli.serving import _announce
from pressroom.logs import Log
from pressroom.server.runtime import make_job_worker, make_worker, open_runtime
from pressroom.settings import Settings
import pressroom.server.serve

async def open_all(folder):
    runtime = await open_runtime(Settings({"PRESSROOM_DATA_DIR": folder}), Log(requests=False, stream=io.StringIO()))
    create_app(runtime), make_worker(runtime), make_job_worker(runtime)
    await _announce(runtime)
    await runtime.close()

with tempfile.TemporaryDirectory() as folder:
    asyncio.run(open_all(folder))
"""
    loaded = loaded_by(opened)
    assert "pressroom.outbound" in loaded
    assert not loaded & {"aiohttp", "rich", "yarl"}
