"""Passwords: slow on purpose, and never without end."""

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import argon2
import pytest
from argon2.exceptions import VerifyMismatchError

from pressroom import threads
from pressroom.domains.sign_in import passwords
from pressroom.domains.sign_in.passwords import Passwords
from pressroom.errors import Unavailable


class Gate:
    """A hasher that works when it is let, and knows in which order it worked."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.order: list[str] = []

    def hash(self, password: str, /) -> str:
        assert self.open.wait(30)
        self.order.append(password)
        return f"hash of {password}"

    def verify(self, password_hash: str, password: str, /) -> bool:
        return self.hash(password) == password_hash


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


def began(some: Passwords, passwords_: list[str], address: str) -> list[asyncio.Task[str]]:
    return [asyncio.ensure_future(some.hash(password, address)) for password in passwords_]


async def until_waiting(some: Passwords, count: int) -> None:
    while some.waiting != count:
        await asyncio.sleep(0)


def test_a_password_matches_its_own_hash_alone() -> None:
    async def story() -> None:
        some = Passwords()
        try:
            first, second = await some.hash("nine plums"), await some.hash("nine plums")
            assert first != second
            assert await some.verify("nine plums", first)
            assert await some.verify("nine plums", second)
            assert not await some.verify("nine plum", first)
            assert not await some.verify("nine plums", None)
            assert not await some.verify("nine plums", "no hash")
            with pytest.raises(VerifyMismatchError):  # It is a hash, and takes as long as any.
                passwords.ARGON2.verify(passwords._NOBODY, "nine plums")
            assert not passwords.ARGON2.check_needs_rehash(passwords._NOBODY)
        finally:
            some.close()

    asyncio.run(story())


def test_hash_has_the_documented_cost() -> None:
    hasher = Passwords().hasher  # Servers of other tests hash for nothing.

    assert hasher.hash("nine plums").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_one_address_keeps_no_other_waiting() -> None:
    gate = Gate()

    async def story() -> None:
        some = Passwords(gate)
        try:
            many = began(some, [f"flood {n}" for n in range(40)], "203.0.113.1")
            await until_waiting(some, 39)
            others = [*began(some, ["ann", "ann again"], "203.0.113.2"), *began(some, ["bob"], "203.0.113.3")]
            await until_waiting(some, 42)
            gate.open.set()
            await asyncio.gather(*many, *others)
        finally:
            some.close()

    run(story)

    assert gate.order[:6] == ["flood 0", "flood 1", "ann", "bob", "flood 2", "ann again"]
    assert gate.order[6:] == [f"flood {n}" for n in range(3, 40)], "first come, first served"


def test_one_address_is_worked_for_one_password_at_a_time() -> None:
    gate = Gate()

    async def story() -> None:
        some = Passwords(gate)
        try:
            sign_ins = [asyncio.ensure_future(some.verify(f"sign-in {n}", "", "203.0.113.1")) for n in range(2)]
            sign_up = began(some, ["sign-up"], "203.0.113.1")
            await until_waiting(some, 2)
            other = asyncio.ensure_future(some.verify("other", "", "203.0.113.2"))
            await asyncio.sleep(0)
            assert some.waiting == 2, "there is a thread for another address"
            gate.open.set()
            await asyncio.gather(*sign_ins, other)
            await asyncio.gather(*sign_up)
            assert some.waiting == 0
        finally:
            some.close()

    run(story)

    assert sorted(gate.order) == ["other", "sign-in 0", "sign-in 1", "sign-up"]


class Watched(argon2.PasswordHasher):
    """Argon2 with four lanes, each in a thread of its own."""

    def __init__(self) -> None:
        super().__init__(time_cost=20, memory_cost=65_536, parallelism=4)
        self.niceness: list[int] = []

    def hash(self, password: str | bytes, *, salt: bytes | None = None) -> str:
        self.niceness.append(niceness_of(threading.get_native_id()))
        return super().hash(password, salt=salt)


def niceness_of(thread: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, thread)


def threads_of_this_process() -> set[int]:
    return {int(each.name) for each in Path("/proc/self/task").iterdir()}


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own on Linux alone")
def test_threads_that_hash_give_way_to_the_event_loop() -> None:
    hasher, lanes = Watched(), dict[int, int]()

    async def story() -> None:
        some = Passwords(hasher)
        try:
            await some.hash("first")
            before = threads_of_this_process()
            hashing = asyncio.ensure_future(some.hash("nine plums"))
            while not hashing.done():
                for thread in threads_of_this_process() - before:
                    with contextlib.suppress(ProcessLookupError):  # it has ended
                        lanes[thread] = niceness_of(thread)
                await asyncio.sleep(0)
        finally:
            some.close()

    own = niceness_of(0)
    low = min(19, own + threads.NICENESS)
    run(story)

    assert niceness_of(0) == own
    assert hasher.niceness == [low, low]
    assert len(lanes) >= 4, "one thread waits for those of the lanes"
    assert set(lanes.values()) == {low}


def test_one_address_cannot_take_all_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "PLACES", 3)
    gate = Gate()

    async def story() -> None:
        some = Passwords(gate)
        try:
            many = began(some, [f"flood {n}" for n in range(6)], "203.0.113.1")
            await until_waiting(some, 3)
            other = began(some, ["ann"], "203.0.113.2")
            await asyncio.wait([many[3]])
            gate.open.set()
            outcomes = await asyncio.gather(*many, *other, return_exceptions=True)
            assert [isinstance(outcome, Unavailable) for outcome in outcomes] == [False] * 3 + [True] * 3 + [False]
            assert isinstance(await some.hash("x"), str), "the queue is empty again"
        finally:
            some.close()

    run(story)


def test_every_wait_for_a_hash_ends() -> None:
    gate = Gate()

    async def story() -> None:
        some = Passwords(gate, patience=0.0)
        try:
            first = began(some, ["first"], "203.0.113.1")
            await asyncio.sleep(0)
            with pytest.raises(Unavailable):
                await some.hash("second", "203.0.113.2")
            assert some.waiting == 0
            gate.open.set()
            await first[0]
            assert await some.hash("third") == "hash of third"
        finally:
            some.close()

    run(story)


def test_leaving_waiter_passes_the_turn_on() -> None:
    gate = Gate()

    async def story() -> None:
        some = Passwords(gate)
        try:
            first, second, third = began(some, ["first", "second", "third"], "203.0.113.1")
            await until_waiting(some, 2)
            second.cancel()
            gate.open.set()
            await asyncio.gather(first, third)
            assert gate.order == ["first", "third"]
            assert [await some.hash(password) for password in "ab"] == ["hash of a", "hash of b"]
        finally:
            some.close()

    run(story)


def test_slot_of_an_abandoned_wait_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "PLACES", 3)

    gate = Gate()

    async def story() -> None:
        some = Passwords(gate)
        try:
            loud = began(some, ["a", "b", "c", "d"], "loud")
            await until_waiting(some, 3)
            quiet = began(some, ["q"], "quiet")
            loud[-1].cancel()  # as the end of its patience does: it stands in line until it runs, after `quiet`
            gate.open.set()
            assert await quiet[0] == "hash of q"
            await asyncio.gather(*loud, return_exceptions=True)
            assert some.waiting == 0
        finally:
            some.close()

    run(story)
