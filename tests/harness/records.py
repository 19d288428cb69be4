"""The rows of a server's database, read past the server, and whether they agree."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import asyncpg

from tests.harness.process import ServerProcess
from tests.harness.publishers import Publisher

Row = tuple[Any, ...]


def rows(server: ServerProcess, statement: str) -> list[Row]:
    """The rows of a statement on the server's own database."""
    url = str(server.settings.get("DATABASE_URL", ""))
    if not url:
        return _ask_sqlite(sqlite_file(server), statement)
    return asyncio.run(_ask_postgres(url, str(server.settings.get("DATABASE_SCHEMA", "public")), statement))


def count(server: ServerProcess, table: str) -> int:
    """How many rows a table has."""
    return int(rows(server, f"SELECT count(*) FROM {table}")[0][0])  # noqa: S608  # the test's own names


def sqlite_file(server: ServerProcess) -> Path:
    """Where the embedded database lies."""
    return Path(str(server.settings["DATA_DIR"])) / "pressroom.db"


def disagreements(server: ServerProcess, publishers: Sequence[Publisher]) -> list[str]:
    """Everything in which the database contradicts itself or the publishers' answers; a sentence each.

    The publishers are all who ever published there, each post under an Idempotency-Key of its own.
    """
    posts = rows(server, "SELECT id, account_id, key_id, content FROM posts")
    return [
        *_twice(content for *_, content in posts),
        *_promises(publishers, {post_id: content for post_id, *_, content in posts}),
        *_companions(server, [post_id for post_id, *_ in posts]),
        *_counters(server, posts),
        *_damage(server),
    ]


def _twice(contents: Iterable[str]) -> Iterator[str]:
    for content, times in Counter(contents).items():
        if times > 1:
            yield f"{content!r} stands {times} times"


def _promises(publishers: Sequence[Publisher], kept: dict[str, str]) -> Iterator[str]:
    """Acknowledged posts are there; posts there were sent; one Idempotency-Key has one answer."""
    for publisher in publishers:
        for content, post_id in publisher.acknowledged.items():
            if kept.get(post_id) != content:
                yield f"{content!r} was acknowledged as {post_id}, which holds {kept.get(post_id)!r}"
        for idempotency_key, bodies in publisher.heard.items():
            if len(bodies) > 1:
                yield f"{idempotency_key} was answered in {len(bodies)} ways"
        for surprise in publisher.surprises:
            yield f"a publisher heard {surprise}"
    sent = {content for publisher in publishers for content in publisher.sent}
    for content in set(kept.values()) - sent:
        yield f"{content!r} was never sent"


def _companions(server: ServerProcess, post_ids: list[str]) -> Iterator[str]:
    """Each post has one event and one stored answer, and there are no others."""
    there = Counter(post_ids)
    events = rows(server, "SELECT data FROM events WHERE type = 'post.created'")
    if (reported := Counter(json.loads(data)["post"]["id"] for (data,) in events)) != there:
        yield f"events differ from posts: {reported - there} too many, {there - reported} missing"
    answers = rows(server, "SELECT idempotency_key, body FROM idempotent_answers")
    yield from (f"the stored answer of {idempotency_key} is empty" for idempotency_key, body in answers if not body)
    if (answered := Counter(json.loads(body)["id"] for _, body in answers if body)) != there:
        yield f"stored answers differ from posts: {answered - there} too many, {there - answered} missing"


def _counters(server: ServerProcess, posts: list[Row]) -> Iterator[str]:
    """Each account's quota and counter equal the number of its posts."""
    owned = Counter(account_id for _, account_id, *_ in posts)
    keyed = Counter(account_id for _, account_id, key_id, _ in posts if key_id)
    used = {account_id: int(n) for account_id, n in rows(server, _USED)}
    for account_id, total in rows(server, "SELECT id, total_posts FROM accounts"):
        if total != owned[account_id]:
            yield f"account {account_id} has {owned[account_id]} posts and counts {total}"
        if used.get(account_id, 0) != keyed[account_id]:
            yield f"account {account_id} has {keyed[account_id]} keyed posts and spent {used.get(account_id, 0)}"


_USED = "SELECT account_id, sum(used) FROM content_quotas GROUP BY account_id"


def _damage(server: ServerProcess) -> Iterator[str]:
    if "DATABASE_URL" not in server.settings:
        yield from (text for (text,) in rows(server, "PRAGMA integrity_check") if text != "ok")


def _ask_sqlite(file: Path, statement: str) -> list[Row]:
    connection = apsw.Connection(str(file))
    try:
        connection.set_busy_timeout(5_000)
        return list(connection.execute(statement))
    finally:
        connection.close()


async def _ask_postgres(url: str, schema: str, statement: str) -> list[Row]:
    connection = await asyncpg.connect(url)
    try:
        # In the transaction: PgBouncer refuses search_path among the settings of a connection.
        async with connection.transaction():
            await connection.execute("SELECT set_config('search_path', $1, TRUE)", schema)
            return [tuple(row) for row in await connection.fetch(statement)]
    finally:
        await connection.close()
