"""The server dies while programs edit, delete, bounce and comment: each happens once, and every counter is true."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from random import Random

from tests.e2e.kills import STORY_SECONDS, kill_server_often
from tests.harness.owners import Owner, publish
from tests.harness.process import ServerProcess
from tests.harness.records import rows
from tests.harness.stories import Writer
from tests.harness.wire import ask
from tests.services.postgres import PostgresServer

MakeServer = Callable[..., ServerProcess]

EVERYTHING = ("posts:write", "posts:delete", "bounces:write", "comments:write")


def test_a_killed_server_does_everything_once_on_sqlite(roomy_server: MakeServer, seed: int) -> None:
    server = roomy_server().start()
    tell_stories_through_kills(server, 15, seed)


def test_a_killed_server_does_everything_once_on_postgres(
    roomy_server: MakeServer, postgres_server: PostgresServer, seed: int
) -> None:
    server = roomy_server(DATABASE_URL=postgres_server.create_database("kill_stories")).start()
    tell_stories_through_kills(server, 8, seed)


def tell_stories_through_kills(server: ServerProcess, kills: int, seed: int) -> None:
    """Eight programs of two accounts tell their stories while the server dies so often; then all is looked at."""
    owners = [Owner(server, "alice"), Owner(server, "bob")]
    keys = [owner.key("all", EVERYTHING) for owner in owners]
    shared = str(ask(publish(server, keys[0], "shared", "shared")).json()["id"])
    writers = [Writer(server, keys[n % 2], f"program{n}") for n in range(8)]

    asyncio.run(_tell(writers, shared, kill_server_often(server, kills, Random(seed))))

    assert server.stop() == 0, server.output()
    story = f"PRESSROOM_TEST_SEED={seed}; {sum(writer.unanswered for writer in writers)} attempts unanswered"
    assert all(writer.posts for writer in writers), story
    assert [*_promises(server, writers), *_contradictions(server)] == [], story
    print(story)


async def _tell(writers: Sequence[Writer], shared: str, disaster: Coroutine[None, None, None]) -> None:
    over = asyncio.Event()

    async def tell(writer: Writer) -> None:
        while not over.is_set():
            await writer.story(shared)
        writer.hang_up()

    async with asyncio.timeout(STORY_SECONDS), asyncio.TaskGroup() as group:
        for writer in writers:
            group.create_task(tell(writer))
        try:
            await disaster
        finally:
            over.set()


def _promises(server: ServerProcess, writers: Sequence[Writer]) -> Iterator[str]:
    """Acknowledged writes stand, and nothing happened twice."""
    posts = {row[0]: row for row in rows(server, "SELECT id, content, original_id, deleted_at, edited_at FROM posts")}
    comments = dict(rows(server, "SELECT id, content FROM comments"))
    versions = Counter(post_id for (post_id,) in rows(server, "SELECT post_id FROM post_versions"))
    for writer in writers:
        for post_id in writer.posts:
            expected = writer.edited.get(post_id)
            if post_id not in posts or (expected and posts[post_id][1] != expected):
                yield f"post {post_id} was acknowledged and is {posts.get(post_id)}"
            if versions[post_id] != (1 if expected else versions[post_id]):
                yield f"post {post_id} was edited once and has {versions[post_id]} earlier versions"
        for comment_id, content in writer.comments.items():
            if comments.get(comment_id) != content:
                yield f"comment {comment_id} was acknowledged and is {comments.get(comment_id)}"
        for bounce_id, original in writer.bounces.items():
            if bounce_id not in posts or posts[bounce_id][2] != original:
                yield f"bounce {bounce_id} was acknowledged and is {posts.get(bounce_id)}"
        for post_id in writer.deleted:
            if posts[post_id][3] is None:
                yield f"{post_id} was deleted and stands"
    for texts in ([content for _, content, *_ in posts.values() if content], comments.values()):
        yield from (f"{text!r} stands {times} times" for text, times in Counter(texts).items() if times > 1)


CONTRADICTIONS = {
    "comments": "SELECT p.id FROM posts p WHERE p.comments <> (SELECT count(*) FROM comments c WHERE c.post_id = p.id)",
    "shares": "SELECT p.id FROM posts p WHERE p.shares <> (SELECT count(*) FROM posts b WHERE b.original_id = p.id"
    " AND b.type = 'SHARE' AND b.deleted_at IS NULL)",
    "share_count": "SELECT p.id FROM posts p WHERE p.share_count <> (SELECT count(*) FROM posts b"
    " WHERE b.original_id = p.id AND b.deleted_at IS NULL)",
    "total_posts": "SELECT a.id FROM accounts a WHERE a.total_posts <> (SELECT count(*) FROM posts p"
    " WHERE p.account_id = a.id AND p.deleted_at IS NULL)",
    "quota": "SELECT a.id FROM accounts a WHERE (SELECT count(*) FROM posts p WHERE p.account_id = a.id) <>"
    " (SELECT coalesce(sum(q.used), 0) FROM content_quotas q WHERE q.account_id = a.id)",
    "two plain bounces": "SELECT original_id FROM posts WHERE type = 'SHARE' AND deleted_at IS NULL"
    " GROUP BY account_id, original_id HAVING count(*) > 1",
    "empty answers": "SELECT idempotency_key FROM idempotent_answers WHERE body = ''",
}


def _contradictions(server: ServerProcess) -> Iterator[str]:
    """Every counter that differs from its rows, and every write without its event."""
    for name, statement in CONTRADICTIONS.items():
        yield from (f"{name}: {found}" for found in rows(server, statement))
    for event, table in (("post.created", "posts"), ("comment.created", "comments")):
        events = rows(server, f"SELECT count(*) FROM events WHERE type = '{event}'")  # noqa: S608  # our own names
        kept = rows(server, f"SELECT count(*) FROM {table}")  # noqa: S608  # the same
        if events != kept:
            yield f"{event}: {events} events for {kept} rows"
