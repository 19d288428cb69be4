"""A fault of this server is not remembered as a failure of a page (docs/previews.md#fetching)."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from pressroom.clock import SECOND
from pressroom.domains.previews import actions
from pressroom.errors import Unavailable
from pressroom.outbound import on_demand
from tests.api.actors import Actor, publish
from tests.domains.previews.pages import og
from tests.domains.previews.site import Site
from tests.harness.local import LocalServer
from tests.harness.roomy import ROOMY
from tests.previews.fetches import shown, status

SETTINGS: dict[str, object] = {**ROOMY, "DEV": 1}


def failing_once(work: Callable[..., object], error: Exception) -> Callable[..., object]:
    """The same function, which raises this the first time."""
    failed = False

    def first_fails(*arguments: object) -> object:
        nonlocal failed
        if not failed:
            failed = True
            raise error
        return work(*arguments)

    return first_fails


def test_a_client_that_cannot_be_loaded_leaves_the_page_to_be_fetched_at_once(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_demand, "_load", failing_once(on_demand._load, OSError(errno.EMFILE, "too many open files")))
    site.page("/a", og("title", "A"))
    server = LocalServer(tmp_path, **SETTINGS).start()
    try:
        alice = Actor(server)
        post = publish(alice, site.url("/a"))
        assert post["linkPreview"] is None
        server.do_jobs()
        assert shown(alice, post) == "A"
        for client in alice.clients():
            client.close()
    finally:
        server.stop()


def test_a_card_that_cannot_be_saved_is_fetched_again_and_not_failed(
    alice: Actor, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.page("/a", og("title", "A"))
    monkeypatch.setattr(actions, "save_card", failing_once(actions.save_card, Unavailable("The database is away.")))

    post = publish(alice, site.url("/a"))
    assert (post["linkPreview"], status(alice.server, site.url("/a"))) == (None, "FETCHING")
    alice.server.clock.advance(10 * SECOND)
    alice.server.do_jobs()

    assert shown(alice, post) == "A"
