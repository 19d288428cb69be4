"""Turns on the event loop: who is run when, who is refused, and what becomes of those who go away."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pressroom.turns import PLACES, SHARE, LoopUse, Turn, Turns


class Kitchen:
    """Requests by client, on turns whose clock says that each step takes longer than one round's share, and that all
    else takes no time."""

    def __init__(self, *, places: int = 100, places_of_one: int = 100, use: LoopUse | None = None) -> None:
        self.now = 0.0
        # Usually no client's use is little, so that all of them wait, and none has company, so that none rests.
        use = LoopUse(little=-1, company=0) if use is None else use
        self.turns = Turns(lambda: self.now, places=places, places_of_one=places_of_one, delay=0, use=use)
        self.served: list[str] = []
        self.refused: list[str] = []

    async def request(self, client: str, steps: int = 1) -> None:
        """Runs a request of so many steps."""
        turn = Turn(client)
        await self.turns.run(turn, self._work(turn, client, steps))

    async def _work(self, turn: Turn, client: str, steps: int) -> None:
        if turn.refusal is not None:
            self.refused.append(client)
            return
        for number in range(steps):
            if number:
                await asyncio.sleep(0)
            if turn.refusal is not None:
                self.refused.append(client)
            self.work(client)

    def work(self, client: str) -> None:
        """Serves a client for a while."""
        self.now += 2 * SHARE
        self.served.append(client)

    async def busy(self) -> None:
        """Uses up the rest of this round of the loop."""
        await self.request("before")
        self.served.clear()


def in_kitchen(scene: Callable[[Kitchen], Awaitable[None]], *, use: LoopUse | None = None, **bounds: int) -> Kitchen:
    async def run() -> Kitchen:
        kitchen = Kitchen(use=use, **bounds)
        await kitchen.busy()
        await scene(kitchen)
        assert kitchen.turns.waiting == 0
        return kitchen

    return asyncio.run(run())


def test_request_of_another_client_is_served_after_one_of_the_many() -> None:
    async def scene(kitchen: Kitchen) -> None:
        crowd = [kitchen.request("a") for _ in range(40)]
        await asyncio.gather(*crowd, kitchen.request("b"))

    assert in_kitchen(scene).served.index("b") <= 1


def test_step_of_another_client_is_run_after_one_of_the_many() -> None:
    async def scene(kitchen: Kitchen) -> None:
        crowd = [kitchen.request("a", 10) for _ in range(4)]
        await asyncio.gather(*crowd, kitchen.request("b", 10))

    served = in_kitchen(scene).served
    last = len(served) - 1 - served[::-1].index("b")
    assert last <= 2 * 10, "b's ten steps wait for one each, not for four"


def test_client_that_comes_late_waits_for_two_steps_at_most() -> None:
    async def scene(kitchen: Kitchen) -> None:
        crowd = [asyncio.create_task(kitchen.request("a", 10)) for _ in range(4)]
        while len(kitchen.served) < 9:
            await asyncio.sleep(0)
        before = len(kitchen.served)
        await kitchen.request("b")
        assert kitchen.served.index("b") - before <= 2
        await asyncio.gather(*crowd)

    in_kitchen(scene)


def test_client_that_has_used_little_is_run_at_once_beside_waiting_ones() -> None:
    async def scene(kitchen: Kitchen) -> None:
        crowd = [asyncio.create_task(kitchen.request("a", 5)) for _ in range(4)]
        while len(kitchen.served) < 3:
            await asyncio.sleep(0)
        with pytest.raises(StopIteration):
            kitchen.request("visitor").send(None)
        again = asyncio.ensure_future(kitchen.request("visitor"))
        await asyncio.gather(again, *crowd)
        assert Counter(kitchen.served) == {"a": 20, "visitor": 2}

    in_kitchen(scene, use=LoopUse(company=0))


def test_client_whose_steps_alone_wait_rests_while_others_come() -> None:
    async def scene(kitchen: Kitchen) -> None:
        follow_clock(kitchen)
        await kitchen.request("a")
        crowd = [asyncio.create_task(kitchen.request("a", 3)) for _ in range(2)]
        await rounds(20)
        assert kitchen.served == ["a"], "it rests, for another client came just before"
        await kitchen.request("visitor")
        await rounds(20)
        assert kitchen.served == ["a", "visitor"], "which is not kept waiting, and does not end the rest"
        kitchen.now += 4 * SHARE
        await rounds(20)
        assert kitchen.served == ["a", "visitor", "a"], "the rest is over, and the next one begins"
        kitchen.now += 1
        await asyncio.gather(*crowd)
        assert Counter(kitchen.served) == {"a": 7, "visitor": 1}, "without company it needs no rest"

    in_kitchen(scene, use=LoopUse(company=1))


def test_rest_ends_when_steps_of_another_client_wait() -> None:
    async def scene(kitchen: Kitchen) -> None:
        await kitchen.request("a", 2)
        await kitchen.request("visitor")
        follow_clock(kitchen)
        kitchen.served.clear()
        crowd = [asyncio.create_task(kitchen.request("a", 5)) for _ in range(2)]
        await rounds(20)
        crowd.append(asyncio.create_task(kitchen.request("a", 5)))
        await rounds(20)
        assert not kitchen.served, "more steps of the same client do not end it"
        others = [asyncio.create_task(kitchen.request("visitor", 5)) for _ in range(2)]
        while not kitchen.served:
            await asyncio.sleep(0)
        kitchen.now += 0.1  # The rest would end now.
        counts = [len(kitchen.served)]
        for _ in range(5):
            await asyncio.sleep(0)
            counts.append(len(kitchen.served))
        assert counts == list(range(1, 7)), "one step in each round"
        while not all(each.done() for each in (*crowd, *others)):
            kitchen.now += 1
            await asyncio.sleep(0)
        assert Counter(kitchen.served) == {"a": 15, "visitor": 10}

    in_kitchen(scene, use=LoopUse(company=1))


def test_long_step_counts_in_part() -> None:
    use = LoopUse()
    use.add("a", 60, now=60)
    use.add("b", 0, now=60)
    assert 0 < use.rest_of("a", now=60) < 0.1


def test_use_of_clients_is_bounded() -> None:
    use = LoopUse()
    for number in range(2 * PLACES):
        use.add(str(number), 1, now=number)
    assert len(use._used) <= PLACES  # pyright: ignore[reportPrivateUsage]


def follow_clock(kitchen: Kitchen) -> None:
    """Has the timers of the loop go by the kitchen's clock."""
    asyncio.get_running_loop().time = lambda: kitchen.now


async def rounds(count: int) -> None:
    """Lets the loop take so many rounds."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_waiting_for_something_else_keeps_nobody_waiting() -> None:
    async def scene(kitchen: Kitchen) -> None:
        read = asyncio.Event()

        async def slow_reader() -> None:
            await read.wait()

        slow = asyncio.ensure_future(kitchen.turns.run(Turn("slow"), slow_reader()))
        await asyncio.gather(*(kitchen.request("a", 3) for _ in range(3)))
        assert len(kitchen.served) == 9
        read.set()
        await slow

    in_kitchen(scene)


def test_one_step_is_run_in_each_round_while_others_wait() -> None:
    async def scene(kitchen: Kitchen) -> None:
        rounds: list[int] = []

        async def beat() -> None:
            while True:
                rounds.append(len(kitchen.served))
                await asyncio.sleep(0)

        beating = asyncio.create_task(beat())
        await asyncio.gather(*(kitchen.request(client, 5) for client in "aaab"))
        beating.cancel()
        assert max(after - before for before, after in itertools.pairwise(rounds)) == 1

    in_kitchen(scene)


def test_uncontended_steps_are_run_at_once() -> None:
    async def run() -> list[str]:
        turns, done = Turns(lambda: 0.0), list[str]()

        async def work(name: str) -> None:
            done.append(name)

        async def request(name: str) -> None:
            await turns.run(Turn(name), work(name))

        for name in "aab":
            with pytest.raises(StopIteration):
                request(name).send(None)
        return done

    assert asyncio.run(run()) == ["a", "a", "b"]


def test_step_after_a_round_of_the_loop_is_run_at_once() -> None:
    async def run() -> list[str]:
        times, done = [0.0], list[str]()
        turns = Turns(lambda: times[0], use=LoopUse(little=-1, company=0))

        async def work(name: str, seconds: float) -> None:
            times[0] += seconds
            done.append(name)

        async def request(name: str, seconds: float = 0.0) -> None:
            await turns.run(Turn(name), work(name, seconds))

        await request("uses up the round", 2 * SHARE)
        await request("waits for the next")
        with pytest.raises(StopIteration):
            request("finds time left").send(None)
        return done

    assert asyncio.run(run()) == ["uses up the round", "waits for the next", "finds time left"]


def test_requests_past_the_places_of_one_client_are_refused() -> None:
    async def scene(kitchen: Kitchen) -> None:
        crowd = [kitchen.request("a") for _ in range(8)]
        await asyncio.gather(*crowd, kitchen.request("b"))

    kitchen = in_kitchen(scene, places_of_one=5)
    assert Counter(kitchen.served) == {"a": 5, "b": 1}
    assert kitchen.refused == ["a"] * 3


def test_full_queue_refuses_those_of_the_longest_line() -> None:
    async def scene(kitchen: Kitchen) -> None:
        crowd = [kitchen.request("a") for _ in range(8)]
        await asyncio.gather(*crowd, kitchen.request("b"), kitchen.request("c"))

    kitchen = in_kitchen(scene, places=6)
    assert Counter(kitchen.served) == {"a": 4, "b": 1, "c": 1}
    assert kitchen.refused == ["a"] * 4


def test_begun_request_is_never_refused() -> None:
    async def scene(kitchen: Kitchen) -> None:
        await asyncio.gather(*(kitchen.request(client, 5) for client in "aabbcc"))

    kitchen = in_kitchen(scene, places=6, places_of_one=2)
    assert Counter(kitchen.served) == {"a": 10, "b": 10, "c": 10}
    assert not kitchen.refused


def test_begun_request_gives_its_place_to_another() -> None:
    async def scene(kitchen: Kitchen) -> None:
        async def late() -> None:
            while not kitchen.served:
                await asyncio.sleep(0)
            await kitchen.request("a")

        await asyncio.gather(kitchen.request("a", 5), late())

    kitchen = in_kitchen(scene, places=1)
    assert Counter(kitchen.served) == {"a": 6}
    assert not kitchen.refused


def test_failure_is_raised_and_the_turn_goes_on() -> None:
    async def scene(kitchen: Kitchen) -> None:
        async def broken() -> None:
            await asyncio.sleep(0)
            raise LookupError

        results = await asyncio.gather(
            kitchen.turns.run(Turn("a"), broken()), kitchen.request("a"), kitchen.request("b"), return_exceptions=True
        )
        assert [type(result) for result in results] == [LookupError, type(None), type(None)]

    assert sorted(in_kitchen(scene).served) == ["a", "b"]


def test_failure_of_an_awaited_future_arrives_in_the_request() -> None:
    async def scene(kitchen: Kitchen) -> None:
        awaited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        caught: list[BaseException] = []

        async def work() -> str:
            try:
                await awaited
            except LookupError as error:
                caught.append(error)
            return "done"

        request = asyncio.ensure_future(kitchen.turns.run(Turn("a"), work()))
        while kitchen.turns.waiting:
            await asyncio.sleep(0)
        asyncio.get_running_loop().call_soon(awaited.set_exception, LookupError())
        assert await request == "done"
        assert len(caught) == 1

    in_kitchen(scene)


def test_timeout_inside_a_request_ends_its_wait() -> None:
    async def scene(kitchen: Kitchen) -> None:
        async def work() -> str:
            try:
                async with asyncio.timeout(0):
                    await asyncio.Event().wait()
            except TimeoutError:
                return "timed out"
            return "never"

        assert await kitchen.turns.run(Turn("a"), work()) == "timed out"

    in_kitchen(scene)


@pytest.mark.parametrize("rounds", range(12))
def test_client_that_goes_away_at_any_point_leaves_its_place_to_others(rounds: int) -> None:
    async def scene(kitchen: Kitchen) -> None:
        left = asyncio.create_task(kitchen.request("gone", 3))
        others = [asyncio.create_task(kitchen.request(client, 3)) for client in "aab"]
        for _ in range(rounds):
            await asyncio.sleep(0)
        left.cancel()
        await asyncio.gather(left, *others, return_exceptions=True)
        await asyncio.wait_for(kitchen.request("later", 2), 60)

    counts = Counter(in_kitchen(scene).served)
    assert {name: counts[name] for name in ("a", "b", "later")} == {"a": 6, "b": 3, "later": 2}


def test_account_with_several_addresses_waits_in_one_line() -> None:
    async def scene(kitchen: Kitchen) -> None:
        turns = kitchen.turns

        async def signed_in(turn: Turn, account: str) -> None:
            turns.identify(turn, account)
            for _ in range(10):
                await asyncio.sleep(0)
                kitchen.served.append(account)

        async def request(address: str, account: str) -> None:
            turn = Turn(address)
            await turns.run(turn, signed_in(turn, account))

        await asyncio.gather(*(request(f"address {number}", "many") for number in range(8)), request("one", "single"))

    served = in_kitchen(scene).served
    last = len(served) - 1 - served[::-1].index("single")
    assert last <= 2 * 10 + 8


def test_line_of_an_account_is_forgotten_when_nobody_waits() -> None:
    async def scene(kitchen: Kitchen) -> None:
        turns, lines = kitchen.turns, dict[str, str]()

        async def signed_in(turn: Turn) -> None:
            address = turn.line
            turns.identify(turn, "ann")
            lines[address] = turn.line
            await asyncio.sleep(0)

        async def request(address: str) -> None:
            turn = Turn(address)
            await turns.run(turn, signed_in(turn))

        await asyncio.gather(request("first"), request("second"), request("third"))
        while turns.waiting:
            await asyncio.sleep(0)
        await request("fourth")
        assert lines == {"first": "first", "second": "first", "third": "first", "fourth": "fourth"}

    in_kitchen(scene)


def test_lines_of_accounts_are_bounded_while_requests_wait() -> None:
    turns = Turns()
    for number in range(2 * PLACES):
        turns.identify(Turn("address"), str(number))
    assert len(turns._lines) <= PLACES  # pyright: ignore[reportPrivateUsage]


Script = list[tuple[str, int, int | None]]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 4), st.none() | st.integers(0, 30)), max_size=12))
def test_every_request_ends_and_no_client_is_passed_over(script: Script) -> None:
    """Each request has a client, steps, and maybe a round of the loop in which it is cancelled."""

    async def scene(kitchen: Kitchen) -> None:
        waiting = [(asyncio.create_task(kitchen.request(client, steps)), gone) for client, steps, gone in script]
        for number in range(31):
            for task, gone in waiting:
                if gone == number:
                    task.cancel()
            await asyncio.sleep(0)
        async with asyncio.timeout(60):
            await asyncio.gather(*(task for task, _ in waiting), return_exceptions=True)

    served = Counter(in_kitchen(scene).served)
    for client in "abc":
        certain = sum(steps for name, steps, gone in script if name == client and gone is None)
        most = sum(steps for name, steps, _ in script if name == client)
        assert certain <= served[client] <= most


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 6), min_size=1))
def test_clients_of_equal_demand_are_served_equally(requests: dict[str, int]) -> None:
    """While two clients both wait, neither is ahead of the other by more than one step."""

    async def scene(kitchen: Kitchen) -> None:
        await asyncio.gather(*(kitchen.request(client, 5) for client, count in requests.items() for _ in range(count)))

    served = in_kitchen(scene).served
    for one, other in itertools.combinations(requests, 2):
        both = [name for name in served if name in (one, other)]
        until = min(len(both) - 1 - both[::-1].index(name) for name in (one, other))
        ahead = itertools.accumulate(1 if name == one else -1 for name in both[:until])
        assert all(abs(lead) <= 2 for lead in ahead)
