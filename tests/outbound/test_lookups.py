"""Look-ups in threads: names that hang do not hold up the others."""

import asyncio
import threading
from collections import Counter
from collections.abc import Callable

import pytest

from pressroom.outbound.lookups import LookUps, ask_system
from tests.outbound.peers import run, until


class Names:
    """A stand-in for a system's resolver: answers at once, or hangs until it is let go."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.let_go = threading.Event()

    def ask(self, host: str) -> list[str]:
        self.asked[host] += 1
        if host.startswith("hang"):
            self.let_go.wait(60)
        if host.startswith("gone"):
            raise OSError("no such name")
        return ["192.0.2.1"]


def with_names(test: Callable[[Names], object]) -> None:
    names = Names()
    try:
        run(test(names))  # type: ignore[arg-type]  # each test hands in a coroutine
    finally:
        names.let_go.set()


def test_a_name_and_its_addresses() -> None:
    async def work(names: Names) -> None:
        look_up = LookUps(names.ask)
        assert await look_up("a.example", 443) == ["192.0.2.1"]
        with pytest.raises(OSError, match="no such name"):
            await look_up("gone.example", 443)
        assert look_up._look_ups == {}

    with_names(work)


def test_the_system_knows_localhost() -> None:
    assert set(ask_system("localhost")) & {"127.0.0.1", "::1"}


def test_broken_look_up_finds_no_address() -> None:
    def breaks(host: str) -> list[str]:
        raise UnicodeError("label too long")

    async def work(_: Names) -> None:
        with pytest.raises(OSError, match="label too long"):
            await LookUps(breaks)("a.example", 443)

    with_names(work)


def test_a_name_is_asked_for_once_at_a_time() -> None:
    async def work(names: Names) -> None:
        look_up = LookUps(names.ask)
        waiting = [asyncio.create_task(look_up("hang.example", 443)) for _ in range(20)]
        await until(lambda: names.asked["hang.example"] == 1)
        waiting[0].cancel()
        names.let_go.set()
        done = await asyncio.gather(*waiting, return_exceptions=True)
        assert isinstance(done[0], asyncio.CancelledError)
        assert done[1:] == [["192.0.2.1"]] * 19
        assert names.asked["hang.example"] == 1

    with_names(work)


def test_names_that_hang_leave_their_places_to_others() -> None:
    async def work(names: Names) -> None:
        look_up = LookUps(names.ask, quick=2, slow=4, slow_seconds=0.05)
        hanging = [asyncio.create_task(look_up(f"hang{number}.example", 443)) for number in range(4)]
        await until(lambda: len(names.asked) == 4)
        for number in range(10):
            assert await look_up(f"{number}.example", 443) == ["192.0.2.1"]
        names.let_go.set()
        await asyncio.gather(*hanging)
        assert look_up._free == {False: 2, True: 4}

    with_names(work)


def test_names_that_hung_before_do_not_take_the_quick_places_again() -> None:
    async def work(names: Names) -> None:
        look_up = LookUps(names.ask, quick=1, slow=1, slow_seconds=0.05)
        first = asyncio.create_task(look_up("hang.example", 443))
        await until(lambda: look_up._free == {False: 1, True: 0})
        first.cancel()
        look_up._look_ups.clear()
        again = asyncio.create_task(look_up("hang.example", 443))
        assert await look_up("a.example", 443) == ["192.0.2.1"]
        assert names.asked["hang.example"] == 1
        look_up._slow_seconds = 60.0  # however busy this machine is
        names.let_go.set()
        assert await again == ["192.0.2.1"]
        assert await look_up("hang.example", 443) == ["192.0.2.1"]
        assert "hang.example" not in look_up._was_slow

    with_names(work)


def test_when_every_place_hangs_a_look_up_waits_and_those_given_up_are_not_made() -> None:
    async def work(names: Names) -> None:
        look_up = LookUps(names.ask, quick=1, slow=1, slow_seconds=0.05)
        hanging = [asyncio.create_task(look_up(f"hang{number}.example", 443)) for number in range(2)]
        await until(lambda: len(names.asked) == 2 and bool(look_up._overdue))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await look_up("given-up.example", 443)
        waiting = asyncio.create_task(look_up("waits.example", 443))
        await asyncio.sleep(0)
        names.let_go.set()
        assert await waiting == ["192.0.2.1"]
        await asyncio.gather(*hanging)
        assert names.asked["given-up.example"] == 0
        assert look_up._free == {False: 1, True: 1}

    with_names(work)


def test_threads_are_bounded_and_hold_up_nothing() -> None:
    async def work(names: Names) -> None:
        look_up = LookUps(names.ask, quick=3, slow=3, slow_seconds=0.05)
        hanging = [asyncio.create_task(look_up(f"hang{number}.example", 443)) for number in range(50)]
        await until(lambda: len(names.asked) == 6)
        made = [thread for thread in threading.enumerate() if thread.name == "look-up"]
        assert len(made) >= 6
        assert all(thread.daemon for thread in made)
        look_up.close()
        done = await asyncio.gather(*hanging, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in done)
        assert len(names.asked) == 6

    with_names(work)
