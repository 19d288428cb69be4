"""Measures the home timeline beside many posts: `.venv/bin/python -m benchmarks.timeline`.

    .venv/bin/python -m benchmarks.timeline [--posts 5000000] [--engine sqlite|postgres] [--requests 200]

Readers who follow 30, 1,000 and 10,000 accounts request their page, their timeline as JSON and the count of new posts,
and a profile for comparison; first on a database of 10,000 accounts, then beside so many posts, and an account for each
25 of them. CPU is that of the server, on PostgreSQL with PostgreSQL's own, per request, one after the other.
"""

import argparse
import http.client
import tempfile
from pathlib import Path
from typing import Final

import msgspec
import psutil
import uvloop

from benchmarks.growth import Place, begin, cpu_of, grow, places
from benchmarks.processes import RAISED, Server, free_port, load_average
from pressroom.db import Command, Tx
from pressroom.domains.accounts.actions import NewAccount, create_account
from pressroom.domains.sign_in.sessions import begin_session

FOLLOWED: Final = (30, 1_000, 10_000)
FEW: Final = 10_000 * 25
"""Posts of the small database: its accounts are those that are followed."""

OTHERS: Final = 400
"""Posts of accounts that the reader does not follow, newer than their last look."""

FOLLOW_MANY: Final = Command(
    "INSERT INTO follows (account_id, followed_id, created_at)"
    " SELECT :reader, id, :now FROM accounts WHERE id LIKE '0000001%'"
    " ORDER BY CAST(substr(id, 20) AS BIGINT) * 7919 % 1000003 LIMIT :count"
)
COUNT_FOLLOWS: Final = Command("UPDATE accounts SET total_following = :count WHERE id = :reader")
SET_NEWEST: Final = Command(
    "UPDATE accounts SET last_entry_id = (SELECT max(p.id) FROM posts p WHERE p.account_id = accounts.id)"
    " WHERE id LIKE '0000001%'"
)


class Reader(msgspec.Struct):
    """Somebody signed in, who follows so many accounts."""

    follows: int
    cookie: str


async def make_readers(place: Place) -> list[Reader]:
    """Makes the readers, who follow accounts spread over all."""
    async with place.opened() as db:
        await db.transact(_settle)
        return [await db.transact(_make_reader, count) for count in FOLLOWED]


async def _settle(tx: Tx) -> None:
    await tx.run(SET_NEWEST)


async def _make_reader(tx: Tx, count: int) -> Reader:
    name = f"reader{count}"
    account = await create_account(tx, NewAccount(name, f"{name}@example.org", "no hash"))
    await tx.run(FOLLOW_MANY, reader=account.id, count=count, now=tx.now)
    await tx.run(COUNT_FOLLOWS, reader=account.id, count=count)
    return Reader(count, f"session={await begin_session(tx, account.id)}")


def costs(place: Place, readers: list[Reader], posts: int, requests: int) -> dict[str, float]:
    """Returns microseconds of CPU for each kind of request."""
    port = free_port()
    where: dict[str, object] = {"DATA_DIR": place.folder, "PORT": port}
    if place.url:
        where["DATABASE_URL"] = place.url
    server = Server(["pressroom", "serve", "--only", "api"], port, place.folder / "log", "", where | RAISED)
    try:
        found = {"profile": measure(place, server, port, "/@account0", readers[0].cookie, requests)}
        for reader in readers:
            for name, path in (
                ("page", "/"),
                ("JSON", "/api/timeline"),
                ("nothing new", f"/api/timeline/new?after={'7' + 'Z' * 25}"),
            ):
                found[f"{name}, {reader.follows:,} followed"] = measure(
                    place, server, port, path, reader.cookie, requests
                )
        path = f"/api/timeline/new?after=0000000{10**18 + posts - OTHERS}"
        found[f"nothing new but {OTHERS} of others"] = measure(place, server, port, path, readers[0].cookie, requests)
    finally:
        server.stop()
    return found


def measure(place: Place, server: Server, port: int, path: str, cookie: str, requests: int) -> float:
    """Returns microseconds of CPU of one request. Raises RuntimeError when it is refused."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    process = psutil.Process(server.pid)

    def send(count: int) -> None:
        for _ in range(count):
            connection.request("GET", path, headers={"Cookie": cookie})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{path}: {answer.status}")

    send(20)
    before = cpu_of(process) + place.cpu()
    send(requests)
    used = cpu_of(process) + place.cpu() - before
    connection.close()
    return used / requests * 1e6


def run(engine: str, posts: int, requests: int) -> None:
    """Measures one engine and prints it."""
    results: list[dict[str, float]] = []
    for size in (FEW, posts):
        with tempfile.TemporaryDirectory() as folder, places(engine, Path(folder)) as place:
            uvloop.run(begin(place))
            uvloop.run(grow(place, size))
            results.append(costs(place, uvloop.run(make_readers(place)), size, requests))
    few, many = results
    print(f"\n{engine}, {FEW:,} and {posts:,} posts. CPU for each request, µs:")
    for name, cost in few.items():
        ratio = many[name] / many["profile"]
        print(f"{name:<32} {cost:8,.0f} {many[name]:8,.0f} {many[name] / cost:6.2f}   of a profile: {ratio:5.2f}")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.timeline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--posts", type=int, default=5_000_000)
    parser.add_argument("--engine", action="append", choices=("sqlite", "postgres"))
    parser.add_argument("--requests", type=int, default=200)
    given = parser.parse_args()
    print(f"{load_average():.1f} processes wanted a core before.")
    for engine in given.engine or ("sqlite", "postgres"):
        run(engine, given.posts, given.requests)


if __name__ == "__main__":
    main()
