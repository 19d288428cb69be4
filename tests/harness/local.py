"""The server in a thread of the test's own process, on real sockets and on a clock that the test sets."""

import asyncio
import io
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Final, TypeVar

import argon2
import uvloop

from pressroom.clock import SettableClock
from pressroom.db.migrate import migrate
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.accounts.models import Account
from pressroom.domains.keys.actions import create_key
from pressroom.domains.keys.models import ApiKey, NewKey, Scope
from pressroom.domains.search.jobs import index_waiting
from pressroom.domains.shared_state.models import SecretName
from pressroom.domains.webhooks.delivery import DeliveryWorker
from pressroom.jobs.schedule import Every, Schedule
from pressroom.jobs.worker import JobWorker
from pressroom.logs import Log
from pressroom.outbound.lookups import Resolve
from pressroom.server.app import create_app
from pressroom.server.database import open_database
from pressroom.server.runtime import Runtime, make_job_worker, make_worker, open_runtime
from pressroom.settings import Settings
from pressroom.web.server import make_server
from tests.harness.databases import migrated_file
from tests.harness.roomy import CROWDED
from tests.services.ports import free_port

T = TypeVar("T")


_QUICK: Final = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""The same hash without its cost, which `tests/domains/sign_in/test_passwords.py` is about."""


async def _no_name(host: str, port: int) -> list[str]:
    """Resolves nothing: what tests publish may link anywhere, and nothing is to be asked of the world."""
    raise OSError(f"{host}:{port} is not looked up in tests")


class LocalServer:
    """A whole server without a process of its own. Settings are given by their names without the prefix."""

    def __init__(self, folder: Path, resolve: Resolve | None = None, /, **settings: object) -> None:
        self.clock = SettableClock()
        self.port = int(str(settings.pop("PORT", 0))) or free_port()
        given: dict[str, object] = {**CROWDED, "DATA_DIR": folder / "data", "PORT": self.port, **settings}
        self.settings = Settings({f"PRESSROOM_{name}": str(value) for name, value in given.items()})
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.stream = io.StringIO()
        self._resolve = resolve or _no_name
        self.runtime: Runtime
        self.worker: DeliveryWorker
        self.job_worker: JobWorker
        self._accounts = 0
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def start(self) -> "LocalServer":
        """Opens everything and serves."""
        self._place_database()
        self._thread.start()
        self.run(self._start())
        return self

    def stop(self) -> None:
        """Stops serving and closes everything."""
        self.run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs `work` on the server's own event loop; its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(120)

    def account(self, username: str = "") -> Account:
        """Makes an account, under a name of its own unless one is given."""
        self._accounts += 1
        name = username or f"account{self._accounts}"
        return self.run(self.runtime.db.transact(create_account, NewAccount(name, f"{name}@example.org", "no hash")))

    def key(
        self, account: Account, *scopes: Scope, expires_at: int | None = None, ips: tuple[str, ...] = ()
    ) -> tuple[ApiKey, str]:
        """Makes a key of the account, with every scope unless some are given: its record and the key."""
        new = NewKey("test key", list(scopes or Scope), expires_at, list(ips))
        return self.run(self.runtime.db.transact(create_key, account.id, new))

    def deliver(self) -> None:
        """Delivers whatever is due by the clock, as a worker would."""
        self.run(self.worker.settle())

    def do_jobs(self) -> None:
        """Processes media and fetches cards that are due by the clock, as a worker would."""
        self.run(self.job_worker.settle())

    def index(self) -> None:
        """Indexes the words of posts, as the server does by itself every second."""
        self.run(index_waiting(self.runtime.db))

    def secret(self, name: SecretName) -> str:
        """The secret that signs by the clock."""
        return self.runtime.state.secret(name).signing(self.clock.now())

    def keep_still(self) -> None:
        """Writes nothing behind by itself from now on, but for counts of limits: held back, they refuse requests."""
        self.run(self._keep_still())

    def _place_database(self) -> None:
        """Puts a copy of a migrated database where a new one would be made."""
        file = self.settings.data_dir / "pressroom.db"
        if self.settings.database_url == f"sqlite:///{file}" and not file.exists():
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.write_bytes(migrated_file())
            file.chmod(0o600)

    async def _start(self) -> None:
        db = await open_database(self.settings, self.clock)
        await migrate(db)
        await db.close()
        self.runtime = await open_runtime(
            self.settings, Log(requests=True, stream=self.stream), self.clock, self._resolve
        )
        self.runtime.passwords.hasher = _QUICK
        self.worker = make_worker(self.runtime)
        self.job_worker = make_job_worker(self.runtime)
        self._server = make_server(create_app(self.runtime), self.settings)
        self._serving = asyncio.ensure_future(self._server.serve())
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                await asyncio.sleep(0.005)
            else:
                writer.close()
                return

    async def _keep_still(self) -> None:
        await self.runtime.schedule.stop()
        self.runtime.schedule = Schedule([Every(0.25, "limits", self.runtime.limiter.flush)], self.runtime.log)

    async def _stop(self) -> None:
        self.runtime.streams.close()
        self._server.stop()
        await self._serving
        await self.runtime.close()
