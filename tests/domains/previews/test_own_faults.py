"""Faults of this server are no failures of a page: loading its client, and missing resources of a request."""

import asyncio
import contextlib
import errno
import ssl
from collections.abc import Iterator

import pytest

from pressroom.domains.previews.fetching import CardPostponed, fetch_card
from pressroom.logs import Log
from pressroom.outbound import OutboundClient, Policy, on_demand
from pressroom.outbound.client import HttpClient
from pressroom.outbound.lookups import Resolve
from tests.domains.previews.pages import og
from tests.domains.previews.site import Site
from tests.outbound.peers import LOOPBACK, NO_TLS, run


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as made:
        yield made


def test_loading_the_client_takes_no_time_of_the_page_s(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.page("/a", og("title", "T"))
    site.redirect("/moved", "/a")
    load = on_demand._load
    loaded_in = 60.0

    async def work() -> str | None:
        loop = asyncio.get_running_loop()
        now, late = loop.time, 0.0
        monkeypatch.setattr(loop, "time", lambda: now() + late)

        def load_slowly(
            policy: Policy, resolve: Resolve | None, tls: ssl.SSLContext | None, log: Log | None, each: int | None
        ) -> HttpClient:
            nonlocal late
            late += loaded_in
            return load(policy, resolve, tls, log, each)

        monkeypatch.setattr(on_demand, "_load", load_slowly)
        async with contextlib.aclosing(Closing(OutboundClient(LOOPBACK, tls=NO_TLS))) as it:
            return (await fetch_card(it.client, site.url("/moved"), seconds=loaded_in / 2)).title

    assert asyncio.run(work()) == "T"


class Closing:
    """A client that is closed afterwards."""

    def __init__(self, client: OutboundClient) -> None:
        self.client = client

    async def aclose(self) -> None:
        await self.client.close()


def test_a_look_up_for_which_the_server_lacks_something_is_postponed() -> None:
    async def no_descriptor(host: str, port: int) -> list[str]:
        raise OSError(errno.EMFILE, "too many open files")

    async def work() -> None:
        client = OutboundClient(LOOPBACK, resolve=no_descriptor, tls=NO_TLS)
        with pytest.raises(CardPostponed):
            await fetch_card(client, "https://page.example/")
        await client.close()

    run(work())


def test_a_page_of_which_the_server_s_stop_cuts_off_the_fetch_is_postponed(site: Site) -> None:
    site.page("/a", og("title", "T"))
    site.hang("/a")

    async def work() -> None:
        client = OutboundClient(LOOPBACK, tls=NO_TLS)
        fetch = asyncio.ensure_future(fetch_card(client, site.url("/a")))
        await asyncio.to_thread(site.wait, lambda it: it.requests["/a"] == 1)
        await client.close()
        with pytest.raises(CardPostponed):
            await fetch

    run(work())
