"""Passwords: slow on purpose, and never without end."""

import asyncio

import pytest

from pressroom.domains.accounts import passwords
from pressroom.domains.accounts.passwords import Passwords
from pressroom.errors import Unavailable


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
            assert not await some.verify("no account has this password", None)
        finally:
            some.close()

    asyncio.run(story())


def test_who_would_wait_too_long_hears_so_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "QUEUE", 3)

    async def story() -> None:
        some = Passwords()
        try:
            outcomes = await asyncio.gather(*(some.hash("x") for _ in range(5)), return_exceptions=True)
            assert [isinstance(outcome, Unavailable) for outcome in outcomes] == [False] * 3 + [True] * 2
            assert isinstance(await some.hash("x"), str), "the queue is empty again"
        finally:
            some.close()

    asyncio.run(story())
