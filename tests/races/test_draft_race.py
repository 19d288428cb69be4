"""Drafts that two sessions change, or two servers publish, at once."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta

from tests.harness.beside import worker
from tests.harness.days import bring_forward
from tests.harness.owners import Owner
from tests.harness.process import ServerProcess
from tests.harness.records import count, rows
from tests.harness.wire import Request, ask, in_turn
from tests.services.process import wait_until

WRITERS, CHANGES = 4, 25
DUE = 120


def test_draft_that_sessions_change_at_once_loses_no_text(race_server: Callable[..., ServerProcess]) -> None:
    server = race_server()
    headers = {"Cookie": Owner(server).cookie}
    draft = ask(Request(server.port, "POST", "/api/drafts", headers, {"content": ""})).json()
    path = f"/api/drafts/{draft['id']}"

    def write(writer: int) -> None:
        seen = draft
        for number in range(CHANGES):
            while True:
                content = f"{seen['content'] or ''} {writer}-{number}"
                reply = ask(
                    Request(server.port, "PATCH", path, headers, {"version": seen["version"], "content": content})
                )
                if reply.status == 200:
                    seen = reply.json()
                    break
                assert reply.status == 409
                seen = reply.json()["draft"]

    async def all_at_once() -> None:
        await asyncio.gather(*(asyncio.to_thread(write, writer) for writer in range(WRITERS)))

    asyncio.run(all_at_once())

    last = ask(Request(server.port, "GET", path, headers)).json()
    wanted = {f"{writer}-{number}" for writer in range(WRITERS) for number in range(CHANGES)}
    assert Counter(last["content"].split()) == Counter(wanted)
    assert last["version"] == 1 + WRITERS * CHANGES


def test_draft_that_is_published_many_times_at_once_is_one_post(race_server: Callable[..., ServerProcess]) -> None:
    server = race_server()
    headers = {"Cookie": Owner(server).cookie}
    draft = ask(Request(server.port, "POST", "/api/drafts", headers, {"content": "Once"})).json()

    answers = in_turn(
        [[Request(server.port, "POST", f"/api/drafts/{draft['id']}/publish", headers)] for _ in range(20)]
    )

    assert Counter(answer.status for answer in answers) == {200: 1, 422: 19}
    assert count(server, "posts") == count(server, "events") == 1


def test_workers_publish_each_scheduled_draft_once(race_server: Callable[..., ServerProcess]) -> None:
    server = race_server()
    headers = {"Cookie": Owner(server).cookie}
    moment = datetime.now(UTC) + timedelta(hours=1)
    at = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    drafts = [
        Request(server.port, "POST", "/api/drafts", headers, {"content": str(number), "publishAt": at})
        for number in range(DUE)
    ]

    # On SQLite the server's own worker is the only one.
    with worker(server) if "DATABASE_URL" in server.settings else nullcontext():
        assert {reply.status for reply in in_turn([drafts[::2], drafts[1::2]])} == {201}
        bring_forward(server, moment)
        waiting = "SELECT count(*) FROM drafts WHERE state <> 'published'"
        assert wait_until(lambda: rows(server, waiting) == [(0,)], 240), server.output()

    assert count(server, "posts") == count(server, "events") == DUE
    late = rows(server, "SELECT max(p.created_at - d.publish_at) FROM drafts d JOIN posts p ON p.id = d.post_id")
    print("published", late[0][0], "ms after their time, at the latest")
