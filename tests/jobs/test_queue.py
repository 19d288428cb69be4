"""The queue: a job enqueued with its transaction is claimed by one worker, and done once."""

import asyncio
from collections import Counter

import pytest

from pressroom.clock import MINUTE, SECOND, SettableClock
from pressroom.db import Database, Query, Tx
from pressroom.jobs import queue
from pressroom.jobs.queue import Job
from tests.harness.action_database import Run
from tests.harness.locks import WAITING

LEASE = 60 * SECOND
LOCK_B = Query(str, "SELECT kind FROM job_queues WHERE account_id = 'b' FOR UPDATE")
STATES = Query(str, "SELECT subject || ' ' || tries || ' ' || coalesce(CAST(due_at AS TEXT), 'dead') FROM jobs")


class Wrong(Exception):
    """What rolls a transaction back."""


class Desk:
    """Verbs of the queue, each in a transaction of its own."""

    def __init__(self, db: Database, clock: SettableClock, run: Run) -> None:
        self.db = db
        self.clock = clock
        self.run = run

    def enqueue(self, *subjects: str, kind: str = "work", due_at: int = 0, account_id: str = "") -> None:
        """Has these done."""
        for subject in subjects:
            self.run(self.db.transact(queue.enqueue, kind, subject, account_id=account_id, due_at=due_at))

    def claim(self, token: str = "me", kind: str = "work", limit: int = 10, each: int = 1_000) -> list[Job]:
        """Leases due jobs, for a minute."""
        until = self.clock.now() + LEASE
        return self.run(self.db.transact(queue.claim, kind, token=token, until=until, limit=limit, each=each))

    def finish(self, job: Job, token: str = "me") -> bool:
        """Ends a job."""
        return self.run(self.db.transact(queue.finish, job, token))

    def fail(self, job: Job, due_at: int | None, token: str = "me", error: str = "no") -> None:
        """Gives a job back."""
        self.run(self.db.transact(queue.fail, job, token=token, error=error, due_at=due_at))

    def states(self) -> list[str]:
        """Subject, tries and time of every job."""
        return sorted(self.run(self.db.read(lambda tx: tx.all(STATES))))


@pytest.fixture
def desk(db: Database, clock: SettableClock, run: Run) -> Desk:
    return Desk(db, clock, run)


def subjects(jobs: list[Job]) -> list[str]:
    return sorted(job.subject for job in jobs)


def test_a_job_is_claimed_with_all_that_is_known_of_it(desk: Desk) -> None:
    desk.enqueue("a")

    (job,) = desk.claim()

    assert (job.kind, job.subject, job.tries) == ("work", "a", 1)
    assert len(job.id) == 26


def test_a_job_comes_and_goes_with_its_transaction(desk: Desk) -> None:
    async def enqueue_and_fail(tx: Tx) -> None:
        await queue.enqueue(tx, "work", "a")
        raise Wrong

    with pytest.raises(Wrong):
        desk.run(desk.db.transact(enqueue_and_fail))

    assert desk.claim() == []
    assert desk.states() == []


def test_the_end_of_a_job_comes_and_goes_with_its_transaction(desk: Desk) -> None:
    desk.enqueue("a")
    (job,) = desk.claim()

    async def finish_and_fail(tx: Tx) -> None:
        assert await queue.finish(tx, job, "me")
        raise Wrong

    with pytest.raises(Wrong):
        desk.run(desk.db.transact(finish_and_fail))

    assert desk.finish(job)


def test_the_same_job_waits_once(desk: Desk) -> None:
    desk.enqueue("a", "a", "b")
    desk.enqueue("a", kind="other")

    assert subjects(desk.claim()) == ["a", "b"]
    assert subjects(desk.claim(kind="other")) == ["a"]


def test_to_enqueue_again_moves_nothing_that_waits(desk: Desk) -> None:
    due = desk.clock.now() + MINUTE
    desk.enqueue("a", due_at=due)
    desk.enqueue("a")

    assert desk.claim() == []
    assert desk.states() == [f"a 0 {due}"]


def test_a_finished_job_may_be_enqueued_anew(desk: Desk) -> None:
    desk.enqueue("a")
    desk.finish(desk.claim()[0])
    desk.enqueue("a")

    assert subjects(desk.claim()) == ["a"]


def test_a_dead_job_that_is_enqueued_lives_again(desk: Desk) -> None:
    desk.enqueue("a")
    desk.fail(desk.claim()[0], None)
    assert desk.claim() == []
    assert desk.run(desk.db.read(queue.count_dead)) == 1

    desk.enqueue("a")

    (job,) = desk.claim()
    assert job.tries == 1
    assert desk.run(desk.db.read(queue.count_dead)) == 0


def test_nothing_is_claimed_before_its_time(desk: Desk) -> None:
    desk.enqueue("a", due_at=desk.clock.now() + MINUTE)
    desk.clock.advance(MINUTE - 1)
    assert desk.claim() == []

    desk.clock.advance(1)

    assert subjects(desk.claim()) == ["a"]


def test_longest_due_is_claimed_first(desk: Desk) -> None:
    for subject in ("c", "a", "b"):
        desk.enqueue(subject)
        desk.clock.advance(1)

    assert [desk.claim(limit=1)[0].subject for _ in range(3)] == ["c", "a", "b"]


def test_a_claim_takes_no_more_than_its_limit(desk: Desk) -> None:
    desk.enqueue(*"abcde")

    assert [len(desk.claim(limit=2)) for _ in range(4)] == [2, 2, 1, 0]


def test_a_lease_keeps_others_away_until_it_ends(desk: Desk) -> None:
    desk.enqueue("a")
    desk.claim()
    desk.clock.advance(LEASE - 1)
    assert desk.claim("other") == []

    desk.clock.advance(1)

    (job,) = desk.claim("other")
    assert (job.tries, job.kills) == (1, 1)


def test_results_under_a_lost_lease_are_not_saved(desk: Desk) -> None:
    desk.enqueue("a")
    (mine,) = desk.claim()
    desk.clock.advance(LEASE)
    (theirs,) = desk.claim("other")

    assert desk.finish(mine) is False
    desk.fail(mine, desk.clock.now())
    desk.run(desk.db.transact(queue.renew, {mine.id: desk.clock.now() + 9 * LEASE}, "me"))

    assert desk.claim("third") == []
    assert desk.finish(theirs, "other") is True
    assert desk.finish(theirs, "other") is False
    assert desk.states() == []


def test_a_renewed_lease_holds_longer(desk: Desk) -> None:
    desk.enqueue("a", "b")
    jobs = desk.claim()
    desk.clock.advance(LEASE - 1)
    desk.run(desk.db.transact(queue.renew, {job.id: desk.clock.now() + LEASE for job in jobs}, "me"))
    desk.clock.advance(LEASE - 1)

    assert desk.claim("other") == []
    assert all(desk.finish(job) for job in jobs)


def test_a_job_that_failed_comes_back_at_its_time(desk: Desk) -> None:
    desk.enqueue("a")
    desk.fail(desk.claim()[0], desk.clock.now() + MINUTE, error="x" * 9_999)
    assert desk.claim() == []

    desk.clock.advance(MINUTE)

    (job,) = desk.claim("other")
    assert job.tries == 2


def test_leases_of_the_dead_are_given_back(desk: Desk) -> None:
    desk.enqueue("a", "b")
    (job, _) = desk.claim("killed")

    desk.run(desk.db.transact(queue.forget_leases))

    assert subjects(desk.claim()) == ["a", "b"]
    assert desk.finish(job, "killed") is False


def test_workers_that_claim_at_once_share_the_jobs(desk: Desk) -> None:
    names = [f"{n:03}" for n in range(60)]
    desk.enqueue(*names)
    until = desk.clock.now() + LEASE

    async def claim_all() -> list[list[Job]]:
        claims = (desk.db.transact(queue.claim, "work", token=f"t{n}", until=until, limit=5) for n in range(20))
        return list(await asyncio.gather(*claims))

    claimed = desk.run(claim_all())

    assert max(len(jobs) for jobs in claimed) <= 5
    assert sorted(job.subject for jobs in claimed for job in jobs) == sorted({j.subject for c in claimed for j in c})
    left = [job.subject for _ in range(12) for job in desk.claim(limit=5)]
    assert sorted([job.subject for jobs in claimed for job in jobs] + left) == names


def test_copies_that_are_enqueued_at_once_are_one_job(desk: Desk) -> None:
    async def enqueue_all() -> None:
        await asyncio.gather(*(desk.db.transact(queue.enqueue, "work", "a") for _ in range(20)))

    desk.run(enqueue_all())

    assert subjects(desk.claim()) == ["a"]


def test_an_account_s_jobs_wait_for_each_other_and_for_nobody_else_s(desk: Desk) -> None:
    desk.enqueue("a1", "a2", "a3", account_id="a")
    desk.clock.advance(SECOND)
    desk.enqueue("b1", account_id="b")

    first, second = (desk.claim(limit=1, each=1) for _ in range(2))

    assert (subjects(first)[0][0], subjects(second)) == ("a", ["b1"]), "however many of another account came before"
    assert desk.claim(limit=1, each=1) == []
    assert desk.finish(first[0])
    assert subjects(desk.claim(limit=1, each=1))[0][0] == "a"
    desk.clock.advance(LEASE)
    assert len(desk.claim(limit=1, each=1)) == 1, "a lease that ran out holds nobody back"


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_a_claim_that_holds_a_queue_waits_for_no_other(desk: Desk) -> None:
    desk.enqueue("a1", "a2", account_id="a")
    assert subjects(desk.claim(limit=1, each=1)) == ["a1"]
    desk.enqueue("b1", account_id="b")

    async def story() -> list[Job]:
        held, claimed = asyncio.Event(), asyncio.Event()

        async def hold(tx: Tx) -> None:
            while await tx.one(LOCK_B) and not claimed.is_set():
                held.set()

        holding = asyncio.ensure_future(desk.db.transact(hold))
        await held.wait()
        try:
            async with asyncio.timeout(60):  # it would wait for the other until that ends
                return await desk.db.transact(queue.claim, "work", token="t", until=LEASE, limit=1, each=1)
        finally:
            claimed.set()
            await holding

    assert desk.run(story()) == []
    assert subjects(desk.claim(limit=1, each=1)) == ["b1"]


@pytest.mark.parametrize("db", ["postgres"], indirect=True)
def test_a_claim_passes_over_a_job_that_is_just_enqueued_anew(desk: Desk) -> None:
    desk.enqueue("a1", "a2", account_id="a")
    begun: Counter[str] = Counter()

    async def story() -> list[Job]:
        cancelled, claimed = asyncio.Event(), asyncio.Event()

        async def enqueue_anew(tx: Tx) -> None:
            begun["enqueue"] += 1
            await queue.cancel(tx, "work", "a1")
            cancelled.set()
            while not claimed.is_set() and not await tx.one(WAITING):
                pass
            await queue.enqueue(tx, "work", "a1", account_id="a")

        async def claim(tx: Tx) -> list[Job]:
            begun["claim"] += 1
            return await queue.claim(tx, "work", token="t", until=LEASE, limit=1)

        enqueueing = asyncio.ensure_future(desk.db.transact(enqueue_anew))
        await cancelled.wait()
        try:
            return await desk.db.transact(claim)
        finally:
            claimed.set()
            await enqueueing

    assert subjects(desk.run(story())) == ["a2"]
    # The claim holds the queue, which the other transaction needs next: each waiting for the other would begin again.
    assert begun == {"enqueue": 1, "claim": 1}
