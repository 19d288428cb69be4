"""How often a permalink was opened: counted in the process, written down in batches, and never counted twice."""

import asyncio
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from pressroom.clock import HOUR
from pressroom.db import Command, Query, Tx, Value
from pressroom.domains.reading.view_counter import POSTS_OF_VISITOR, SEEN, ViewCounter
from pressroom.jobs.schedule import Every, Schedule
from pressroom.logs import Log
from pressroom.server.runtime import Runtime, open_runtime
from tests.api.actors import Actor, Json, body_of, nobody, publish, rows
from tests.api.conftest import MakeActor
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.pages.reader import fetch, visit
from tests.services.process import wait_until

SETTINGS = ROOMY

VIEWS = Query(int, "SELECT views FROM posts WHERE id = :post_id")


def permalink(post: Json) -> str:
    return f"/post/{post['id']}"


def views(server: LocalServer, post: Json) -> int:
    """The stored views of a PUBLIC post."""
    return int(body_of(nobody.get(f"{server.base_url}/api/posts/{post['id']}"))["stats"]["views"])


def opened(server: LocalServer, post: Json, times: int = 1, reader: Actor | None = None) -> None:
    """Opens a permalink so many times, as if an hour lay between each two of them."""
    for _ in range(times):
        visit(server, permalink(post), reader)
        server.runtime.views._seen.clear()


def written(server: LocalServer, post: Json) -> int:
    """The stored views after a flush."""
    server.run(server.runtime.views.flush())
    return views(server, post)


def test_openings_by_others_are_counted(actor: MakeActor, still: LocalServer) -> None:
    alice, bob = actor(), actor()
    post, other = publish(alice), publish(alice)

    opened(still, post, 3)
    opened(still, post, 2, bob)

    assert views(still, post) == 0
    assert written(still, post) == 5
    assert written(still, other) == 0
    opened(still, post)
    assert written(still, post) == 6
    assert written(still, post) == 6, "what was written is not written again"
    assert visit(still, permalink(post), alice).line(".counts").endswith("6 views")


def test_a_visitor_counts_once_an_hour(actor: MakeActor, still: LocalServer) -> None:
    alice, bob = actor(), actor()
    post, other = publish(alice), publish(alice)

    for _ in range(3):
        for reader in (None, bob):
            for each in (post, other):
                visit(still, permalink(each), reader)
    assert [written(still, post), written(still, other)] == [2, 2]
    later = still.clock.now() + HOUR - still.clock.now() % HOUR
    for moment in (later - 1, later, later, later + HOUR - 1):
        still.runtime.views.note(post["id"], bob.account.id, moment)
    assert written(still, post) == 3


def test_visitors_without_number_take_a_bounded_memory(still: LocalServer) -> None:
    counter = ViewCounter(still.runtime.db)
    for number in range(2 * SEEN):
        counter.note("post", f"address {number}", 0)
    counter.note("post", "one more", 1)
    assert counter._counts.pending["post"] == SEEN
    assert len(counter._seen) == len(counter._visits) == SEEN

    counter.note("post", "one more", HOUR)
    for number in range(2 * POSTS_OF_VISITOR):
        counter.note(f"post {number}", "somebody who opens everything", HOUR)
    counter.note("post", "somebody else", HOUR)
    assert counter._counts.pending["post"] == SEEN + 2
    assert len(counter._counts.pending) == 1 + POSTS_OF_VISITOR


def test_requests_that_count_as_no_view(actor: MakeActor, still: LocalServer) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, "#heron")
    address = f"{still.base_url}{permalink(post)}"

    opened(still, post, 3, alice)
    for reader in (None, alice, bob):
        fetch(still, permalink(post), reader, "HEAD")
        fetch(still, permalink(post), reader, "POST")
        for path in (f"/@{alice.account.username}", "/tag/heron", f"/oembed?url={address}", f"/api/posts/{post['id']}"):
            fetch(still, path, reader)
    assert fetch(still, f"/post/{post['id'].lower()}").status_code == 404

    assert written(still, post) == 0


def test_only_those_who_see_a_post_open_it(actor: MakeActor, still: LocalServer) -> None:
    alice, bob = actor(), actor()
    post = publish(alice, visibility="FOLLOWERS")

    for reader in (None, bob):
        assert fetch(still, permalink(post), reader).status_code == 404
    body_of(bob.web.post(f"/api/accounts/{alice.account.username}/follow"))
    opened(still, post, 2, bob)
    body_of(alice.web.delete(f"/api/posts/{post['id']}"))
    assert fetch(still, permalink(post), bob).status_code == 410

    still.run(still.runtime.views.flush())

    assert rows(still, VIEWS, post_id=post["id"]) == [2]


def test_a_bounce_is_opened_for_itself(actor: MakeActor, still: LocalServer) -> None:
    alice, bob = actor(), actor()
    post = publish(alice)
    plain, quote = (
        body_of(bob.web.post(f"/api/posts/{post['id']}/bounce", json={"content": content}), 201)
        for content in (None, "Look!")
    )

    opened(still, plain)
    opened(still, quote, 2, alice)
    opened(still, post, 4, bob)
    opened(still, plain, 8, bob)

    assert [written(still, each) for each in (plain, quote, post)] == [1, 2, 4]


@pytest.fixture
def updates(still: LocalServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every UPDATE that the server carries out from now on."""

    async def kind_of(tx: Tx) -> type[Tx]:
        return type(tx)

    kind, found = still.run(still.runtime.db.read(kind_of)), list[str]()
    run: Callable[..., object] = kind.run

    def noted(self: Tx, command: Command, **values: Value) -> object:
        found.extend([command.text] if command.text.startswith("UPDATE") else [])
        return run(self, command, **values)

    monkeypatch.setattr(kind, "run", noted)
    return found


def test_many_openings_are_one_update_of_each_post(alice: Actor, still: LocalServer, updates: list[str]) -> None:
    posts = [publish(alice) for _ in range(3)]
    still.run(still.runtime.views.flush())
    del updates[:]

    for number in range(50):
        opened(still, posts[number % 3])
    assert updates == []
    still.run(still.runtime.views.flush())

    assert len(updates) == 3
    assert [views(still, post) for post in posts] == [17, 17, 16]
    still.run(still.runtime.views.flush())
    assert len(updates) == 3, "nothing waits, nothing is written"


def test_two_processes_add_up(twins: tuple[LocalServer, LocalServer]) -> None:
    first, second = twins
    alice = Actor(first)
    post = publish(alice)

    for _ in range(2):
        opened(first, post, 2)
        opened(second, post, 3)
        for server in twins:
            server.run(server.runtime.views.flush())

    alice.api.close()
    assert [views(server, post) for server in twins] == [10, 10]


def test_stop_saves_held_views(engine_settings: dict[str, object], tmp_path: Path) -> None:
    settings = {**ROOMY, "DATA_DIR": tmp_path / "data", **engine_settings}
    server = LocalServer(tmp_path / "first", **settings).start()
    server.run(server.runtime.schedule.stop())
    alice = Actor(server)
    post = publish(alice)
    alice.api.close()
    opened(server, post, 7)
    assert views(server, post) == 0

    server.stop()

    again = LocalServer(tmp_path / "again", **settings).start()
    counted = views(again, post)
    again.stop()
    assert counted == 7


def test_they_are_written_down_without_a_stop(engine_settings: dict[str, object], tmp_path: Path) -> None:
    server = LocalServer(tmp_path / "server", **ROOMY, **engine_settings).start()
    alice = Actor(server)
    post = publish(alice)
    alice.api.close()
    opened(server, post, 7)

    assert wait_until(lambda: views(server, post) == 7)
    server.stop()


async def nothing(_tx: Tx) -> None:
    """A transaction without statements."""


async def cut_off(runtime: Runtime, turns: int) -> None:
    """A flush that is cancelled on its way, as the stop of the schedule does; its write comes to its end."""
    before = asyncio.all_tasks()
    flush = asyncio.ensure_future(runtime.views.flush())
    for _ in range(turns):
        await asyncio.sleep(0)
    flush.cancel()
    await asyncio.gather(*(asyncio.all_tasks() - before), return_exceptions=True)
    # On SQLite a task that was under way before may commit it; what comes after it is committed after it.
    await runtime.db.transact(nothing)


def test_a_flush_that_is_cut_off_counts_nothing_twice(alice: Actor, still: LocalServer) -> None:
    for turns in range(6):
        post = publish(alice)
        opened(still, post, 5)

        still.run(cut_off(still.runtime, turns))

        assert (turns, written(still, post)) == (turns, 5)


async def closed_amid_a_flush(server: LocalServer, post: Json, turns: int) -> None:
    """Another process over the same database counts five openings, and is closed while it writes them down."""
    runtime = await open_runtime(server.settings, Log(requests=False, stream=io.StringIO()), server.clock)
    for number in range(5):
        runtime.views.note(post["id"], f"visitor {number}", 0)
    await runtime.schedule.stop()
    runtime.schedule = Schedule([Every(0, "views", runtime.views.flush)], runtime.log)
    for _ in range(turns):
        await asyncio.sleep(0)
    await runtime.close()


def test_a_stop_amid_a_flush_loses_nothing(alice: Actor, still: LocalServer) -> None:
    for turns in range(12):
        post = publish(alice)

        still.run(closed_amid_a_flush(still, post, turns))

        assert (turns, views(still, post)) == (turns, 5)


def test_failed_flush_keeps_held_views(alice: Actor, still: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    post = publish(alice)
    opened(still, post, 2)

    async def refuse(*_: object) -> None:
        raise OSError("away")

    with monkeypatch.context() as broken:
        broken.setattr(type(still.runtime.db), "transact", refuse)
        with pytest.raises(OSError, match="away"):
            still.run(still.runtime.views.flush())
    opened(still, post, 3)

    assert written(still, post) == 5
