"""The worker of the queue: the jobs that it begins, its tries, and its state after a stop."""

import asyncio
import io
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from pressroom.clock import MINUTE, SECOND, SettableClock
from pressroom.db import Database, Query
from pressroom.errors import Unavailable
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from pressroom.jobs.worker import LEASE, Defer, Handler, JobWorker, TryAgain, claim
from pressroom.logs import Log
from tests.harness.action_database import Run

WAITS = (5 * SECOND, 30 * SECOND)
PATIENCE = 120.0

JOBS = Query(int, "SELECT count(*) FROM jobs")
QUEUES = Query(int, "SELECT count(*) FROM job_queues")
DEAD = Query(str, "SELECT error FROM jobs WHERE due_at IS NULL")
FREE = Query(int, "SELECT count(*) FROM jobs WHERE leased_until = 0 AND lease_token IS NULL")


class Shop:
    """A database with a kind of jobs, `work`, and workers that do them as a test says."""

    def __init__(self, db: Database, clock: SettableClock) -> None:
        self.db = db
        self.clock = clock
        self.begun: Counter[str] = Counter()
        self.given_up: list[tuple[str, str]] = []
        self.at_once = 0
        self.most_at_once = 0
        self.act: Callable[[Job], Awaitable[None]] = self.nothing
        self.stream = io.StringIO()
        self.log = Log(requests=False, stream=self.stream)

    async def nothing(self, job: Job) -> None:
        """Succeeds."""

    def worker(self, together: int = 2) -> JobWorker:
        """Another worker."""
        handler = Handler("work", self.work, together, WAITS, self.gave_up)
        return JobWorker(self.db, self.clock, self.log, [handler])

    async def work(self, job: Job, token: str) -> None:
        """Runs the test's function, and ends the job."""
        self.begun[job.subject] += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self.act(job)
        finally:
            self.at_once -= 1
        await self.db.transact(queue.finish, job, token)

    async def gave_up(self, *given: Any) -> None:
        """Hears of the last failure, perhaps in its transaction."""
        *_, job, reason = given
        self.given_up.append((job.subject, reason))

    async def enqueue(self, *subjects: str) -> None:
        """Has these done."""
        for subject in subjects:
            await self.db.transact(queue.enqueue, "work", subject)

    async def count(self, query: Query[int]) -> int:
        """How many there are."""
        return await self.db.one(query) or 0

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits until something holds."""
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await asyncio.sleep(0.005)


@pytest.fixture
def shop(db: Database, clock: SettableClock) -> Shop:
    return Shop(db, clock)


Story = Callable[[Shop], Coroutine[Any, Any, None]]


def test_it_does_all_that_is_due(shop: Shop, run: Run) -> None:
    async def story() -> None:
        await shop.enqueue(*"abcdefg")
        await shop.worker().settle()
        assert shop.begun == Counter("abcdefg")
        assert shop.most_at_once <= 2
        assert await shop.count(JOBS) == 0

    run(story())


def test_job_due_again_during_a_look_is_done(shop: Shop, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind of the job was looked at already, and nothing is under way when the look at the others ends."""

    async def story() -> None:
        real = shop.db.one

        async def slow(query: Any, **given: Any) -> Any:
            if given.get("kind") == "other":
                await shop.until(lambda: not any(task.get_name().startswith("work ") for task in asyncio.all_tasks()))
            return await real(query, **given)

        monkeypatch.setattr(shop.db, "one", slow)
        handlers = [Handler(kind, shop.work, 1, WAITS) for kind in ("work", "other")]
        await shop.enqueue("a", "b")
        await JobWorker(shop.db, shop.clock, shop.log, handlers).settle()
        assert (shop.begun, await shop.count(JOBS)) == (Counter("ab"), 0)
        assert await shop.count(QUEUES) == 0

    run(story())


def test_a_failure_is_tried_again_after_each_wait_and_then_given_up(shop: Shop, run: Run) -> None:
    async def fail(job: Job) -> None:
        raise TryAgain(f"try {job.tries}")

    async def story() -> None:
        shop.act, worker = fail, shop.worker()
        await shop.enqueue("a")
        await worker.settle()
        for number, wait in enumerate(WAITS, 1):
            shop.clock.advance(wait - 1)
            await worker.settle()
            assert (shop.begun["a"], shop.given_up) == (number, [])
            shop.clock.advance(1)
            await worker.settle()
        assert shop.begun["a"] == 3
        assert shop.given_up == [("a", "try 3")]
        assert await shop.db.read(lambda tx: tx.all(DEAD)) == ["try 3"]
        assert await shop.db.read(queue.count_dead) == 1
        shop.clock.advance(1_000 * MINUTE)
        await worker.settle()
        assert shop.begun["a"] == 3

    run(story())


def test_failed_purge_is_done_the_next_time(shop: Shop, run: Run) -> None:
    async def fail_once(job: Job) -> None:
        if job.tries == 1:
            raise ZeroDivisionError

    async def story() -> None:
        shop.act, worker = fail_once, shop.worker()
        await shop.enqueue("a", "b")
        await worker.settle()
        shop.clock.advance(WAITS[0])
        await worker.settle()
        assert shop.begun == {"a": 2, "b": 2}
        assert (await shop.count(JOBS), shop.given_up) == (0, [])
        shop.log.flush()
        assert "ZeroDivisionError" in shop.stream.getvalue()

    run(story())


def test_log_names_only_the_site_of_a_link(shop: Shop, run: Run) -> None:
    """A link may hold what opens it, and the post that has it may be private."""

    async def fail(job: Job) -> None:
        raise TryAgain("no")

    async def story() -> None:
        shop.act = fail
        await shop.enqueue("https://files.example/d/sesame?token=sesame", "https://www.example?sesame", "01MEDIA")
        await shop.worker(together=3).settle()
        shop.log.flush()
        subjects = {json.loads(line)["subject"] for line in shop.stream.getvalue().splitlines()}
        assert subjects == {"https://files.example", "https://www.example", "01MEDIA"}

    run(story())


def test_common_fault_of_many_jobs_is_logged_once_and_counted(shop: Shop, run: Run) -> None:
    async def lack(job: Job) -> None:
        raise Defer("The upload is not in the store.")

    async def story() -> None:
        shop.act = lack
        await shop.enqueue(*(f"https://www.example?sesame={n}" for n in range(12)))
        await shop.worker(together=3).settle()
        shop.log.flush()
        lines = [json.loads(line) for line in shop.stream.getvalue().splitlines()]
        assert [(line["event"], line["kind"], line["times"]) for line in lines] == [
            ("job deferred", "work", 1),
            ("job deferred", "work", 10),
        ]
        assert "not in the store" in lines[0]["error"]
        assert "sesame" not in shop.stream.getvalue()

    run(story())


def test_one_job_that_fails_keeps_no_other_from_being_done(shop: Shop, run: Run) -> None:
    async def fail_some(job: Job) -> None:
        if job.subject in "ace":
            raise RuntimeError(job.subject)

    async def story() -> None:
        shop.act = fail_some
        await shop.enqueue(*"abcdef")
        await shop.worker().settle()
        assert shop.begun == Counter("abcdef")
        assert await shop.count(JOBS) == 3

    run(story())


def test_jobs_of_a_killed_worker_are_taken_up_by_another(shop: Shop, run: Run) -> None:
    async def story() -> None:
        await shop.enqueue("a")
        until = shop.clock.now() + LEASE
        await shop.db.transact(queue.claim, "work", token="killed", until=until, limit=1)
        other = shop.worker()
        shop.clock.advance(LEASE - 1)
        await other.settle()
        assert shop.begun["a"] == 0
        shop.clock.advance(1)
        await other.settle()
        assert (shop.begun["a"], await shop.count(JOBS)) == (1, 0)

    run(story())


def test_two_workers_never_do_a_job_at_once(shop: Shop, run: Run) -> None:
    doing: Counter[str] = Counter()

    async def look_around(job: Job) -> None:
        doing[job.subject] += 1
        assert doing[job.subject] == 1
        await asyncio.sleep(0.001)
        doing[job.subject] -= 1

    async def story() -> None:
        shop.act = look_around
        names = [f"{n}" for n in range(40)]
        await shop.enqueue(*names)
        await asyncio.gather(*(shop.worker(4).settle() for _ in range(3)))
        assert shop.begun == Counter(names)
        assert await shop.count(JOBS) == 0

    run(story())


def test_running_worker_is_woken_by_an_enqueued_job_and_stops(shop: Shop, run: Run) -> None:
    async def story() -> None:
        worker = shop.worker()
        running = asyncio.create_task(worker.run())
        await shop.enqueue("a")
        await shop.until(lambda: shop.begun["a"] == 1)
        worker.stop(5)
        async with asyncio.timeout(PATIENCE):
            await running
        await shop.enqueue("b")
        assert shop.begun["b"] == 0

    run(story())


def test_stop_waits_for_running_jobs(shop: Shop, run: Run) -> None:
    go_on = asyncio.Event()

    async def wait(_: Job) -> None:
        await go_on.wait()

    async def story() -> None:
        shop.act, worker = wait, shop.worker()
        running = asyncio.create_task(worker.run())
        await shop.enqueue("a")
        await shop.until(lambda: shop.begun["a"] == 1)
        worker.stop(PATIENCE)
        await asyncio.sleep(0)
        assert not running.done()
        go_on.set()
        async with asyncio.timeout(PATIENCE):
            await running
        assert await shop.count(JOBS) == 0

    run(story())


async def stopped_amid(shop: Shop) -> None:
    """A worker begins a job that does not end, and is stopped at once."""

    async def hang(_: Job) -> None:
        await asyncio.Event().wait()

    shop.act, worker = hang, shop.worker()
    before = shop.begun["a"]
    running = asyncio.create_task(worker.run())
    await shop.until(lambda: shop.begun["a"] == before + 1)
    worker.stop(0)
    async with asyncio.timeout(PATIENCE):
        await running


def test_stop_gives_back_cut_off_jobs(shop: Shop, run: Run) -> None:
    async def story() -> None:
        await shop.enqueue("a")
        await stopped_amid(shop)
        assert (await shop.count(FREE), shop.given_up) == (1, [])
        shop.act = shop.nothing
        await shop.worker().settle()
        assert await shop.count(JOBS) == 0

    run(story())


def test_to_be_cut_off_by_a_stop_is_no_try(shop: Shop, run: Run) -> None:
    async def fail(_: Job) -> None:
        raise TryAgain("not now")

    async def story() -> None:
        await shop.enqueue("a")
        for _ in range(len(WAITS)):
            await stopped_amid(shop)
        shop.act = fail
        await shop.worker().settle()
        assert shop.given_up == []
        assert await shop.db.read(queue.count_dead) == 0

    run(story())


def test_job_of_a_killed_worker_is_done_when_the_lease_of_its_kind_ends(shop: Shop, run: Run) -> None:
    prompt = Handler("prompt", shop.work, 1, WAITS, lease=LEASE // 5)
    usual = Handler("usual", shop.work, 1, WAITS)

    async def story() -> None:
        for handler in (prompt, usual):
            await shop.db.transact(queue.enqueue, handler.kind, f"of the {handler.kind} kind")
            assert len(await shop.db.transact(claim, handler, "killed", 1)) == 1
        worker = JobWorker(shop.db, shop.clock, shop.log, [usual, prompt])
        done = list[str]()
        for wait in (LEASE // 5 - 1, 1, LEASE - LEASE // 5):
            shop.clock.advance(wait)
            await worker.settle()
            done.append(" and ".join(shop.begun))
        assert done == ["", "of the prompt kind", "of the prompt kind and of the usual kind"]

    run(story())


def test_lost_lease_gives_nothing_up(shop: Shop, run: Run) -> None:
    taken: list[Job] = []

    async def lose_the_lease(job: Job) -> None:
        if job.tries > len(WAITS):
            shop.clock.advance(LEASE)
            until = shop.clock.now() + LEASE
            taken.extend(await shop.db.transact(queue.claim, "work", token="other", until=until, limit=1))
        raise TryAgain("I was away")

    async def story() -> None:
        shop.act, worker = lose_the_lease, shop.worker()
        await shop.enqueue("a")
        await worker.settle()
        for wait in WAITS:
            shop.clock.advance(wait)
            await worker.settle()
        assert [job.subject for job in taken] == ["a"]
        assert await shop.db.transact(queue.finish, taken[0], "other") is True
        assert shop.given_up == []

    run(story())


def test_a_lease_has_its_length_however_long_the_claim_waited(
    shop: Shop, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Job] = []

    async def lose_nothing(job: Job) -> None:
        until = shop.clock.now() + LEASE
        taken.extend(await shop.db.transact(queue.claim, "work", token="other", until=until, limit=1))

    async def story() -> None:
        shop.act, real = lose_nothing, shop.db.transact

        async def wait_for_a_connection(action: Any, *args: Any, **kwargs: Any) -> Any:
            if action in (claim, queue.claim) and not shop.begun:
                shop.clock.advance(2 * LEASE)
            return await real(action, *args, **kwargs)

        monkeypatch.setattr(shop.db, "transact", wait_for_a_connection)
        await shop.enqueue("a")
        await shop.worker().settle()
        assert shop.begun == Counter("a")
        assert taken == []

    run(story())


def test_a_worker_outlives_a_database_that_is_away(shop: Shop, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pressroom.jobs.lease_loop.POLL_SECONDS", 0.01)
    monkeypatch.setattr("pressroom.jobs.lease_loop.PAUSE_SECONDS", 0.01)

    async def story() -> None:
        real, refused = shop.db.transact, 0

        async def away(action: Any, *args: Any, **kwargs: Any) -> Any:
            nonlocal refused
            if action is claim and refused < 2:
                refused += 1
                raise Unavailable("The database is away.", 1)
            return await real(action, *args, **kwargs)

        monkeypatch.setattr(shop.db, "transact", away)
        worker = shop.worker()
        await shop.enqueue("a")
        running = asyncio.create_task(worker.run())
        await shop.until(lambda: shop.begun["a"] == 1)
        worker.stop(5)
        await running
        assert refused == 2

    run(story())


def test_a_job_whose_failure_cannot_be_written_down_comes_back_after_its_lease(
    shop: Shop, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        real = shop.db.transact

        async def away(action: Any, *args: Any, **kwargs: Any) -> Any:
            if action is queue.fail:
                raise Unavailable("The database is away.", 1)
            return await real(action, *args, **kwargs)

        async def fail(job: Job) -> None:
            if job.tries == 1:
                raise TryAgain("no")

        monkeypatch.setattr(shop.db, "transact", away)
        shop.act, worker = fail, shop.worker()
        await shop.enqueue("a")
        await worker.settle()
        shop.clock.advance(LEASE)
        await worker.settle()
        assert (shop.begun["a"], await shop.count(JOBS)) == (2, 0)

    run(story())
