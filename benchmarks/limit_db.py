"""The limit of the database: the statements of a create in a bare apsw loop, 16 creates per COMMIT.

    python -m benchmarks.limit_db --file FILE --keys FILE --seconds 2

The statements are the package's own constants, on connections as the server opens them. The values bound to them
is made before the clock starts, and between BEGIN and COMMIT there is nothing but them: no savepoints, no tasks.
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from pressroom.clock import DAY, SystemClock
from pressroom.db import Command, Value
from pressroom.db.sqlite.database import SqliteTx, connect, drive
from pressroom.domains.accounts.queries.status import ADD_POSTS
from pressroom.domains.events.queries import COUNT_EVENT, INSERT_EVENT
from pressroom.domains.idempotency.queries import CLAIM, STORE_ANSWER
from pressroom.domains.keys.queries import FIND_BEARER
from pressroom.domains.keys.secret import hash_secret
from pressroom.domains.limits.queries import SPEND_QUOTA
from pressroom.domains.posts.models import BARE, Post, PostType
from pressroom.domains.posts.queries.indexing import INSERT_UNINDEXED
from pressroom.domains.posts.queries.writing import INSERT_POST, post_values
from pressroom.domains.webhooks.queries.deliveries import LOCK_SUBSCRIPTIONS
from pressroom.ids import new_id

BATCH: Final = 16
READ: Final = FIND_BEARER
WRITES: Final[tuple[Command, ...]] = (
    CLAIM,
    SPEND_QUOTA,
    INSERT_POST,
    INSERT_UNINDEXED,
    ADD_POSTS,
    COUNT_EVENT,
    INSERT_EVENT,
    LOCK_SUBSCRIPTIONS,
    STORE_ANSWER,
)
"""The statements of one create, in its order, after the read. `benchmarks.drift` holds it to a real create."""

PREPARED: Final = 20_000
"""Creates that are prepared for each second of the run: more than any machine gets through."""

ANSWER: Final = "x" * 900
"""About the size of a stored answer."""

EVENT: Final = "x" * 270
"""About the size of the data of a post.created."""

Bindings = dict[str, Value]


class Statements(msgspec.Struct):
    """The result: creates per second, and microseconds of CPU that each took."""

    per_second: float
    cpu: float


def bindings(reader: Any, keys: list[str], count: int) -> Iterator[list[tuple[Value, ...]]]:
    """Yields the values of `count` creates, over all keys in turn: for the read, then for each of the writes."""
    now = SystemClock().now()
    tx = SqliteTx(reader, now)
    who = {secret: drive(tx.one(FIND_BEARER, secret_hash=hash_secret(secret))) for secret in keys}
    run = new_id(now)
    for number in range(count):
        secret = keys[number % len(keys)]
        bearer = who[secret]
        assert bearer is not None, "the file of keys is not of this database"
        key_id, account_id = bearer.key_id, bearer.id
        identity: Bindings = {
            "account_id": account_id, "method": "POST", "path": "/api/posts", "idempotency_key": f"{run}-{number}",
        }  # fmt: skip
        post = Post(
            **msgspec.structs.asdict(BARE), id=new_id(now + number), account_id=account_id, key_id=key_id,
            type=PostType.POST, content="The harbour bridge opens again on Monday.", created_at=now, updated_at=now,
        )  # fmt: skip
        each: list[Bindings] = [
            {"secret_hash": hash_secret(secret)},
            {**identity, "body": "", "body_hash": "", "now": now, "expired": now - DAY},
            {"account_id": account_id, "day": now // DAY, "quota": 1_000_000_000},
            post_values(post),
            {"post_id": post.id},
            {"account_id": account_id, "total": 1, "public": 1, "followers": 0, "connections": 0, "last": post.id},
            {"account_id": account_id},
            {
                "id": new_id(now + number), "account_id": account_id, "key_id": None, "type": "post.created",
                "data": EVENT, "now": now, "trace": None, "counted_for": account_id,
            },
            {"account_id": account_id},
            {**identity, "body": ANSWER},
        ]  # fmt: skip
        yield [command.arrange(values) for command, values in zip((READ, *WRITES), each, strict=True)]


def run(file: Path, keys: list[str], seconds: float) -> Statements:
    """Runs the statements of creates for `seconds`."""
    writer, reader = connect(file), connect(file)
    prepared = list(bindings(reader, keys, int(PREPARED * seconds)))
    batches = [prepared[first : first + BATCH] for first in range(0, len(prepared), BATCH)]
    read, texts = READ.text, [write.text for write in WRITES]
    done, worked, start = 0, time.process_time(), time.perf_counter()
    for batch in batches:
        for bound in batch:
            reader.execute(read, bound[0]).fetchone()
        writer.execute("BEGIN IMMEDIATE")
        for bound in batch:
            for text, values in zip(texts, bound[1:], strict=True):
                writer.execute(text, values).fetchone()
        writer.execute("COMMIT")
        done += len(batch)
        if time.perf_counter() - start >= seconds:
            break
    took, worked = time.perf_counter() - start, time.process_time() - worked
    reader.close()
    writer.close()
    return Statements(done / took, worked / done * 1e6)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limit_db", description=__doc__)
    parser.add_argument("--file", type=Path, required=True, help="a seeded database, which is written to")
    parser.add_argument("--keys", type=Path, required=True, help="a file with one key per line")
    parser.add_argument("--seconds", type=float, default=2)
    given = parser.parse_args()
    keys = given.keys.read_text("utf-8").split()
    print(msgspec.json.encode(run(given.file, keys, given.seconds)).decode())


if __name__ == "__main__":
    main()
