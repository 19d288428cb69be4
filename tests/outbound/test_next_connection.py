"""A name that leads elsewhere is followed, however busy the connections to where it led are."""

import asyncio
import contextlib
import itertools

import pytest

from pressroom.outbound import OutboundClient, connections
from tests.outbound.peers import LOOPBACK, NO_CONTENT, NO_TLS, Peer, always, peer, run, until

AT_ONCE = 8


def numbers_of(it: Peer) -> list[int]:
    """The numbers of the requests that came."""
    return [int(head.split(b" ")[1][1:]) for head in it.heads]


def test_a_name_that_leads_elsewhere_is_followed_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses, numbers = ["127.0.0.1"], itertools.count()

    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    async def work() -> None:
        async with (
            peer(always(NO_CONTENT)) as old,
            peer(always(NO_CONTENT), host="127.0.0.2", port=old.port) as new,
            contextlib.aclosing(Going(OutboundClient(LOOPBACK, resolve=resolve, tls=NO_TLS), old, numbers)) as going,
        ):
            await going.once()
            addresses[:] = ["127.0.0.2"]
            await going.once()
            assert numbers_of(old) == [0, 1], "by design: the connection is there"

            addresses[:] = ["127.0.0.1"]
            going.on(AT_ONCE)
            await until(lambda: old.connections >= AT_ONCE and len(old.heads) > 10 * AT_ONCE)
            addresses[:] = ["127.0.0.2"]
            monkeypatch.setattr(connections, "LONGEST_SECONDS", 0.0)
            first = next(numbers)
            await until(lambda: len(new.heads) > 10 * AT_ONCE)
            assert all(number < first for number in numbers_of(old))

    run(work())


class Going:
    """Requests to one name, one after the other or by several at once."""

    def __init__(self, client: OutboundClient, it: Peer, numbers: "itertools.count[int]") -> None:
        self._client = client
        self._it = it
        self._numbers = numbers
        self._tasks: list[asyncio.Task[None]] = []

    async def once(self) -> None:
        """Sends the next request."""
        await self._client.request("POST", self._it.url(f"/{next(self._numbers)}", "hook.example"), {}, b"x")

    def on(self, together: int) -> None:
        """Sends so many at once, again and again."""
        self._tasks = [asyncio.create_task(self._go_on()) for _ in range(together)]

    async def aclose(self) -> None:
        """Ends that, and closes the client."""
        for task in self._tasks:
            task.cancel()
        done = await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._client.close()
        assert all(isinstance(each, asyncio.CancelledError) for each in done), done

    async def _go_on(self) -> None:
        while True:
            await self.once()
