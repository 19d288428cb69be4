"""Posts edited and deleted while others use them: each change once, and nothing is attached to a deleted post."""

import asyncio
from collections.abc import Callable, Sequence

import asyncpg

from tests.harness.crowd import Member, crowd, inconsistencies, made, published, stats, status_counts
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.roomy import ROOMY
from tests.harness.wire import Connection, Reply, Request, ask, at_once
from tests.services.postgres import PostgresServer
from tests.services.process import wait_until

MakeServer = Callable[..., ServerProcess]

AT_ONCE = 40
OTHERS = 20
ROUNDS = 6
AMIDST = 100
"""Answers that are in when the deletion is sent."""

LATE = 2
"""Requests that each account sends when it knows that the post is gone."""

CHANGED_SINCE_DELETED = (
    "SELECT p.id, p.shares, p.comments FROM posts p JOIN idempotent_answers a ON a.path = '/api/posts/' || p.id"
    " WHERE a.method = 'DELETE' AND p.xmin <> a.xmin"
)
"""Posts whose row was last written by another transaction than the one that deleted them and stored its answer."""

WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    " AND application_name = 'pressroom'"
)


def test_forty_edits_of_a_post_are_forty_versions(race_server: MakeServer) -> None:
    server = race_server()
    (author,) = crowd(server, 1)
    post_id = published(author, "as it was")
    contents = {f"edited {n} #edited{n}" for n in range(AT_ONCE)}

    answers = at_once([author.edit(post_id, content=content) for content in contents])

    assert status_counts(answers) == {200: AT_ONCE}
    assert {answer.json()["content"] for answer in answers} == contents
    assert None not in {answer.json()["editedAt"] for answer in answers}
    ((final, edited_at),) = rows(server, "SELECT content, edited_at FROM posts")
    assert final in contents
    assert edited_at is not None
    versions = rows(server, "SELECT content FROM post_versions")
    assert sorted(content for (content,) in versions) == sorted({"as it was", *contents} - {final})
    assert rows(server, "SELECT tag FROM post_tags") == [(final.partition("#")[2],)]
    assert inconsistencies(server) == []


def test_the_edit_that_stands_is_the_latest_one(race_server: MakeServer) -> None:
    server = race_server()
    (author,) = crowd(server, 1)
    post_id = published(author, "as it was")

    answers = at_once([author.edit(post_id, content=f"edited {n}") for n in range(AT_ONCE)])

    edited_at = {answer.json()["content"]: answer.json()["editedAt"] for answer in answers}
    ((final,),) = rows(server, "SELECT content FROM posts")
    assert edited_at[final] == max(edited_at.values())
    versions = rows(server, "SELECT content, written_at FROM post_versions ORDER BY id")
    assert versions[0][0] == "as it was"
    assert [written_at for _, written_at in versions] == sorted(written_at for _, written_at in versions)
    assert inconsistencies(server) == []


def test_forty_deletions_of_a_post_are_one(race_server: MakeServer) -> None:
    server = race_server()
    (author,) = crowd(server, 1)
    post_id = published(author)

    answers = at_once([author.delete(post_id)] * AT_ONCE)

    assert status_counts(answers) == {200: 1, 404: AT_ONCE - 1}
    assert author.account()["totalPosts"] == 0
    assert inconsistencies(server) == []


def test_forty_deletions_of_a_bounce_uncount_it_once(race_server: MakeServer) -> None:
    server = race_server()
    author, other, keeper = crowd(server, 3)
    post_id = published(author)
    made(ask(keeper.bounce(post_id)))
    bounces = [made(ask(other.bounce(post_id))), made(ask(other.bounce(post_id, "quoted")))]
    assert (stats(server, post_id)["shares"], stats(server, post_id)["shareCount"]) == (2, 3)

    answers = at_once([other.delete(bounces[n % 2]) for n in range(AT_ONCE)])

    assert status_counts(answers) == {200: 2, 404: AT_ONCE - 2}
    assert (stats(server, post_id)["shares"], stats(server, post_id)["shareCount"]) == (1, 1)
    assert other.account()["totalPosts"] == 0
    assert inconsistencies(server) == []


def test_an_account_publishes_and_deletes_at_once(race_server: MakeServer) -> None:
    server = race_server()
    (author,) = crowd(server, 1)
    old = [published(author, f"old {n}") for n in range(AT_ONCE // 2)]

    answers = at_once(
        [it for n, post_id in enumerate(old) for it in (author.delete(post_id), author.publish(f"new {n}"))]
    )

    assert status_counts(answers) == {200: AT_ONCE // 2, 201: AT_ONCE // 2}
    assert author.account()["totalPosts"] == AT_ONCE // 2
    assert inconsistencies(server) == []


def test_a_post_is_deleted_while_twenty_use_it(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + OTHERS)

    for number in range(ROUNDS):
        post_id = published(author, f"post {number}")
        uses = [(it.bounce(post_id), it.comment(post_id, "Is it finished?"))[number % 2] for it in others]
        place = OTHERS * number // ROUNDS
        answers = at_once([*uses[:place], author.delete(post_id, f"key-{number}"), *uses[place:]])
        deleted = answers.pop(place)

        assert deleted.status == 200
        assert set(status_counts(answers)) <= {201, 404}
        used = dict(rows(server, "SELECT id, share_count + comments FROM posts"))
        assert used[post_id] == status_counts(answers)[201]
        assert status_counts([*at_once(uses), ask(author.delete(post_id))]) == {404: OTHERS + 1}
    assert author.account()["totalPosts"] == 0
    if "DATABASE_URL" in server.settings:
        assert rows(server, CHANGED_SINCE_DELETED) == []
    assert inconsistencies(server) == []


def test_nothing_is_attached_once_a_deletion_is_acknowledged(race_server: MakeServer) -> None:
    server = race_server()
    author, *others = crowd(server, 1 + OTHERS)
    post_id = published(author, poll={"options": ["Lead", "Ink"]})
    kinds: list[Callable[[Member], Request]] = [
        lambda member: member.bounce(post_id, "quoted"),
        lambda member: member.comment(post_id, "Is it finished?"),
        lambda member: member.like(post_id),
        lambda member: member.unlike(post_id),
        lambda member: member.vote(post_id, 1),
    ]

    early, late = asyncio.run(use_until_gone([kinds[n % 5](it) for n, it in enumerate(others)], author.delete(post_id)))

    assert set(status_counts(early)) <= {200, 201, 404, 409}
    assert status_counts(early)[201] > 0
    assert status_counts(late) == {404: OTHERS * LATE}
    made_of_it = count(server, "comments") + count(server, "posts") - 1
    assert made_of_it == status_counts(early)[201]
    assert inconsistencies(server) == []


def test_openings_are_written_down_while_a_bounce_is_deleted(
    process_server: MakeServer, postgres_server: PostgresServer
) -> None:
    url = postgres_server.create_database("openings_race")
    server = process_server(**ROOMY, DATABASE_URL=url).migrate().start()
    author, other, reader = crowd(server, 3)
    post_id = published(author)
    bounce_id = made(ask(other.bounce(post_id)))
    openings = [reader.signed_in("GET", f"/post/{each}") for each in (post_id, bounce_id)]

    answer = asyncio.run(delete_amidst_openings(server, post_id, openings, other.delete(bounce_id)))
    found = inconsistencies(server)

    assert answer.status == 200
    assert dict(rows(server, "SELECT id, views FROM posts")) == {post_id: 1, bounce_id: 1}
    assert found == []


async def delete_amidst_openings(
    server: ServerProcess, post_id: str, openings: Sequence[Request], deletion: Request
) -> Reply:
    """Has openings written down and a bounce deleted while the original is locked, and lets both go on together."""

    async def until_waiting(number: int) -> None:
        assert await asyncio.to_thread(wait_until, lambda: rows(server, WAITING) == [(number,)])

    holder = await asyncpg.connect(str(server.settings["DATABASE_URL"]))
    connections = [await Connection.open(server.port) for _ in openings]
    async with holder.transaction():
        await holder.execute("SELECT 1 FROM posts WHERE id = $1 FOR UPDATE", post_id)
        pairs = zip(connections, openings, strict=True)
        await asyncio.gather(*(connection.ask(opening) for connection, opening in pairs))
        await until_waiting(1)
        deleted = asyncio.ensure_future(connections[0].ask(deletion))
        await until_waiting(2)
    answer = await deleted
    for connection in connections:
        connection.close()
    await holder.close()
    return answer


async def use_until_gone(requests: Sequence[Request], deletion: Request) -> tuple[list[Reply], list[Reply]]:
    """Sends each request again and again over a connection of its own, and the deletion in the midst of them.

    The answers to requests before the deletion was acknowledged, and to those after.
    """
    early: list[Reply] = []
    late: list[Reply] = []
    amidst, gone = asyncio.Event(), asyncio.Event()

    async def use(request: Request) -> None:
        connection = await Connection.open(request.port)
        while not gone.is_set():
            early.append(await connection.ask(request))
            if len(early) >= AMIDST:
                amidst.set()
        late.extend([await connection.ask(request) for _ in range(LATE)])
        connection.close()

    async def delete() -> None:
        connection = await Connection.open(deletion.port)
        await amidst.wait()
        answer = await connection.ask(deletion)
        gone.set()
        assert answer.status == 200, answer
        connection.close()

    await asyncio.gather(delete(), *map(use, requests))
    return early, late
