"""The server dies while it copies an account and while it erases one: the copy is whole, and nothing is left over."""

import asyncio
import contextlib
import io
import json
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final

import pytest

from pressroom.clock import HOUR
from pressroom.db import Command, Database, Tx
from pressroom.domains.media.jobs import sweep_folders
from pressroom.domains.webhooks.queries.leases import forget_leases
from pressroom.jobs import queue
from tests.api.tables import columns
from tests.harness.beside import api_alone, worker
from tests.harness.databases import in_database, settings_of
from tests.harness.deliveries import QUICK_RETRIES, Endpoint
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.receiver import Receiver
from tests.harness.records import rows
from tests.harness.wire import Request, ask, send
from tests.media.uploads import UPLOAD, blobs_below, file_part, form, form_headers, text_part
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

IN_TIME = 240.0
KILLS = 7
KEYS = 3
NOTIFICATIONS = 2_500
WORD = "zaphodkilled"
"""What all personal fields of the account bear, and nothing else."""

NAME_STAYS: Final = {"reserved_usernames.username_key"}
EXPORT = "/api/auth/export"
FOLLOWS: Final = "SELECT count(*) FROM follows"

FILL: Final = Command(
    "INSERT INTO notifications (id, account_id, type, actor_id, created_at)"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)"
    " SELECT '01KW2F3B6E' || CAST(1000000000000000 + i AS TEXT), :account_id, 'mention', :account_id, 1 FROM n"
)
"""More than a few transactions remove."""

AN_HOUR_LATER: Final = (
    Command(
        "UPDATE accounts SET deleted_at = deleted_at - :hours, suspended_at = suspended_at - :hours WHERE id = :id"
    ),
    Command("UPDATE jobs SET due_at = 1 WHERE due_at IS NOT NULL AND subject = :id AND :hours > 0"),
    Command("UPDATE job_queues SET due_at = 1 WHERE account_id = :id AND :hours > 0"),
)


class Machine:
    """All processes of a server, which die together; their leases are free then."""

    def __init__(self, *processes: ServerProcess) -> None:
        self.processes = processes
        self.api = processes[0]

    def kill(self) -> None:
        """Ends all as a power cut would, and lets their leases run out."""
        for process in self.processes:
            process.kill()
        self.change(free_leases)

    def change(self, work: Callable[[Database], object]) -> None:
        """Does something to the database of processes that do not run."""
        in_database(settings_of(self.api.settings), work)  # type: ignore[arg-type]  # whatever it returns

    def restart(self) -> None:
        """Has all back."""
        for process in self.processes:
            process.restart()

    def kill_often(self, chance: Random, over: Callable[[], bool]) -> int:
        """Kills all some time after each start, until they were killed so often or it is over; how often."""
        for number in range(KILLS):
            time.sleep(chance.uniform(0, 0.25))
            if over():
                return number
            self.kill()
            self.restart()
        return KILLS


async def free_leases(db: Database) -> None:
    """Does what half a minute does."""
    await db.transact(forget_leases)
    await db.transact(queue.forget_leases)


@pytest.fixture
def machine(
    request: pytest.FixtureRequest, roomy_server: MakeServer, engine_settings: dict[str, object]
) -> Iterator[Machine]:
    """One process on SQLite; an API and a worker on PostgreSQL."""
    server = roomy_server(**QUICK_RETRIES, **engine_settings)
    if not engine_settings:
        yield Machine(server.start())
        return
    with api_alone(server) as api, worker(server) as beside:
        yield Machine(api, beside)


def test_a_killed_copy_is_whole_and_a_killed_deletion_leaves_nothing(machine: Machine, seed: int) -> None:
    chance = Random(seed)
    with Receiver() as receiver:
        owner = somebody_with_everything(machine.api, receiver)
        files = copy_through_kills(machine, owner, chance)
        assert len(json.loads(files["posts.json"])) == 41
        assert json.loads(files["account.json"])["username"] == WORD
        assert len([name for name in files if name.startswith("media/")]) == 2
        assert len(json.loads(files["notifications.json"])) == NOTIFICATIONS + 1, "and that somebody follows it"

        delete_through_kills(machine, owner, chance)

        told = [request for number in range(KEYS) for request in receiver.of(f"/key{number}")]
    story = f"PRESSROOM_TEST_SEED={seed}"
    revoked = {json.loads(each.body)["data"]["apiKey"]["id"]: each.id for each in told}
    assert len({each.id for each in told}) == len(revoked) == KEYS, f"{story}: one envelope for each key, {told}"
    assert not still_there(machine, owner), story
    for process in machine.processes:
        assert process.stop() == 0, process.output()
    data_dir = Path(str(machine.api.settings["DATA_DIR"]))
    sweep_folders(data_dir, 0)
    assert blobs_below(data_dir) == [], story
    assert [path for path in (data_dir / "processing").rglob("*") if path.is_file()] == [], story


def somebody_with_everything(api: ServerProcess, receiver: Receiver) -> Owner:
    """An account with posts, pictures, comments, followers, keys and endpoints."""
    friend, owner = Owner(api, "friend"), Owner(api, WORD)
    scopes = ("posts:write", "media:write", "comments:write")
    keys = [owner.new_key(f"{WORD} {number}", scopes).json() for number in range(KEYS)]
    for number, key in enumerate(keys):
        Endpoint(api, owner, key["id"], receiver.url(f"/key{number}"), ["apikey.revoked"])
    for number in range(40):
        answer = ask(publish(api, keys[number % KEYS]["key"], f"{WORD} #{WORD} {number}", f"{WORD}{number}"))
        assert answer.status == 201, answer
    theirs = ask(publish(api, friend.key(), "Hello")).json()["id"]
    for path in (f"posts/{theirs}/like", f"posts/{theirs}/save", "accounts/friend/follow"):
        assert ask(Request(api.port, "POST", f"/api/{path}", {"Cookie": owner.cookie})).status == 200
    said = Request(api.port, "POST", f"/api/posts/{theirs}/comments", {"Cookie": owner.cookie}, {"content": "It stays"})
    assert ask(said).status == 201
    assert ask(Request(api.port, "POST", f"/api/accounts/{WORD}/follow", {"Cookie": friend.cookie})).status == 200
    body = form([file_part(), file_part(), text_part("altText", WORD), text_part("content", WORD)])
    head = Request(api.port, "POST", UPLOAD, form_headers(body, keys[0]["key"])).head
    assert asyncio.run(send(api, head + body)).status == 201
    processed = wait_until(lambda: rows(api, "SELECT DISTINCT status FROM media") == [("READY",)], IN_TIME)
    assert processed, api.output()
    return owner


def copy_through_kills(machine: Machine, owner: Owner, chance: Random) -> dict[str, bytes]:
    """Asks for a copy of everything, and fetches it after all has died over and over; its files."""
    api, cookie = machine.api, {"Cookie": owner.cookie}
    machine.kill()
    machine.change(lambda db: db.transact(fill, owner.id))
    machine.restart()
    assert ask(Request(api.port, "POST", EXPORT, cookie)).status == 202

    def is_ready() -> bool:
        return rows(api, "SELECT state FROM exports") == [("ready",)]

    machine.kill_often(chance, is_ready)
    assert wait_until(is_ready, IN_TIME), api.output()
    assert rows(api, "SELECT count(*) FROM jobs WHERE kind = 'export'") == [(0,)]
    (stored,) = blobs_below(Path(str(api.settings["DATA_DIR"])), "exports/")
    assert stored.endswith(".zip")
    answer = ask(Request(api.port, "GET", f"{EXPORT}/file", cookie))
    assert answer.status == 200
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


async def fill(tx: Tx, account_id: str) -> None:
    """Makes the account's notifications many."""
    await tx.run(FILL, account_id=account_id, count=NOTIFICATIONS)


def delete_through_kills(machine: Machine, owner: Owner, chance: Random) -> None:
    """Deletes the account while all dies over and over, and lets an hour pass."""
    api = machine.api
    body = {"username": WORD, "password": "correct horse"}
    request = Request(api.port, "POST", "/api/auth/delete", {"Cookie": owner.cookie}, body)

    def is_deleted() -> bool:
        return bool(rows(api, f"SELECT 1 FROM accounts WHERE id = '{owner.id}' AND deleted_at IS NOT NULL"))  # noqa: S608

    for _ in range(3):
        sender = threading.Thread(target=ask_in_vain, args=[request])
        sender.start()
        time.sleep(chance.uniform(0, 0.3))
        machine.kill()
        sender.join()
        machine.restart()
        if is_deleted():
            break
    else:
        assert ask(request).status == 200
    revoked = "SELECT count(*) FROM api_keys WHERE account_id = '{}' AND revoked_at IS NULL"
    assert rows(api, revoked.format(owner.id)) == [(0,)], "with the account go its keys"

    machine.kill_often(chance, lambda: not still_there(machine, owner))
    assert wait_until(lambda: not still_there(machine, owner), IN_TIME), still_there(machine, owner)

    jobs = f"SELECT count(*) FROM jobs WHERE account_id = '{owner.id}'"  # noqa: S608  # the test's own
    machine.kill()
    machine.change(lambda db: db.transact(let_an_hour_pass, owner.id))
    machine.restart()
    assert wait_until(lambda: rows(api, jobs) == [(0,)], IN_TIME), rows(api, "SELECT * FROM jobs")


def ask_in_vain(request: Request) -> None:
    """Sends a request whose server may die."""
    with contextlib.suppress(OSError):
        ask(request)


async def let_an_hour_pass(tx: Tx, account_id: str) -> None:
    """Makes it long ago that the account was deleted."""
    for command in AN_HOUR_LATER:
        await tx.run(command, id=account_id, hours=2 * HOUR)


def still_there(machine: Machine, owner: Owner) -> Sequence[object]:
    """What of the account is still in the database or in the store."""
    text = " UNION ".join(
        f"SELECT '{table}.{column}' FROM {table} WHERE lower({column}) LIKE '%{WORD}%'"  # noqa: S608  # of our own schema
        for table, kinds in columns().items()
        for column, kind in kinds.items()
        if kind == "TEXT"
    )
    places = {place for (place,) in rows(machine.api, text)} - NAME_STAYS
    of_account = [
        f"{table}: {count}"
        for table in ("webhooks", "deliveries", "sessions", "notifications", "likes", "saves", "exports", "media")
        for (count,) in rows(machine.api, f"SELECT count(*) FROM {table} WHERE account_id = '{owner.id}'")  # noqa: S608
        if count
    ]
    follows = [f"follows: {count}" for (count,) in rows(machine.api, FOLLOWS) if count]
    return [*sorted(places), *of_account, *follows, *blobs_below(Path(str(machine.api.settings["DATA_DIR"])))]
