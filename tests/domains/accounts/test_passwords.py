"""Passwords: slow on purpose, and never without end."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from argon2.exceptions import VerifyMismatchError

from pressroom.domains.accounts import passwords
from pressroom.domains.accounts.passwords import Passwords
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


def test_a_hash_costs_what_it_should() -> None:
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


def test_nobody_waits_without_end() -> None:
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


def test_who_leaves_gives_the_turn_on() -> None:
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


def test_who_makes_room_of_somebody_just_given_up_has_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
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
