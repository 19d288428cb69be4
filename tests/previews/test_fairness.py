"""Sites that hang hold up those who link to them, and nobody else."""

import asyncio
from collections.abc import Iterator

import pytest

from pressroom.domains.previews.actions import want_card
from pressroom.domains.previews.slots import (
    MOST_WAITING,
    OF_ACCOUNT,
    OF_DOMAIN,
    TOGETHER,
    WAITING_OF_ACCOUNT,
    Busy,
    FetchSlots,
    registrable,
)
from pressroom.outbound import Failure, OutboundClient, OutboundFailed
from tests.api.actors import publish
from tests.api.conftest import MakeActor
from tests.domains.previews.pages import og
from tests.domains.previews.site import Site
from tests.harness.roomy import ROOMY
from tests.outbound.peers import LOOPBACK, loaded
from tests.previews.fetches import impatient, status, title
from tests.services.process import wait_until

SETTINGS = {**ROOMY, "DEV": 1}

HANGING = 400


@pytest.fixture
def hanging() -> Iterator[Site]:
    """A site under every address of this machine, that hangs."""
    with Site("0.0.0.0") as made:  # of the loopback network any address leads to it
        made.hang("/")
        yield made
        made.release("/")


def hanging_links(site: Site, count: int = HANGING) -> list[str]:
    """So many links, each to an address of its own."""
    return [f"http://127.1.{number // 200}.{number % 200 + 1}:{site.port}/" for number in range(count)]


def test_a_stranger_s_card_is_fetched_at_once_beside_four_hundred_that_hang(
    actor: MakeActor, site: Site, hanging: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    mallory, stranger = actor(), actor()
    site.page("/a", og("title", "A"))
    with impatient(monkeypatch, budget=0.02, fetch=600.0):
        for link in hanging_links(hanging):
            assert publish(mallory, link)["linkPreview"] is None
        hanging.wait(lambda s: s.requests["/"] >= OF_ACCOUNT)
        monkeypatch.setattr("pressroom.domains.previews.cards.BUDGET_SECONDS", 30.0)

        assert title(publish(stranger, site.url("/a"))) == "A"

        assert hanging.requests == {"/": OF_ACCOUNT}
        fetching = mallory.server.runtime.cards._fetching
        assert len(fetching) <= OF_ACCOUNT + WAITING_OF_ACCOUNT


def test_a_stranger_s_job_is_done_beside_four_hundred_that_hang(
    actor: MakeActor, site: Site, hanging: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    mallory, stranger = actor(), actor()
    server = mallory.server
    site.page("/a", og("title", "A"))
    with impatient(monkeypatch, fetch=600.0):
        for link in hanging_links(hanging):
            server.run(server.runtime.db.transact(want_card, link, mallory.account.id))
        server.clock.advance(1_000)
        server.run(server.runtime.db.transact(want_card, site.url("/a"), stranger.account.id))
        working = asyncio.run_coroutine_threadsafe(server.job_worker.settle(), server._loop)

        assert wait_until(lambda: status(server, site.url("/a")) == "READY")

        assert hanging.requests["/"] <= OF_ACCOUNT
        working.cancel()


async def settled() -> None:
    """Lets everything go on that can."""
    for _ in range(5):
        await asyncio.sleep(0)


class Holders:
    """Tasks that hold slots, or wait for one, until they are let go."""

    def __init__(self) -> None:
        self.slots = FetchSlots()
        self.began: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    def begin(self, account_id: str, host: str, name: str = "", *, bounded: bool = True) -> asyncio.Task[None]:
        """One more."""

        async def hold() -> None:
            async with self.slots.taken(account_id, host, bounded=bounded):
                self.began.append(name or account_id)
                await asyncio.Event().wait()

        self.tasks.append(asyncio.ensure_future(hold()))
        return self.tasks[-1]

    async def end(self, *tasks: asyncio.Task[None]) -> None:
        """Lets some go, all unless some are given."""
        for task in tasks or self.tasks:
            task.cancel()
        await asyncio.gather(*tasks or self.tasks, return_exceptions=True)
        await settled()


def test_the_account_with_the_fewest_is_next() -> None:
    async def story() -> None:
        holders = Holders()
        full = [holders.begin(f"a{number // OF_ACCOUNT}", f"h{number}.example") for number in range(TOGETHER)]
        await settled()
        assert len(holders.began) == TOGETHER
        late = [holders.begin("a0", f"late{number}.example", "late") for number in range(5)]
        await settled()
        holders.begin("stranger", "other.example", "stranger")
        await settled()
        assert len(holders.began) == TOGETHER

        await holders.end(full[0])

        assert holders.began[TOGETHER:] == ["stranger"]
        await holders.end(late[0])  # one that waits gives up
        await holders.end()
        assert holders.slots._busy == 0
        assert not holders.slots._of_account
        assert not holders.slots._of_domain

    asyncio.run(story())


def test_one_registrable_domain_has_a_share() -> None:
    async def story() -> None:
        holders = Holders()
        for number in range(TOGETHER):
            holders.begin(f"a{number}", f"w{number}.hanging.co.uk")
        await settled()
        assert len(holders.began) == OF_DOMAIN
        holders.begin("stranger", "other.co.uk", "stranger")
        await settled()
        assert holders.began[-1] == "stranger"
        await holders.end()

    asyncio.run(story())


def test_the_backlog_is_bounded() -> None:
    async def story() -> None:
        holders = Holders()
        tasks = [holders.begin("a", f"h{number}.example") for number in range(100)]
        await settled()
        assert sum(isinstance(task.exception(), Busy) for task in tasks if task.done()) == (
            100 - OF_ACCOUNT - WAITING_OF_ACCOUNT
        )
        for number in range(1_000):
            holders.begin(f"b{number}", "one.example")
        await settled()
        assert len(holders.slots._waiting) == MOST_WAITING
        await holders.end()
        assert holders.slots._waiting == []

    asyncio.run(story())


def test_waiters_of_a_job_end_before_its_next_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pressroom.domains.previews.slots.PATIENCE_SECONDS", 0.05)

    async def story() -> None:
        holders = Holders()
        for number in range(OF_DOMAIN):
            holders.begin(f"a{number}", "hanging.example")
        await settled()
        late = [holders.begin(f"b{number}", "hanging.example", bounded=False) for number in range(50)]
        async with asyncio.timeout(60):
            ended = await asyncio.gather(*late, return_exceptions=True)
        assert {type(each) for each in ended} == {Busy}
        assert holders.slots._waiting == []
        assert len(holders.began) == OF_DOMAIN
        await holders.end()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("example.org", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("EXAMPLE.org.", "example.org"),
        ("co.uk", "co.uk"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("2001:db8::1", "2001:db8::1"),
        ("a.xn--bcher-kva.xn--p1ai", "xn--bcher-kva.xn--p1ai"),
        ("", ""),
    ],
)
def test_registrable_domains(host: str, expected: str) -> None:
    assert registrable(host) == expected


def test_one_address_has_a_share_however_many_names_lead_to_it(site: Site) -> None:
    async def look_up(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async def story() -> None:
        client = OutboundClient(LOOPBACK, resolve=look_up, each_address=3)
        site.page("/", "here")
        site.hang("/")
        asked = [
            asyncio.ensure_future(client.request("GET", f"http://h{number}.example:{site.port}/", {}, seconds=30))
            for number in range(3)
        ]
        await asyncio.to_thread(site.wait, lambda s: s.requests["/"] == 3)
        with pytest.raises(OutboundFailed) as refused:
            await client.request("GET", f"http://other.example:{site.port}/", {}, seconds=30)
        assert refused.value.kind is Failure.BUSY
        site.release("/")
        assert [(await each).status for each in asked] == [200] * 3
        assert (await client.request("GET", f"http://other.example:{site.port}/", {}, seconds=30)).status == 200
        assert not loaded(client)._shares._under_way
        await client.close()

    asyncio.run(story())
