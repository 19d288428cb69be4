"""Outside development mode no card is fetched from a private address, however it is named."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.api.actors import Actor, publish
from tests.domains.previews.pages import og
from tests.domains.previews.site import Site
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.previews.fetches import shown_in_time


async def home(host: str, port: int) -> list[str]:
    """Every name leads home."""
    return ["127.0.0.1"]


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """A server as it is in earnest, where every name that is looked up leads to itself."""
    server = LocalServer(tmp_path_factory.mktemp("closed"), home, **ROOMY).start()
    yield server
    server.stop()


NAMED: dict[str, Callable[[Site], str]] = {
    "by address": lambda site: site.url("/a"),
    "by name": lambda site: f"http://site.example:{site.port}/a",
    "as localhost": lambda site: f"http://localhost:{site.port}/a",
    "as a number": lambda site: f"http://2130706433:{site.port}/a",
    "in octal": lambda site: f"http://0177.0.0.1:{site.port}/a",
    "shortened": lambda site: f"http://127.1:{site.port}/a",
    "within IPv6": lambda site: f"http://[::ffff:127.0.0.1]:{site.port}/a",
    "as zero": lambda site: f"http://0.0.0.0:{site.port}/a",
}


@pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)
def test_a_private_address_is_not_asked(closed: LocalServer, site: Site, named: Callable[[Site], str]) -> None:
    site.page("/a", og("title", "Secret"))
    alice = Actor(closed)

    post = publish(alice, named(site))
    closed.do_jobs()

    assert post["linkPreview"] is None
    assert not site.requests
    for client in alice.clients():
        client.close()


def test_development_mode_lets_it_through(tmp_path: Path, site: Site) -> None:
    site.page("/a", og("title", "Ours"))
    server = LocalServer(tmp_path, home, **{**ROOMY, "DEV": 1}).start()
    try:
        alice = Actor(server)
        assert shown_in_time(alice, publish(alice, NAMED["by name"](site)), "Ours")
        for client in alice.clients():
            client.close()
    finally:
        server.stop()
